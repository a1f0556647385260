#include "network/priced_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace hespas::network {
namespace {

std::string LevelsText(const Price& price) {
  std::string text;
  for (const LevelPrice& level : price.levels)
    text += fmt::format("{}dimension {}: {:g} ranks", text.empty() ? "" : ", ", level.dimension, level.ranks);
  return text;
}

// Of collectives alike: most steps repeat a few, and looking at all members takes time.
class KnownPrices {
 public:
  struct Known {
    Time time;
    double sent_bytes = 0;
  };
  explicit KnownPrices(const CollectiveModel& model) : model_(model) {}

  Known Of(const trace::Node& node, std::span<const uint32_t> members) {
    if (node.kind != trace::NodeKind::kCollective) return Ask(node, members);
    const auto [known, added] = known_.try_emplace({node.collective, node.size.value, members.data()});
    if (added) known->second = Ask(node, members);
    return known->second;
  }

 private:
  Known Ask(const trace::Node& node, std::span<const uint32_t> members) const {
    const Price price = model_.PriceOf(node, members);
    return {price.time, price.sent_bytes};
  }

  const CollectiveModel& model_;
  std::map<std::tuple<trace::Collective, int64_t, const uint32_t*>, Known> known_;
};

// Nodes by id, of the programs that are looked at.
class NodesOf {
 public:
  explicit NodesOf(const trace::TraceGraph& traces) : traces_(traces), by_program_(traces.programs.size()) {}

  const trace::Node* At(uint32_t rank, uint64_t id) {
    const uint32_t program = traces_.program_of_rank[rank];
    auto& nodes = by_program_[program];
    if (nodes.empty()) {
      for (const trace::Node& node : traces_.programs[program].nodes) nodes[node.id] = &node;
    }
    const auto found = nodes.find(id);
    return found == nodes.end() ? nullptr : found->second;
  }

 private:
  const trace::TraceGraph& traces_;
  std::vector<std::unordered_map<uint64_t, const trace::Node*>> by_program_;
};

}  // namespace

Result<result::SimResult> SimulatePriced(const trace::TraceGraph& traces, const CollectiveModel& model,
                                         const hardware::Device& device, const Concurrency& concurrency,
                                         const simulate::AnalyticalOptions& options) {
  const Result<double> units = concurrency.UnitsLeft(device);
  if (!units) return units.error();
  KnownPrices prices(model);
  std::map<std::tuple<trace::Collective, int32_t, const uint32_t*>, uint32_t> holds;
  simulate::AnalyticalOptions all = options;
  all.units_beside = *units;
  all.share_links = concurrency.streams == CollectiveStreams::kGroup;
  const auto held = [&](const trace::Node& node, std::span<const uint32_t> members) {
    return all.share_links ? model.Links(node, members) : model.Holds(node, members);
  };
  all.held = [&](const trace::Node& node, std::span<const uint32_t> members) {
    if (node.kind != trace::NodeKind::kCollective) return held(node, members);
    const auto [known, added] = holds.try_emplace({node.collective, node.tag, members.data()});
    if (added) known->second = held(node, members);
    return known->second;
  };
  if (concurrency.memory_passes > 0) {
    all.memory_bandwidth = device.memory_bandwidth;
    all.memory_share = [&](const trace::Node& node, std::span<const uint32_t> members) {
      const auto [time, bytes] = prices.Of(node, members);
      const double possible = time.seconds() * device.memory_bandwidth.value;
      return possible > 0 ? std::min(1.0, concurrency.memory_passes * bytes / possible) : 0;
    };
  }
  return simulate::SimulateAnalytical(
      traces, [&](const trace::Node& node, std::span<const uint32_t> members) { return prices.Of(node, members).time; },
      all);
}

void ExplainPrices(const trace::TraceGraph& traces, const CollectiveModel& model, result::SimResult& result) {
  std::vector<uint32_t> all(traces.program_of_rank.size());
  std::iota(all.begin(), all.end(), 0u);
  NodesOf nodes(traces);
  std::map<std::tuple<trace::Collective, int64_t, uint32_t>, Price> known;
  for (result::CollectiveUse& use : result.collectives) {
    const trace::Node* node = nodes.At(use.rank, use.node);
    if (node == nullptr) continue;
    const uint32_t group = traces.GroupOf(use.rank, *node);
    const auto [price, added] = known.try_emplace({node->collective, node->size.value, group});
    if (added) {
      const auto members = traces.groups.find(group);
      price->second = model.PriceOf(*node, members == traces.groups.end() ? all : members->second);
    }
    use.model = model.name();
    use.algorithm = price->second.algorithm;
    use.levels = LevelsText(price->second);
    use.bound = price->second.Bound();
    const auto time = [](double us) { return Time::Seconds(us * 1e-6); };
    use.launch = time(price->second.launch_us);
    use.latency = time(price->second.latency_us);
    use.wire = time(price->second.wire_us);
    use.ramp = time(price->second.start_us + price->second.ramp_us);
  }
}

}  // namespace hespas::network
