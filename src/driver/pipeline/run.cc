#include "driver/pipeline/run.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <string_view>

#include "base/system/file.h"
#include "driver/configuration/changes.h"
#include "driver/configuration/presets.h"
#include "driver/figures/summarise.h"
#include "driver/stages/memory.h"
#include "driver/stages/network.h"
#include "driver/pipeline/output.h"
#include "driver/pipeline/parts.h"
#include "driver/pipeline/pipeline.h"
#include "driver/what_if/what_if.h"
#include "estimate/profile/whole.h"
#include "split/split.h"

namespace hespas::driver {
namespace {

// Logs what a stage took, at level info.
class StageTimer {
 public:
  void Done(std::string_view stage) {
    const auto now = std::chrono::steady_clock::now();
    spdlog::info("{}: {:.1f} ms", stage, std::chrono::duration<double, std::milli>(now - last_).count());
    last_ = now;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// The what-if table reads the program again, which standard input cannot give twice.
bool ReadContent(RunOptions& options, Diagnostics& diagnostics) {
  if (options.program.content) return true;
  auto raw = ReadRaw(options.program.path);
  if (!raw) diagnostics.Report(raw.error());
  if (raw) options.program.content = std::make_shared<const std::string>(std::move(*raw));
  return raw.ok();
}

bool Change(const RunOptions& options, hardware::System& system, Diagnostics& diagnostics) {
  const Status status = ChangeSystem(options.changes, system);
  if (!status) diagnostics.Report(status.error());
  return status.ok();
}

bool AddMeasuredStep(const RunOptions& options, const Prepared& prepared, size_t npus, result::RunResult& result,
                     Diagnostics& diagnostics) {
  const auto limit = std::chrono::milliseconds(static_cast<int64_t>(options.estimate.settings.tool_limit_s * 1000));
  // Passes of ours are no part of the truth.
  std::optional<ir::Module> as_read;
  if (prepared.optimised) {
    as_read = ReadModule(options.program, nullptr, diagnostics);
    if (!as_read) return false;
  }
  const ir::Module& module = as_read ? *as_read : *prepared.module;
  const auto whole = estimate::MeasureWhole(module, static_cast<int>(npus), options.estimate.settings.profile, limit);
  if (!whole) {
    diagnostics.Report(whole.error());
    return false;
  }
  result.measured_step = {.time = Time::Seconds(whole->time.seconds),
                          .sigma = Time::Seconds(whole->time.sigma_seconds),
                          .platform = whole->platform};
  return true;
}

// What follows the cut into blocks.
struct Simulated {
  Estimated estimated;
  trace::TraceGraph traces;
  std::optional<hardware::System> system;
  std::optional<result::SimResult> result;
};

std::optional<Simulated> SimulateBlocks(const RunOptions& options, const Prepared& prepared,
                                        std::optional<hardware::System> system, StageTimer& timer,
                                        Diagnostics& diagnostics) {
  auto estimated = EstimateBlocks(options, prepared, diagnostics);
  if (!estimated) return std::nullopt;
  timer.Done("estimate");
  auto traces = AssembleTraces(options, prepared, *estimated, system ? &*system : nullptr, diagnostics);
  if (!traces) return std::nullopt;
  timer.Done("assemble");
  const size_t npus = traces->program_of_rank.size();
  // A single NPU has no network to simulate.
  if (options.network.backend != NetworkBackend::kNone && !system && npus > 1) {
    system = SystemOfDevice(prepared.device, npus, diagnostics);
    if (!system || !Change(options, *system, diagnostics)) return std::nullopt;
  }
  std::optional<result::SimResult> simulated;
  if (system) {
    simulated = SimulateStep(options, prepared.device, *traces, *system, diagnostics);
    if (!simulated) return std::nullopt;
    timer.Done("simulate");
  }
  return Simulated{*std::move(estimated), *std::move(traces), std::move(system), std::move(simulated)};
}

constexpr double kAlmostSteady = 0.01;

double Drift(const Simulated& run) { return run.result ? run.result->loop_drift.value_or(0) : 0; }

// Simulates more iterations of loops that have not come into step yet.
bool RepeatLonger(const RunOptions& options, Prepared& prepared, Simulated& run, StageTimer& timer,
                  Diagnostics& diagnostics) {
  if (Drift(run) <= kSteady) return true;
  RunOptions longer = options;
  longer.split.loop_window = split::kLongWindow;
  Diagnostics told;  // the first time
  if (!SplitBlocks(longer, prepared, told)) return false;
  auto again = SimulateBlocks(longer, prepared, std::move(run.system), timer, told);
  if (!again) return false;
  run = *std::move(again);
  if (Drift(run) > kAlmostSteady) {
    diagnostics.Warning(kNotSteady,
                        fmt::format("after {} iterations a loop's time still changes by {:.1f} % in {}",
                                    3 * split::kLongWindow, 100 * Drift(run), split::kLongWindow),
                        {.file = options.program.path});
  }
  return true;
}

}  // namespace

std::optional<Finished> RunStages(const RunOptions& given, Diagnostics& diagnostics) {
  RunOptions options = given;
  // Traces and timelines that somebody reads hold all iterations.
  if (options.output.folder.empty()) options.split.loop_window = split::kShortWindow;
  StageTimer timer;
  std::optional<hardware::System> system;
  if (options.network.backend != NetworkBackend::kNone && options.system.name != kAutoSystem) {
    system = LoadSystemPreset(options.system.name, diagnostics);
    if (!system || !Change(options, *system, diagnostics)) return std::nullopt;
  }
  auto prepared = Prepare(options, diagnostics);
  if (!prepared) return std::nullopt;
  timer.Done("read, optimise, split");
  auto run = SimulateBlocks(options, *prepared, std::move(system), timer, diagnostics);
  if (!run || !RepeatLonger(options, *prepared, *run, timer, diagnostics)) return std::nullopt;
  result::RunResult result = Summarise(options, *prepared, run->estimated, run->traces, run->result);
  if (run->system) result.system = run->system->name;
  if (!options.compat) FillMemory(*prepared, run->estimated, result);  // the prototype knows no memory
  timer.Done("memory");
  if (const Status fits = CheckFit(options, *prepared, result); !fits) {
    diagnostics.Report(fits.error());
    return std::nullopt;
  }
  if (options.estimate.settings.profile.whole &&
      !AddMeasuredStep(options, *prepared, run->traces.program_of_rank.size(), result, diagnostics))
    return std::nullopt;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) result.warnings.push_back(diagnostic);
  }
  return Finished{*std::move(prepared),   std::move(run->estimated), std::move(run->traces),
                  std::move(run->system), std::move(run->result),    std::move(result)};
}

report::StepView Finished::View() const { return ViewOf(prepared, estimated, traces, simulated, result.step_time); }

std::optional<result::RunResult> Run(const RunOptions& given, Diagnostics& diagnostics) {
  if (!given.parts.programs.empty() || !given.parts.rank_devices.empty() || !given.parts.placement.empty() || !given.parts.devices.empty())
    return RunParts(given, diagnostics);
  RunOptions options = given;
  const bool explained = !options.output.folder.empty() && options.output.report;
  options.output.explain |= explained;
  if (explained && !ReadContent(options, diagnostics)) return std::nullopt;
  auto run = RunStages(options, diagnostics);
  if (!run) return std::nullopt;
  if (options.output.folder.empty()) return std::move(run->result);
  StageTimer timer;
  const hardware::System* system = run->system ? &*run->system : nullptr;
  if (explained && options.output.what_if)
    run->result.what_if = WhatIfs(options, run->prepared, run->estimated, run->traces, system);
  timer.Done("what if");
  if (const Status status = PrepareFolder(options.output.folder, options.output.clean); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  Status status = WriteOutputs(run->prepared, run->estimated, run->traces, run->result, options);
  if (status.ok() && options.output.report) status = WriteReport(*run, options.output.folder);
  if (!status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  timer.Done("write");
  return std::move(run->result);
}

}  // namespace hespas::driver
