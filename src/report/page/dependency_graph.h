// The dependency graph of blocks as a picture: DOT, or SVG drawn by Graphviz.
//
// - Fill: what bounds the block; border: its kind. Beyond kMostNodes blocks, runs of one layer become one node (runs of
//   equal length where the program names no layers).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "graph/block_graph.h"
#include "graph/estimate_table.h"

namespace hespas::report {

inline constexpr DiagnosticKind kNoGraphviz{
    "E0958",
    "The dependency graph as SVG is drawn by Graphviz's `dot`, which is missing or failed. --format dot needs nothing.",
    Outcome::kToolFailed};

struct GraphNode {
  std::string label;
  std::string title;  // more about it, for a tooltip
  std::string fill;   // colours, "#2f6fb7"
  std::string border;
  std::vector<uint32_t> predecessors;  // earlier nodes, ascending
};

inline constexpr size_t kMostNodes = 500;

// `estimates` may be nullptr: then nothing is known about bounds.
std::vector<GraphNode> DependencyGraph(const graph::BlockGraph& blocks, const graph::EstimateTable* estimates);

std::string ToDot(const std::vector<GraphNode>& nodes);
// Runs `dot`.
Result<std::string> ToSvg(const std::vector<GraphNode>& nodes);

}  // namespace hespas::report
