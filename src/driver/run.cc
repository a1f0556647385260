#include "driver/run.h"

#include "driver/output.h"
#include "driver/summarise.h"

namespace hespas::driver {

std::optional<result::RunResult> Run(const RunOptions& options, Diagnostics& diagnostics) {
  const auto prepared = Prepare(options, diagnostics);
  if (!prepared) return std::nullopt;
  const auto estimated = EstimateBlocks(options, *prepared, diagnostics);
  if (!estimated) return std::nullopt;
  const auto traces = AssembleTraces(options, *prepared, *estimated, diagnostics);
  if (!traces) return std::nullopt;
  std::optional<Simulated> simulated;
  if (options.network_backend != "none") {
    simulated = SimulateTraces(options, *traces, diagnostics);
    if (!simulated) return std::nullopt;
  }
  result::RunResult result = Summarise(options, *prepared, *estimated, *traces, simulated);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) result.warnings.push_back(diagnostic);
  }
  if (options.output.empty()) return result;
  if (const Status status = WriteOutputs(*traces, result, options.output); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  return result;
}

}  // namespace hespas::driver
