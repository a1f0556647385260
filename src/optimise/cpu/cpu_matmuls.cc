// Matmuls with the transposes next to them: XLA's CPU compiler swaps the operands of a matmul whose result is only
// transposed, and reads a transposed matrix by columns, so that nothing is moved (AlgebraicSimplifier,
// TransposeFolding). Other transposes it computes in loops.
#include "optimise/cpu/cpu_matmuls.h"

#include <algorithm>
#include <unordered_set>

#include "optimise/fusion/kernels.h"
#include "optimise/passes/canonical_dots.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class MatmulKernels {
 public:
  explicit MatmulKernels(Dataflow& flow)
      : flow_(flow), users_(flow.Users()), returned_(flow.outputs.begin(), flow.outputs.end()) {}

  void Form(PassContext& context) {
    KernelFormer former(flow_);
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      std::vector<NodeId> members = TransposedOperands(id);
      members.push_back(id);
      if (const NodeId after = TransposedResult(id); after.valid()) members.push_back(after);
      if (members.size() == 1) continue;
      former.Form({&members.back(), 1}, members, "kOutput");
      if (context.explanations != nullptr) Explain(members, id, *context.explanations);
    }
    flow_.Normalise();
  }

 private:
  // Each operand has one dimension beside the batches and the one that is summed over.
  bool IsMatmul(const Node& node) const {
    if ((node.kind != OpKind::kDotGeneral && node.kind != OpKind::kDot) || !node.origin.valid()) return false;
    auto dims = CanonicalDimensions(flow_, node);
    if (!dims) dims = ir::DotDimensionsOf(flow_.source(), node.origin);
    if (!dims || dims->lhs_contracting.size() != 1) return false;
    const size_t rank = dims->lhs_batching.size() + 2;
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](ValueId operand) { return flow_.type(operand).dims.size() == rank; });
  }

  // The transpose that is all that reads a matmul; invalid where there is none.
  NodeId TransposedResult(NodeId id) const {
    const Node& node = flow_.node(id);
    if (!IsMatmul(node)) return NodeId();
    const ValueId out = node.first_result;
    const auto& consumers = users_[out.index()];
    const bool alone = consumers.size() == 1 && !returned_.contains(out);
    return alone && SwapsMatrix(flow_, flow_.node(consumers[0])) ? consumers[0] : NodeId();
  }

  // Transposes that a matmul reads and that no matmul before it takes in.
  std::vector<NodeId> TransposedOperands(NodeId id) const {
    std::vector<NodeId> found;
    const Node& node = flow_.node(id);
    if (!IsMatmul(node)) return found;
    for (const ValueId operand : node.operands) {
      const NodeId producer = flow_.producer(operand);
      if (!producer.valid() || !SwapsMatrix(flow_, flow_.node(producer))) continue;
      const NodeId before = flow_.producer(flow_.node(producer).operands[0]);
      const bool taken = before.valid() && TransposedResult(before) == producer;
      if (!taken && std::find(found.begin(), found.end(), producer) == found.end()) found.push_back(producer);
    }
    return found;
  }

  void Explain(const std::vector<NodeId>& members, NodeId matmul, std::vector<Explanation>& explanations) const {
    const std::string name = "matmul at " + std::to_string(matmul.index());
    for (const NodeId id : members) {
      explanations.push_back({.op = std::string(flow_.source().name(flow_.node(id).name)),
                              .kernel = name,
                              .reason = id == matmul
                                            ? "a matmul: operands and result are in memory"
                                            : "fused with the neighbouring matmul, which reads or writes in this order",
                              .origin = flow_.node(id).origin});
    }
  }

  Dataflow& flow_;
  UserTable users_;
  std::unordered_set<ValueId> returned_;
};

}  // namespace

void FormMatmulsOnCpu(Dataflow& flow, PassContext& context) { MatmulKernels(flow).Form(context); }

}  // namespace hespas::optimise
