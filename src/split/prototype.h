// The Python prototype's split, with its choices and defects, for `--compat prototype`.
//
// - Block ids, edges, their insertion order and the trace order are the prototype's (linear chains run backwards,
//   derived constants are copied into every user, collectives may merge).
// - Values captured by regions make no dependency. `func.return` takes part in the linear split.
#pragma once

#include <vector>

#include "base/result.h"
#include "graph/block_graph.h"
#include "split/split.h"

namespace hespas::split {

inline constexpr DiagnosticKind kNothingToSplit{"E0503",
                                                "The function `main` holds no operation that could form a block."};

struct PrototypeBlock {
  graph::BlockKind kind = graph::BlockKind::kCompute;
  std::vector<ir::OpId> ops;           // without a `return` at the end
  std::vector<uint32_t> predecessors;  // in the order in which the edges were added
  std::vector<uint32_t> successors;
  bool coloured = true;  // in dependency_graph.dot: false for blocks that merging renumbered
  bool empty = false;    // held only `return`; is in the dot file, nowhere else
};

struct PrototypeGraph {
  std::vector<PrototypeBlock> blocks;
  std::vector<uint32_t> trace_order;  // of the blocks that are not empty

  size_t empty_count() const { return blocks.size() - trace_order.size(); }
};

Result<PrototypeGraph> SplitAsPrototype(const ir::Module& module, const Options& options);

// The same as a BlockGraph: blocks in trace order, predecessors in the prototype's order, hashes that are equal where
// the prototype's printed block modules are.
graph::BlockGraph InTraceOrder(const ir::Module& module, const PrototypeGraph& graph);

Result<graph::BlockGraph> SplitInTraceOrder(const ir::Module& module, const Options& options, Diagnostics& diagnostics);

}  // namespace hespas::split
