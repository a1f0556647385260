#include "driver/live/collective_terms.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "network/calibrated.h"
#include "simulate/collective/analytical.h"

namespace hespas::driver {
namespace {

using Json = nlohmann::json;

Json PriceObject(const network::Price& price, const hardware::System& system) {
  Json levels = Json::array();
  double inside_us = 0;
  for (const network::LevelPrice& level : price.levels) {
    if (!level.outer) inside_us += level.wire_us;
    const double link_us = system.dimensions[level.dimension].latency * 1e-3;
    levels.push_back({level.dimension, level.hops, level.latency_us - level.hops * link_us, level.wire_us,
                      level.passing_us, level.first_us, level.outer ? 1 : 0});
  }
  const double launch_us = price.launch_us + price.start_us;
  const double root = std::sqrt(launch_us * std::min(price.wire_us, inside_us));
  return {{"launch", launch_us}, {"ramp", root > 0 ? price.ramp_us / root : 0}, {"levels", std::move(levels)}};
}

class Collectives {
 public:
  Collectives(const trace::TraceGraph& traces, const network::CalibratedModel& model, const hardware::System& system)
      : traces_(traces), model_(model), system_(system), all_(traces.program_of_rank.size()) {
    std::iota(all_.begin(), all_.end(), 0u);
  }

  std::span<const uint32_t> Members(uint32_t rank, const trace::Node& node) const {
    const auto found = traces_.groups.find(traces_.GroupOf(rank, node));
    return found == traces_.groups.end() ? std::span<const uint32_t>(all_) : std::span<const uint32_t>(found->second);
  }

  Json For(uint32_t rank, const trace::Node& node) const {
    const auto members = Members(rank, node);
    Json choices = Json::array();
    for (const network::Price& price :
         model_.ChoicesFor(network::CalibratedModel::SizeOf(node, members.size()), members))
      choices.push_back(PriceObject(price, system_));
    return choices;
  }

  // Whether the page's one queue of collectives is what the run has; `holding` gets those that hold the computation.
  bool QueueInOne(std::set<uint64_t>& holding) const {
    uint32_t common = ~simulate::kHoldsCompute;
    for (const trace::Node& node : traces_.programs.front().nodes) {
      if (node.kind != trace::NodeKind::kCollective) continue;
      const uint32_t held = model_.Holds(node, Members(0, node));
      if ((held & simulate::kHoldsCompute) != 0) holding.insert(node.id);
      common &= held;
    }
    return common != 0;
  }

  bool AlikeOnAllRanks(const trace::Node& node) const {
    const Json first = For(0, node);
    std::vector<uint32_t> seen;
    for (uint32_t rank = 1; node.per_rank && rank < all_.size(); ++rank) {
      const uint32_t group = traces_.GroupOf(rank, node);
      if (std::ranges::find(seen, group) != seen.end()) continue;
      seen.push_back(group);
      if (For(rank, node) != first) return false;
    }
    return true;
  }

 private:
  const trace::TraceGraph& traces_;
  const network::CalibratedModel& model_;
  const hardware::System& system_;
  std::vector<uint32_t> all_;
};

}  // namespace

Json CollectiveTerms(const trace::TraceGraph& traces, const hardware::Device& device, const hardware::System& system,
                     CollectiveNodes& nodes) {
  const auto& constants = network::DefaultNetworkConstants();
  if (!constants) return nullptr;
  const network::CalibratedModel model(device, system, *constants);
  const Collectives collectives(traces, model, system);
  if (!collectives.QueueInOne(nodes.holding)) return nullptr;
  std::map<std::tuple<trace::Collective, int64_t, uint32_t>, size_t> known;
  Json rows = Json::array();
  for (const trace::Node& node : traces.programs.front().nodes) {
    if (node.kind != trace::NodeKind::kCollective) continue;
    const auto [found, added] = known.try_emplace({node.collective, node.size.value, node.group}, rows.size());
    nodes.row[node.id] = found->second;
    if (!added) continue;
    if (!collectives.AlikeOnAllRanks(node)) return nullptr;
    rows.push_back(collectives.For(0, node));
  }
  return rows;
}

}  // namespace hespas::driver
