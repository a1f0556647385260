#include "simulate/astra_sim/routes.h"

#include <limits>
#include <queue>
#include <tuple>
#include <utility>

namespace hespas::simulate {

Routes::Routes(hardware::LinkGraph graph) : graph_(std::move(graph)), into_(graph_.devices), next_(graph_.npus) {
  for (uint32_t i = 0; i < graph_.links.size(); ++i) into_[graph_.links[i].to].push_back(i);
}

uint32_t Routes::NextLink(uint32_t device, uint32_t destination) {
  if (next_[destination].empty()) FindPaths(destination);
  return next_[destination][device];
}

// Dijkstra from the destination against the links.
void Routes::FindPaths(uint32_t destination) {
  using Cost = std::pair<uint32_t, double>;  // hops, latency
  using Entry = std::tuple<uint32_t, double, uint32_t>;
  std::vector<uint32_t>& next = next_[destination];
  next.assign(graph_.devices, kNoLink);
  std::vector<Cost> cost(graph_.devices, {std::numeric_limits<uint32_t>::max(), 0});
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
  cost[destination] = {0, 0};
  open.emplace(0, 0.0, destination);
  while (!open.empty()) {
    const auto [hops, latency, device] = open.top();
    open.pop();
    if (Cost{hops, latency} != cost[device]) continue;
    for (const uint32_t link : into_[device]) {
      const hardware::GraphLink& taken = graph_.links[link];
      const Cost through{hops + 1, latency + taken.latency};
      if (!(through < cost[taken.from])) continue;
      cost[taken.from] = through;
      next[taken.from] = link;
      open.emplace(through.first, through.second, taken.from);
    }
  }
}

}  // namespace hespas::simulate
