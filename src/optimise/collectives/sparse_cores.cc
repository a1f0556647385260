// Tells which sums SparseCores carry, where flags of XLA's TPU compiler say so.
//
// A TPU's reduce-scatter is an all-reduce of which each device keeps a slice. So the flag of all-reduces counts for it,
// too: MaxText gives that flag to runs whose gradients are scattered, to hide "the gradient reduction"
// (benchmarks/xla_flags_library.py).
#include <optional>

#include "ir/facts/execution/asynchronous.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {

using ir::OpKind;

void AssignSparseCores(Dataflow& flow, PassContext& context) {
  const XlaFlags& flags = context.flags;
  for (const NodeId id : flow.order()) {
    const OpKind kind = flow.node(id).kind;
    std::optional<bool> carried;
    if (kind == OpKind::kReduceScatter) carried = flags.sparse_core_reduce_scatter;
    if (kind == OpKind::kAllReduce || (kind == OpKind::kReduceScatter && !carried)) {
      carried = flags.sparse_core_all_reduce;
    }
    if (!carried) continue;
    flow.node(id).attributes.push_back(MakeAttribute(flow.source(), ir::kSparseCore, *carried ? "true" : "false"));
  }
}

}  // namespace hespas::optimise
