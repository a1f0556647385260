// `hespas compare`: the same run with one thing changed, or finished runs, side by side.
//
// - Exactly one thing varies: programs (or result.json files), device, system, estimator or optimisation.
// - A finished run is compared by its result.json alone; nothing is run again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "driver/pipeline/run.h"
#include "report/compare/comparison.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNothingVaries{
    "E0991",
    "A comparison needs two or more of exactly one thing: two programs, two result.json files, or several devices, "
    "systems, estimators or optimisations of one program.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kNoResult{
    "E0992",
    "The file is not the result of `hespas run` (result.json, or what --format json prints), or it was written by a "
    "version that did not list the blocks. Make it again with `hespas run PROGRAM --output DIR`."};
inline constexpr DiagnosticKind kDifferenceTooLarge{
    "E0993", "Step times differ by more percent than --fail-over allows.", Outcome::kBoundMissed};

struct CompareOptions {
  RunOptions run;                   // what all sides have in common
  std::vector<std::string> inputs;  // one or two programs, or result.json files
  std::vector<std::string> devices;
  std::vector<std::string> systems;
  std::vector<std::string> estimators;
  std::vector<std::string> optimisations;
  std::string measured;  // a profiler's trace that one result is compared with
  std::string xla_dump;  // a folder of XLA's, whose compiled program one program is compared with
};

// The shortest names of files that tell them apart: their own, those of their folders, their paths, numbered ones.
std::vector<std::string> FileLabels(const std::vector<std::string>& paths);
// "device, system": what two runs did not share, as far as their results tell; "result" where nothing differs.
std::string DifferenceOf(const result::RunResult& a, const result::RunResult& b);

std::optional<report::Comparison> CompareRuns(const CompareOptions& options, Diagnostics& diagnostics);

// Whether the file holds a JSON object, as results do and programs do not.
Result<bool> IsResult(const std::string& path);
Result<result::RunResult> ReadResult(const std::string& path);
// A run against a profiler's trace of the same step.
Result<report::Comparison> CompareTrace(const result::RunResult& predicted, const std::string& trace);

}  // namespace hespas::driver
