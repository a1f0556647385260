#include "network/collective_model.h"

#include <fmt/format.h>

#include <algorithm>

namespace hespas::network {

std::string Price::Bound() const {
  if (levels.empty() || time == Time()) return "nothing";
  if (launch_us + latency_us + start_us > wire_us + ramp_us) return "latency";
  if (binding) return fmt::format("bandwidth of dimension {}", *binding);
  const auto slowest = std::ranges::max_element(levels, {}, &LevelPrice::wire_us);
  return fmt::format("bandwidth of dimension {}", slowest->dimension);
}

Operation OperationOf(const trace::Node& node) {
  using trace::Collective;
  if (node.kind != trace::NodeKind::kCollective) return Operation::kPermute;
  switch (node.collective) {
    case Collective::kAllReduce:
    case Collective::kBarrier:
      return Operation::kAllReduce;
    case Collective::kReduceScatter:
    case Collective::kReduceScatterBlock:
      return Operation::kReduceScatter;
    case Collective::kAllToAll:
      return Operation::kAllToAll;
    case Collective::kBroadcast:
    case Collective::kReduce:
      return Operation::kBroadcast;
    case Collective::kGather:
    case Collective::kScatter:
      return Operation::kGather;
    default:
      return Operation::kAllGather;
  }
}

}  // namespace hespas::network
