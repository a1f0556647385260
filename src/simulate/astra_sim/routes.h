// Shortest paths through a graph of links: fewest hops, then least latency, then the link listed first.
#pragma once

#include <cstdint>
#include <vector>

#include "hardware/links/link_graph.h"

namespace hespas::simulate {

class Routes {
 public:
  static constexpr uint32_t kNoLink = 0xFFFFFFFFu;

  explicit Routes(hardware::LinkGraph graph);

  const hardware::LinkGraph& graph() const { return graph_; }
  // The link to take at `device` towards the NPU `destination`; kNoLink if there is no way.
  uint32_t NextLink(uint32_t device, uint32_t destination);

 private:
  void FindPaths(uint32_t destination);

  hardware::LinkGraph graph_;
  std::vector<std::vector<uint32_t>> into_;  // links that lead into each device
  std::vector<std::vector<uint32_t>> next_;  // by destination, then device; found at first use
};

}  // namespace hespas::simulate
