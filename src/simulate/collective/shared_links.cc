#include "simulate/collective/shared_links.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>
#include <utility>

namespace hespas::simulate {

double SharedLinks::RateOf(const Flow& flow) const {
  size_t most = 1;
  for (const Port& port : flow.ports) {
    for (uint32_t links = flow.links; links != 0; links &= links - 1) {
      const uint32_t link = 1u << std::countr_zero(links);
      size_t sending = 0;
      size_t receiving = 0;
      for (const Use& use : at_rank_[port.rank]) {
        if ((use.links & link) == 0) continue;
        sending += use.sends;
        receiving += use.receives;
      }
      if (port.sends) most = std::max(most, sending);
      if (port.receives) most = std::max(most, receiving);
    }
  }
  return 1 / static_cast<double>(most);
}

// Those that meet the changed one at a rank have another rate from now on.
std::vector<SharedLinks::End> SharedLinks::Update(const Flow& changed, uint64_t now) {
  std::set<uint64_t> met;
  for (const Port& port : changed.ports) {
    for (const Use& use : at_rank_[port.rank]) {
      if ((use.links & changed.links) != 0) met.insert(use.transfer);
    }
  }
  std::vector<End> ends;
  for (const uint64_t transfer : met) {
    Flow& flow = flows_.at(transfer);
    const double rate = RateOf(flow);
    if (rate == flow.rate && flow.since != now) continue;
    flow.left = std::max(0.0, flow.left - static_cast<double>(now - flow.since) * flow.rate);
    flow.since = now;
    flow.rate = rate;
    ends.push_back({transfer, now + static_cast<uint64_t>(std::llround(flow.left / rate))});
  }
  return ends;
}

std::vector<SharedLinks::End> SharedLinks::Begin(uint64_t transfer, std::vector<Port> ports, uint32_t links,
                                                 uint64_t work, uint64_t now) {
  for (const Port& port : ports) {
    at_rank_[port.rank].push_back(
        {.transfer = transfer, .links = links, .sends = port.sends, .receives = port.receives});
  }
  const Flow& begun =
      flows_[transfer] = {.ports = std::move(ports), .links = links, .left = static_cast<double>(work), .since = now};
  return Update(begun, now);
}

std::vector<SharedLinks::End> SharedLinks::Finish(uint64_t transfer, uint64_t now) {
  const auto found = flows_.find(transfer);
  const Flow ended = std::move(found->second);
  flows_.erase(found);
  for (const Port& port : ended.ports)
    std::erase_if(at_rank_[port.rank], [&](const Use& use) { return use.transfer == transfer; });
  return Update(ended, now);
}

}  // namespace hespas::simulate
