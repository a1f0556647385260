// Several answers about one thing (or one answer about several), side by side and block by block.
//
// - The first side is what the others are compared with. Blocks match by structural hash, those that are left by the
//   operations of the program that they compute, where all sides run one program, then by scope and what they write, by
//   what they write, and by scope and kind; in each case by where they are in the step. What is a kernel of its own on
//   one side only joins the row of the kernel that holds it on another (report/compare/block_matcher.h). Those without
//   a partner are in rows of their own, and so is idle time: the times of a side add up to its step time.
// - Rows are sorted by how much their times differ, which is what they contribute to the difference of the step times.
#pragma once

#include <string>
#include <vector>

#include "report/text/table.h"
#include "result/run_result.h"
#include "trace/measured_step.h"

namespace hespas::report {

struct ComparedSide {
  std::string label;  // "H100_80GB"; differs from that of the other sides
  result::RunResult result;
};

struct ComparedRow {
  std::string op;
  std::string kind;
  std::string shapes;
  std::string scope;  // "layers_3/mlp" of the first side that has the block
  std::string key;  // what made blocks match: a structural hash, or "ops", "scope", "results", "parts", "name", "kind"
  std::vector<int64_t> block;      // of each side, its number in the program; -1: none
  std::vector<int64_t> count;      // of each side, in rows of several blocks
  std::vector<Time> time;          // of each side; 0 where it has no such block
  std::vector<std::string> bound;  // of each side
  bool parts = false;              // one kernel of a side is several of another
  bool matched() const;            // on every side
  Time spread() const;             // largest minus smallest time
};

struct Comparison {
  std::string dimension;  // what differs: "device", "estimator", "program", ...
  std::string title;      // "what changes with the device"
  std::vector<std::string> labels;
  std::vector<result::RunResult> results;
  std::vector<std::string> notes;   // what a reader should know first, one sentence each
  std::vector<ComparedRow> rows;    // a row for each block
  std::vector<ComparedRow> groups;  // equal blocks as one row
  std::vector<ComparedRow> kinds;   // all blocks of a kind as one row
  std::vector<ComparedRow> layers;  // all blocks of a kind in "layers_*/mlp" as one row; none where nothing has a scope

  // Largest difference of a step time from the first, in percent of the first.
  double LargestDifference() const;
};

// Every result must have its block times.
Comparison Compare(std::string dimension, std::vector<ComparedSide> sides);
// What the network simulation and the estimator say about a step, against what a profiler saw of it, op by op.
//
// - Blocks match by the name of their instruction, by the framework's name, by kind and order where both sides have as
//   many of a kind; what is left stands as one row of each kind.
// - The time of an operation is what it adds to the step, as for blocks: where several run at once the one that began
//   first counts, communication counts where nothing is computed, and gaps are idle time.
Comparison CompareMeasured(const result::RunResult& predicted, const trace::MeasuredStep& measured);
// Fills `groups`, `kinds` and `layers` from `rows` and sorts all.
void FinishComparison(Comparison& comparison);

// One row for each block and side, times in picoseconds, and a last one with the totals.
Table BlockRows(const Comparison& comparison);
// Step times and their parts.
Table TotalsTable(const Comparison& comparison);
// Work, throughput, utilisation and memory of each side.
Table WorkTable(const Comparison& comparison);
// The first `shown` of `rows` for people; `page`: with whole names. With `shapes` also what the blocks work on.
struct DifferenceStyle {
  const char* title = "";
  size_t shown = 0;
  bool page = false;
  bool shapes = false;
};
Table DifferenceTable(const Comparison& comparison, const std::vector<ComparedRow>& rows, const DifferenceStyle& style);
std::string ToText(const Comparison& comparison);
// One JSON object (schema_version 1).
std::string ToJson(const Comparison& comparison, int indent = 2);
// A self-contained page.
std::string ComparisonPage(const Comparison& comparison);

}  // namespace hespas::report
