#include "driver/stages/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "driver/configuration/stragglers.h"
#include "driver/stages/run_options.h"
#include "driver/stages/take.h"
#include "engines/simgrid_run.h"
#include "estimate/calibrated/collective.h"
#include "estimate/calibrated/machine.h"
#include "simulate/collective/analytical.h"
#include "simulate/explain.h"
#include "simulate/simulate.h"

namespace hespas::driver {
namespace {

namespace calibrated = estimate::calibrated;
using calibrated::CollectiveOp;
using trace::Collective;

CollectiveOp OpOf(const trace::Node& node) {
  if (node.kind != trace::NodeKind::kCollective) return CollectiveOp::kPermute;
  switch (node.collective) {
    case Collective::kAllReduce:
    case Collective::kReduce:
    case Collective::kBarrier:
      return CollectiveOp::kAllReduce;
    case Collective::kReduceScatter:
    case Collective::kReduceScatterBlock:
      return CollectiveOp::kReduceScatter;
    case Collective::kAllToAll:
      return CollectiveOp::kAllToAll;
    default:
      return CollectiveOp::kAllGather;
  }
}

calibrated::Ports PortsOf(const hardware::NetworkDimension& dimension) {
  constexpr double kBinaryGigabytePerSecond = 1073.741824;  // byte/us
  calibrated::Ports ports;
  ports.mesh = dimension.kind == hardware::DimensionKind::kFullyConnected;
  ports.peers = std::max(1.0, static_cast<double>(dimension.npus) - 1);
  ports.rate = std::max(1.0, dimension.bandwidth * kBinaryGigabytePerSecond * (ports.mesh ? ports.peers : 1));
  return ports;
}

// How many different places the members take in each dimension.
std::vector<double> Extents(std::span<const uint32_t> members, const std::vector<hardware::NetworkDimension>& dims) {
  std::vector<double> extents;
  uint32_t stride = 1;
  for (const hardware::NetworkDimension& dimension : dims) {
    std::set<uint32_t> places;
    for (const uint32_t rank : members) places.insert(rank / stride % std::max(1u, dimension.npus));
    extents.push_back(static_cast<double>(places.size()));
    stride *= std::max(1u, dimension.npus);
  }
  return extents;
}

class Network {
 public:
  Network(const hardware::Device& device, const hardware::System& system, const calibrated::Parameters& parameters)
      : dimensions_(system.dimensions) {
    for (const hardware::NetworkDimension& dimension : dimensions_) {
      const bool inner = models_.empty();
      calibrated::Ports ports = PortsOf(dimension);
      ports.reducing_switch = inner && dimension.kind == hardware::DimensionKind::kSwitch && device.interconnect &&
                              device.interconnect->in_network_reduction;
      if (inner) ports.devices_per_host = calibrated::DevicesPerHost(device);
      const calibrated::Parameters shared = ports.mesh ? calibrated::OnMesh(parameters) : parameters;
      models_.emplace_back(ports, inner ? calibrated::ForDevice(shared, device) : shared);
    }
  }

  Time Of(const trace::Node& node, std::span<const uint32_t> members) const {
    const CollectiveOp op = OpOf(node);
    auto bytes = static_cast<double>(node.size.value);
    if (op == CollectiveOp::kAllGather) bytes *= static_cast<double>(members.size());  // the trace has each one's share
    double us = 0;
    const std::vector<double> extents = Extents(members, dimensions_);
    for (size_t d = 0; d < models_.size(); ++d) {
      if (extents[d] < 2) continue;
      us += models_[d].Time({.op = op, .ranks = extents[d], .bytes = bytes}).us;
      if (op != CollectiveOp::kAllToAll && op != CollectiveOp::kPermute) bytes /= extents[d];
    }
    return Time::Seconds(us * 1e-6);
  }

 private:
  std::vector<hardware::NetworkDimension> dimensions_;
  std::vector<calibrated::CollectiveModel> models_;
};

// Whether a run's collectives follow the calibrated model: asked for, or `auto` with the calibrated estimator.
bool UsesCalibratedNetwork(const RunOptions& options) {
  const NetworkOptions& network = options.network;
  if (network.model == NetworkModel::kCalibrated) return true;
  return network.model == NetworkModel::kAuto && options.estimate.estimator == "calibrated" && !options.compat &&
         network.backend == NetworkBackend::kAnalytical;
}

// Whether the system has as many NPUs as the traces; reports where it has not.
bool HasSizeOf(const hardware::System& system, const trace::TraceGraph& traces, Diagnostics& diagnostics) {
  const size_t npus = traces.program_of_rank.size();
  if (system.npus() == npus) return true;
  diagnostics.Error(kSystemSize,
                    fmt::format("`{}` has {} NPUs, but the program needs {}", system.name, system.npus(), npus), {},
                    fmt::format("choose a system of {} NPUs, or give --retarget {}", npus, system.npus()));
  return false;
}

std::optional<result::SimResult> SimulateTraces(const RunOptions& options, const trace::TraceGraph& traces,
                                                const hardware::System& system, Diagnostics& diagnostics,
                                                bool record_nodes) {
  if (!HasSizeOf(system, traces, diagnostics)) return std::nullopt;
  auto scale = Take(ComputeScale(options.network.stragglers, traces.program_of_rank.size()), diagnostics);
  if (!scale) return std::nullopt;
  const simulate::SimulateOptions simulate_options{
      .backend = options.network.backend == NetworkBackend::kAnalyticalAware ? simulate::Backend::kAware
                                                                             : simulate::Backend::kUnaware,
      .resolution = simulate::Resolution::kPicosecond,
      .record_nodes = record_nodes,
      .explain = options.output.explain && record_nodes,
      .keep_order = record_nodes,
      .progress = options.progress,
      .compute_scale = *std::move(scale)};
  if (options.network.backend == NetworkBackend::kSimGrid)
    return Take(engines::RunSimGrid(traces, system, simulate_options, {}), diagnostics);
  return Take(simulate::Simulate(traces, system, simulate_options, diagnostics), diagnostics);
}

// A network without any latency exists in thought only; measured ones say nothing of it.
bool IsIdeal(const hardware::System& system) {
  return !system.dimensions.empty() &&
         std::all_of(system.dimensions.begin(), system.dimensions.end(),
                     [](const hardware::NetworkDimension& dimension) { return dimension.latency == 0; });
}

std::optional<result::SimResult> SimulateCalibrated(const hardware::Device& device, const trace::TraceGraph& traces,
                                                    const hardware::System& system,
                                                    const simulate::AnalyticalOptions& timed,
                                                    Diagnostics& diagnostics) {
  const auto& parameters = calibrated::DefaultParameters();
  if (!parameters) {
    diagnostics.Report(parameters.error());
    return std::nullopt;
  }
  if (!HasSizeOf(system, traces, diagnostics)) return std::nullopt;
  const Network network(device, system, *parameters);
  auto simulated = simulate::SimulateAnalytical(
      traces, [&](const trace::Node& node, std::span<const uint32_t> members) { return network.Of(node, members); },
      timed);
  if (simulated) return *std::move(simulated);
  diagnostics.Report(simulated.error());
  return std::nullopt;
}

}  // namespace

std::optional<result::SimResult> SimulateStep(const RunOptions& options, const hardware::Device& device,
                                              const trace::TraceGraph& traces, const hardware::System& system,
                                              Diagnostics& diagnostics, const SimulationReuse& reuse) {
  const bool plain = options.network.model == NetworkModel::kAuto && IsIdeal(system);
  if (plain || !UsesCalibratedNetwork(options)) {
    const bool record = reuse.record_nodes || !traces.loops.empty();
    return SimulateTraces(options, traces, system, diagnostics, record);
  }
  auto scale = ComputeScale(options.network.stragglers, traces.program_of_rank.size());
  if (!scale) {
    diagnostics.Report(scale.error());
    return std::nullopt;
  }
  const simulate::AnalyticalOptions timed{
      .plan = reuse.plan, .record_nodes = reuse.record_nodes, .compute_scale = *std::move(scale)};
  auto simulated = SimulateCalibrated(device, traces, system, timed, diagnostics);
  if (simulated && options.output.explain) simulate::ExplainIntervals(traces, *simulated);
  return simulated;
}

}  // namespace hespas::driver
