#include "driver/run.h"

#include <spdlog/spdlog.h>

#include <chrono>
#include <string_view>

#include "driver/memory_stage.h"
#include "driver/network_model.h"
#include "driver/output.h"
#include "driver/parts.h"
#include "driver/presets.h"
#include "driver/summarise.h"

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

}  // namespace

std::optional<result::RunResult> Run(const RunOptions& options, Diagnostics& diagnostics) {
  if (!options.more_programs.empty() || !options.rank_devices.empty()) return RunParts(options, diagnostics);
  StageTimer timer;
  const bool network = options.network_backend != "none";
  std::optional<hardware::System> system;
  if (network && options.system != "auto") {
    system = LoadSystemPreset(options.system, diagnostics);
    if (!system) return std::nullopt;
  }
  const auto prepared = Prepare(options, diagnostics);
  if (!prepared) return std::nullopt;
  timer.Done("read, optimise, split");
  const auto estimated = EstimateBlocks(options, *prepared, diagnostics);
  if (!estimated) return std::nullopt;
  timer.Done("estimate");
  const auto traces = AssembleTraces(options, *prepared, *estimated, system ? &*system : nullptr, diagnostics);
  if (!traces) return std::nullopt;
  timer.Done("assemble");
  const size_t npus = traces->program_of_rank.size();
  // A single NPU has no network to simulate.
  if (network && !system && npus > 1) {
    system = SystemOfDevice(prepared->device, npus, diagnostics);
    if (!system) return std::nullopt;
  }
  std::optional<result::SimResult> simulated;
  if (system) {
    simulated = UsesCalibratedNetwork(options) ? SimulateCalibrated(*prepared, *traces, *system, diagnostics)
                                               : SimulateTraces(options, *traces, *system, diagnostics);
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
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) result.warnings.push_back(diagnostic);
  }
  if (options.output.empty()) return result;
  if (const Status status = PrepareFolder(options.output, options.clean); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  if (const Status status = WriteOutputs(*prepared, *estimated, *traces, result, options.output); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  return result;
}

}  // namespace hespas::driver
