#include "graph/block_graph.h"

#include <algorithm>

#include "graph/estimate.h"

namespace hespas::graph {

size_t BlockGraph::edge_count() const {
  size_t edges = 0;
  for (const Block& block : blocks) edges += block.predecessors.size();
  return edges;
}

bool BlockGraph::communicates() const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [](const Block& block) { return block.kind == BlockKind::kCommunication; });
}

std::string_view BoundName(Bound bound) {
  constexpr std::string_view kNames[] = {"none", "compute", "memory", "launch", "network", "measured"};
  return kNames[static_cast<size_t>(bound)];
}

}  // namespace hespas::graph
