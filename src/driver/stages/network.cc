#include "driver/stages/network.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "driver/configuration/stragglers.h"
#include "driver/stages/run_options.h"
#include "driver/stages/take.h"
#include "engines/link_faults.h"
#include "engines/simgrid_run.h"
#include "engines/sst_run.h"
#include "hardware/cluster.h"
#include "hardware/presets.h"
#include "network/astra_sim.h"
#include "network/calibrated.h"
#include "network/ignored_settings.h"
#include "network/priced_run.h"
#include "simulate/explain.h"
#include "simulate/simulate.h"

namespace hespas::driver {
namespace {

// Whether a run's collectives follow the calibrated model: asked for, or `auto` with the calibrated estimator.
bool UsesCalibratedNetwork(const RunOptions& options) {
  const NetworkOptions& network = options.network;
  if (network.model == NetworkModel::kCalibrated) return true;
  return network.model == NetworkModel::kAuto && options.estimate.estimator == "calibrated" && !options.compat &&
         network.backend == NetworkBackend::kAnalytical;
}

// Whether the system has as many NPUs as the traces; reports where it has not.
bool HasSizeOf(const RunOptions& options, const hardware::System& system, const trace::TraceGraph& traces,
               Diagnostics& diagnostics) {
  const size_t npus = traces.program_of_rank.size();
  if (system.npus() == npus) return true;
  diagnostics.Error(kSystemSize,
                    fmt::format("`{}` has {} NPUs, but the program needs {}", system.name, system.npus(), npus),
                    hardware::IsOwnDescription(options.system.name) ? system.stated.counts_at : Location{},
                    fmt::format("choose a system of {} NPUs (in a file: a further dimension of `npus_count`, with its "
                                "bandwidth and latency), or give --retarget {}",
                                npus, system.npus()));
  return false;
}

std::optional<result::SimResult> SimulateTraces(const RunOptions& options, const trace::TraceGraph& traces,
                                                const hardware::System& system, Diagnostics& diagnostics,
                                                bool record_nodes) {
  if (!HasSizeOf(options, system, traces, diagnostics)) return std::nullopt;
  auto scale = Take(ComputeScale(options.network.stragglers, traces.program_of_rank.size()), diagnostics);
  auto graph = scale ? Take(engines::GraphOf(options.network.links, system), diagnostics) : std::nullopt;
  if (!graph) return std::nullopt;
  const NetworkBackend backend = options.network.backend;
  if (*graph && backend != NetworkBackend::kAnalyticalAware && backend != NetworkBackend::kSimGrid) {
    diagnostics.Report(engines::NoFaultsHere());
    return std::nullopt;
  }
  const simulate::SimulateOptions simulate_options{
      .backend = backend == NetworkBackend::kAnalyticalAware ? simulate::Backend::kAware : simulate::Backend::kUnaware,
      .resolution = simulate::Resolution::kPicosecond,
      .record_nodes = record_nodes,
      .explain = options.output.explain && record_nodes,
      .keep_order = record_nodes,
      .progress = options.progress,
      .compute_scale = *std::move(scale),
      .graph = *std::move(graph)};
  if (backend == NetworkBackend::kSst) return Take(engines::RunSstOn(traces, system, simulate_options), diagnostics);
  if (backend == NetworkBackend::kSimGrid)
    return Take(engines::RunSimGrid(traces, system, simulate_options, {}), diagnostics);
  return Take(simulate::Simulate(traces, system, simulate_options, diagnostics), diagnostics);
}

// Tables and text do not say how collectives are priced; JSON and reports do.
bool NamesPrices(const RunOptions& options, const SimulationReuse& reuse) {
  return reuse.record_nodes && (options.output.list_blocks || options.output.explain);
}

std::optional<result::SimResult> SimulateCalibrated(const RunOptions& options, const hardware::Device& device,
                                                    const trace::TraceGraph& traces, const hardware::System& system,
                                                    Diagnostics& diagnostics, const SimulationReuse& reuse) {
  const auto& constants = network::DefaultNetworkConstants();
  if (!constants) {
    diagnostics.Report(constants.error());
    return std::nullopt;
  }
  if (!HasSizeOf(options, system, traces, diagnostics)) return std::nullopt;
  if (auto fault = hardware::TcpFault(device, system)) {
    diagnostics.Report(*std::move(fault));
    return std::nullopt;
  }
  auto scale = Take(ComputeScale(options.network.stragglers, traces.program_of_rank.size()), diagnostics);
  if (!scale) return std::nullopt;
  auto faults = Take(hardware::ParseLinkFaults(options.network.links, system), diagnostics);
  if (!faults) return std::nullopt;
  const network::CalibratedModel model(device, system, *constants, *std::move(faults));
  if (!reuse.plan) model.WarnOfAssumptions(diagnostics);
  auto simulated =
      Take(network::SimulatePriced(
               traces, model, device, options.network.concurrency,
               {.plan = reuse.plan, .record_nodes = reuse.record_nodes, .compute_scale = *std::move(scale)}),
           diagnostics);
  if (simulated && NamesPrices(options, reuse))
    network::NamePrices(traces, model, network::RanksAsked::kAll, *simulated);
  if (!simulated || !options.output.explain) return simulated;
  simulate::ExplainIntervals(traces, *simulated);
  network::ExplainPrices(traces, model, *simulated);
  return simulated;
}

}  // namespace

std::string NetworkModelOf(const RunOptions& options) {
  if (UsesCalibratedNetwork(options)) return "calibrated";
  if (options.network.backend == NetworkBackend::kAnalytical) return "plain";
  return std::string(TextOf(options.network.backend));
}

void WarnOfIgnoredSettings(const RunOptions& options, const hardware::System& system, Diagnostics& diagnostics) {
  if (hardware::IsOwnDescription(options.system.name) && UsesCalibratedNetwork(options))
    network::WarnOfIgnoredSettings(system, diagnostics);
}

std::optional<result::SimResult> SimulateStep(const RunOptions& options, const hardware::Device& device,
                                              const trace::TraceGraph& traces, const hardware::System& system,
                                              Diagnostics& diagnostics, const SimulationReuse& reuse) {
  if (UsesCalibratedNetwork(options)) return SimulateCalibrated(options, device, traces, system, diagnostics, reuse);
  if (!options.network.concurrency.IsDefault())
    diagnostics.Warning(network::kIgnoredSettings,
                        "this network model does not use --collective-sms, --collective-memory or --collective-streams",
                        {}, "--network-model calibrated does");
  const bool record = reuse.record_nodes || !traces.loops.empty();
  auto simulated = SimulateTraces(options, traces, system, diagnostics, record);
  if (!simulated || options.network.backend != NetworkBackend::kAnalytical) return simulated;
  const network::AstraSimModel model(system);
  // Each price is some simulations, too many to ask for those of every rank's groups.
  if (NamesPrices(options, reuse)) network::NamePrices(traces, model, network::RanksAsked::kFirstOfProgram, *simulated);
  network::ExplainPrices(traces, model, *simulated);
  return simulated;
}

}  // namespace hespas::driver
