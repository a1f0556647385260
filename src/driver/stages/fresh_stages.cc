#include "driver/stages/fresh_stages.h"

#include <spdlog/spdlog.h>

#include "driver/configuration/changes.h"
#include "driver/configuration/presets.h"

namespace hespas::driver {
namespace {

bool Change(const RunOptions& options, hardware::System& system, Diagnostics& diagnostics) {
  const Status status = ChangeSystem(options.changes, system);
  if (!status) diagnostics.Report(status.error());
  return status.ok();
}

}  // namespace

void StageTimer::Done(std::string_view stage) {
  const auto now = std::chrono::steady_clock::now();
  spdlog::info("{}: {:.1f} ms", stage, std::chrono::duration<double, std::milli>(now - last_).count());
  last_ = now;
}

bool FreshStages::LoadSystem(const RunOptions& options, Diagnostics& diagnostics) {
  system = LoadSystemPreset(options.system.name, diagnostics);
  return system && Change(options, *system, diagnostics);
}

bool FreshStages::Prepare(const RunOptions& options, Diagnostics& diagnostics) {
  prepared = driver::Prepare(options, diagnostics);
  if (prepared) timer_.Done("read, optimise, split");
  return prepared.has_value();
}

bool FreshStages::Split(const RunOptions& options, Diagnostics& diagnostics) {
  return SplitBlocks(options, *prepared, diagnostics);
}

bool FreshStages::Estimate(const RunOptions& options, Diagnostics& diagnostics) {
  estimated = EstimateBlocks(options, *prepared, diagnostics);
  if (estimated) timer_.Done("estimate");
  return estimated.has_value();
}

bool FreshStages::Assemble(const RunOptions& options, Diagnostics& diagnostics) {
  traces = AssembleTraces(options, *prepared, *estimated, system ? &*system : nullptr, diagnostics);
  if (traces) timer_.Done("assemble");
  return traces.has_value();
}

bool FreshStages::JoinDevices(const RunOptions& options, Diagnostics& diagnostics) {
  system = SystemOfDevice(prepared->device, npus(), diagnostics);
  return system && Change(options, *system, diagnostics);
}

bool FreshStages::Simulate(const RunOptions& options, Diagnostics& diagnostics) {
  WarnOfIgnoredSettings(options, *system, diagnostics);
  simulated = SimulateStep(options, prepared->device, *traces, *system, diagnostics);
  if (simulated) timer_.Done("simulate");
  return simulated.has_value();
}

}  // namespace hespas::driver
