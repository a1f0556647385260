#include "driver/run.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <string_view>

#include "base/file.h"
#include "driver/changes.h"
#include "driver/memory_stage.h"
#include "driver/network_model.h"
#include "driver/output.h"
#include "driver/parts.h"
#include "driver/pipeline.h"
#include "driver/presets.h"
#include "driver/summarise.h"
#include "driver/what_if.h"
#include "estimate/profile/whole.h"

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
  if (options.content) return true;
  auto raw = ReadRaw(options.program);
  if (!raw) diagnostics.Report(raw.error());
  if (raw) options.content = std::make_shared<const std::string>(std::move(*raw));
  return raw.ok();
}

bool Change(const RunOptions& options, hardware::System& system, Diagnostics& diagnostics) {
  const Status status = ChangeSystem(options.changes, system);
  if (!status) diagnostics.Report(status.error());
  return status.ok();
}

bool AddMeasuredStep(const RunOptions& options, const Prepared& prepared, size_t npus, result::RunResult& result,
                     Diagnostics& diagnostics) {
  const auto limit = std::chrono::milliseconds(static_cast<int64_t>(options.tool_limit_s * 1000));
  const auto whole = estimate::MeasureWhole(*prepared.module, static_cast<int>(npus), options.profile, limit);
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

report::StepView Finished::View() const { return ViewOf(prepared, estimated, traces, simulated, result.step_time); }

std::optional<Finished> RunStages(const RunOptions& options, Diagnostics& diagnostics) {
  StageTimer timer;
  const bool network = options.network_backend != "none";
  std::optional<hardware::System> system;
  if (network && options.system != "auto") {
    system = LoadSystemPreset(options.system, diagnostics);
    if (!system || !Change(options, *system, diagnostics)) return std::nullopt;
  }
  auto prepared = Prepare(options, diagnostics);
  if (!prepared) return std::nullopt;
  timer.Done("read, optimise, split");
  auto estimated = EstimateBlocks(options, *prepared, diagnostics);
  if (!estimated) return std::nullopt;
  timer.Done("estimate");
  auto traces = AssembleTraces(options, *prepared, *estimated, system ? &*system : nullptr, diagnostics);
  if (!traces) return std::nullopt;
  timer.Done("assemble");
  const size_t npus = traces->program_of_rank.size();
  // A single NPU has no network to simulate.
  if (network && !system && npus > 1) {
    system = SystemOfDevice(prepared->device, npus, diagnostics);
    if (!system || !Change(options, *system, diagnostics)) return std::nullopt;
  }
  std::optional<result::SimResult> simulated;
  if (system) {
    simulated = SimulateStep(options, *prepared, *traces, *system, diagnostics);
    if (!simulated) return std::nullopt;
    timer.Done("simulate");
  }
  result::RunResult result = Summarise(options, *prepared, *estimated, *traces, simulated);
  if (system) result.system = system->name;
  if (!options.compat) FillMemory(*prepared, *estimated, result);  // the prototype knows no memory
  timer.Done("memory");
  if (const Status fits = CheckFit(options, *prepared, result); !fits) {
    diagnostics.Report(fits.error());
    return std::nullopt;
  }
  if (options.profile.whole && !AddMeasuredStep(options, *prepared, npus, result, diagnostics)) return std::nullopt;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) result.warnings.push_back(diagnostic);
  }
  return Finished{*std::move(prepared), *std::move(estimated), *std::move(traces),
                  std::move(system),    std::move(simulated),  std::move(result)};
}

std::optional<result::RunResult> Run(const RunOptions& given, Diagnostics& diagnostics) {
  if (!given.more_programs.empty() || !given.rank_devices.empty()) return RunParts(given, diagnostics);
  RunOptions options = given;
  const bool explained = !options.output.empty() && options.report;
  options.explain |= explained;
  if (explained && !ReadContent(options, diagnostics)) return std::nullopt;
  auto run = RunStages(options, diagnostics);
  if (!run) return std::nullopt;
  if (options.output.empty()) return std::move(run->result);
  StageTimer timer;
  const hardware::System* system = run->system ? &*run->system : nullptr;
  if (explained && options.what_if)
    run->result.what_if = WhatIfs(options, run->prepared, run->estimated, run->traces, system);
  timer.Done("what if");
  if (const Status status = PrepareFolder(options.output, options.clean); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  Status status = WriteOutputs(run->prepared, run->estimated, run->traces, run->result, options);
  if (status.ok() && options.report) status = WriteReport(*run, options.output);
  if (!status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  timer.Done("write");
  return std::move(run->result);
}

}  // namespace hespas::driver
