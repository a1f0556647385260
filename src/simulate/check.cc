#include "simulate/check.h"

#include <fmt/format.h>

#include <algorithm>

namespace hespas::simulate {

Status CheckGroups(const trace::TraceGraph& trace, uint64_t npus, const std::string& file) {
  const auto bad = [&](std::string what, std::string help = {}) {
    return MakeError(kBadTrace, std::move(what), {.file = file}, std::move(help));
  };
  for (const auto& [id, members] : trace.groups) {
    if (id == 0) return bad("communicator group 0 stands for all NPUs and cannot be defined");
    std::vector<uint32_t> sorted = members;
    std::sort(sorted.begin(), sorted.end());
    if (!sorted.empty() && sorted.back() >= npus) {
      return bad(
          fmt::format("communicator group {} names NPU {}, but there are {} NPUs", id, sorted.back(), npus),
          fmt::format("the group spans a level that the system lacks: give `npus_count` a further dimension with "
                      "its bandwidth and latency, or name NPUs below {}",
                      npus));
    }
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      return bad(fmt::format("communicator group {} names an NPU twice", id));
    }
  }
  return {};
}

Status CheckInputs(const trace::TraceGraph& trace, const hardware::System& system, const SimulateOptions& options) {
  constexpr uint64_t kMostRanks = uint64_t{1} << 28;
  const uint64_t npus = system.npus();
  if (npus > kMostRanks) return MakeError(kNotPossible, fmt::format("{} NPUs are too many", npus));
  if (trace.program_of_rank.size() < npus) {
    return MakeError(kRankMismatch,
                     fmt::format("the network has {} NPUs, but the trace has {}", npus, trace.program_of_rank.size()));
  }
  if (options.queues_per_dimension == 0) return MakeError(kNotPossible, "at least one queue per dimension is needed");
  if (options.communication_streams == 0) return MakeError(kNotPossible, "at least one communication stream is needed");
  if (options.backend != Backend::kAware && (options.graph || !options.failed_links.empty())) {
    return MakeError(kNotPossible, "a topology of links and failed links need the congestion-aware backend", {},
                     "use --network-backend analytical-aware");
  }
  if (options.graph && options.graph->npus != npus) {
    return MakeError(kNotPossible, fmt::format("the topology has {} NPUs, the system {}", options.graph->npus, npus));
  }
  const auto positive = [](double factor) { return factor > 0 && factor < 1e9; };
  if (!std::all_of(options.compute_scale.begin(), options.compute_scale.end(), positive) ||
      !(options.noise >= 0 && options.noise < 10)) {
    return MakeError(kNotPossible, "speed factors must be above 0 and the noise between 0 and 10");
  }
  return CheckGroups(trace, npus);
}

}  // namespace hespas::simulate
