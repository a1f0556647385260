#include "driver/run.h"

#include "driver/output.h"
#include "driver/presets.h"
#include "driver/summarise.h"

namespace hespas::driver {

std::optional<result::RunResult> Run(const RunOptions& options, Diagnostics& diagnostics) {
  const bool network = options.network_backend != "none";
  std::optional<hardware::System> system;
  if (network && options.system != "auto") {
    system = LoadSystemPreset(options.system, diagnostics);
    if (!system) return std::nullopt;
  }
  const auto prepared = Prepare(options, diagnostics);
  if (!prepared) return std::nullopt;
  const auto estimated = EstimateBlocks(options, *prepared, diagnostics);
  if (!estimated) return std::nullopt;
  const auto traces = AssembleTraces(options, *prepared, *estimated, system ? &*system : nullptr, diagnostics);
  if (!traces) return std::nullopt;
  const size_t npus = traces->program_of_rank.size();
  // A single NPU has no network to simulate.
  if (network && !system && npus > 1) {
    system = SystemOfDevice(options.device, npus, diagnostics);
    if (!system) return std::nullopt;
  }
  std::optional<result::SimResult> simulated;
  if (system) {
    simulated = SimulateTraces(options, *traces, *system, diagnostics);
    if (!simulated) return std::nullopt;
  }
  result::RunResult result = Summarise(options, *prepared, *estimated, *traces, simulated);
  if (system) result.system = system->name;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) result.warnings.push_back(diagnostic);
  }
  if (options.output.empty()) return result;
  if (const Status status = WriteOutputs(*prepared, *estimated, *traces, result, options.output); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  return result;
}

}  // namespace hespas::driver
