#include "network/priced_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>

#include "trace/first_ranks.h"

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

// Of collectives by their group, and of messages by their ends.
class PricesByGroup {
 public:
  PricesByGroup(const trace::TraceGraph& traces, const CollectiveModel& model)
      : traces_(traces), model_(model), all_(traces.program_of_rank.size()) {
    std::iota(all_.begin(), all_.end(), 0u);
  }

  const Price& Of(uint32_t rank, const trace::Node& node) {
    const bool collective = node.kind == trace::NodeKind::kCollective;
    const uint32_t first = collective ? traces_.GroupOf(rank, node) : rank;
    const int32_t peer = collective ? -1 : traces_.PeerOf(rank, node);
    const auto [price, added] = known_.try_emplace({node.kind, node.collective, node.size.value, first, peer});
    if (!added) return price->second;
    const std::array<uint32_t, 2> ends = {rank, static_cast<uint32_t>(peer)};
    const auto group = traces_.groups.find(first);
    const std::span<const uint32_t> members = group == traces_.groups.end() ? all_ : group->second;
    price->second = model_.PriceOf(node, collective ? members : ends);
    return price->second;
  }

 private:
  const trace::TraceGraph& traces_;
  const CollectiveModel& model_;
  std::vector<uint32_t> all_;
  std::map<std::tuple<trace::NodeKind, trace::Collective, int64_t, uint32_t, int32_t>, Price> known_;
};

bool IsPriced(const trace::Node& node) {
  return node.kind == trace::NodeKind::kCollective || node.kind == trace::NodeKind::kSend;
}

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
  NodesOf nodes(traces);
  PricesByGroup prices(traces, model);
  for (result::CollectiveUse& use : result.collectives) {
    const trace::Node* node = nodes.At(use.rank, use.node);
    if (node == nullptr) continue;
    const Price& price = prices.Of(use.rank, *node);
    use.model = model.name();
    use.algorithm = price.algorithm;
    use.levels = LevelsText(price);
    use.bound = price.Bound();
    const auto time = [](double us) { return Time::Seconds(us * 1e-6); };
    use.launch = time(price.launch_us);
    use.latency = time(price.latency_us);
    use.wire = time(price.wire_us);
    use.ramp = time(price.start_us + price.ramp_us);
  }
}

void NamePrices(const trace::TraceGraph& traces, const CollectiveModel& model, RanksAsked ranks,
                result::SimResult& result) {
  NodesOf nodes(traces);
  PricesByGroup prices(traces, model);
  const std::vector<uint32_t> first = trace::FirstRanks(traces, static_cast<uint32_t>(traces.program_of_rank.size()));
  std::set<const Price*> seen;
  std::set<std::tuple<trace::NodeKind, trace::Collective, std::string_view, std::string, std::string>> named;
  for (const result::NodeInterval& at : result.intervals) {
    if (ranks == RanksAsked::kFirstOfProgram && first[traces.program_of_rank[at.rank]] != at.rank) continue;
    const trace::Node* node = nodes.At(at.rank, at.node);
    if (node == nullptr || !IsPriced(*node)) continue;
    const Price& price = prices.Of(at.rank, *node);
    if (!seen.insert(&price).second) continue;
    const std::string levels = LevelsText(price);
    const std::string bound = price.Bound();
    if (!named.insert({node->kind, node->collective, price.algorithm, levels, bound}).second) continue;
    result.pricings.push_back(
        {at.node, at.rank, {std::string(model.name()), std::string(price.algorithm), levels, bound}});
  }
}

}  // namespace hespas::network
