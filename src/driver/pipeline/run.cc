#include "driver/pipeline/run.h"

#include <fmt/format.h>

#include <chrono>

#include "base/system/file.h"
#include "driver/figures/summarise.h"
#include "driver/pipeline/output.h"
#include "driver/pipeline/parts.h"
#include "driver/pipeline/pipeline.h"
#include "driver/what_if/quick.h"
#include "driver/what_if/what_if.h"
#include "estimate/profile/whole.h"
#include "report/text/efficiency.h"
#include "split/split.h"

namespace hespas::driver {
namespace {

// The what-if table reads the program again, which standard input cannot give twice.
bool ReadContent(RunOptions& options, Diagnostics& diagnostics) {
  if (options.program.content) return true;
  auto raw = ReadRaw(options.program.path);
  if (!raw) diagnostics.Report(raw.error());
  if (raw) options.program.content = std::make_shared<const std::string>(std::move(*raw));
  return raw.ok();
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

}  // namespace

void AddWarnings(const Diagnostics& diagnostics, result::RunResult& result) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) result.warnings.push_back(diagnostic);
  }
}

std::optional<result::RunResult> Conclude(const RunOptions& options, const Prepared& prepared,
                                          const Estimated& estimated, const trace::TraceGraph& traces,
                                          const hardware::System* system,
                                          const std::optional<result::SimResult>& simulated, Diagnostics& diagnostics) {
  result::RunResult result = Summarise(options, prepared, estimated, traces, simulated);
  if (system != nullptr) result.system = system->name;
  if (!options.compat)
    FillMemory(prepared, estimated, options.output.explain, result);  // the prototype knows no memory
  if (const Status fits = CheckFit(options, prepared, result); !fits) {
    diagnostics.Report(fits.error());
    return std::nullopt;
  }
  if (const std::string warning = report::FitWarning(result); !warning.empty())
    diagnostics.Warning(kExceedsMemory, warning, {.file = options.program.path});
  return result;
}

std::optional<Finished> RunStages(const RunOptions& given, Diagnostics& diagnostics) {
  RunOptions options = given;
  // Traces and timelines that somebody reads hold all iterations.
  if (options.output.folder.empty()) options.split.loop_window = split::kShortWindow;
  FreshStages run;
  if (!MakeStep(options, run, diagnostics)) return std::nullopt;
  StageTimer timer;
  auto result = Conclude(options, *run.prepared, *run.estimated, *run.traces, run.system ? &*run.system : nullptr,
                         run.simulated, diagnostics);
  if (!result) return std::nullopt;
  timer.Done("memory");
  if (options.estimate.settings.profile.whole &&
      !AddMeasuredStep(options, *run.prepared, run.npus(), *result, diagnostics))
    return std::nullopt;
  AddWarnings(diagnostics, *result);
  return Finished{*std::move(run.prepared), *std::move(run.estimated), *std::move(run.traces),
                  std::move(run.system),    std::move(run.simulated),  *std::move(result)};
}

report::StepView Finished::View() const { return ViewOf(prepared, estimated, traces, simulated, result.step_time); }

std::optional<result::RunResult> Run(const RunOptions& given, Diagnostics& diagnostics) {
  if (!given.parts.programs.empty() || !given.parts.rank_devices.empty() || !given.parts.placement.empty() ||
      !given.parts.devices.empty())
    return RunParts(given, diagnostics);
  RunOptions options = given;
  const bool explained = !options.output.folder.empty() && options.output.report;
  options.output.explain |= explained;
  if (explained && !ReadContent(options, diagnostics)) return std::nullopt;
  auto run = RunStages(options, diagnostics);
  if (!run) return std::nullopt;
  if (options.output.what_if) run->result.what_if = QuickWhatIfs(options, run->prepared, run->estimated, run->result);
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
  if (status.ok() && options.output.report) status = WriteReport(options, *run, options.output.folder);
  if (!status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  timer.Done("write");
  return std::move(run->result);
}

}  // namespace hespas::driver
