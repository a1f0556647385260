// A matrix of one row is laid out in tiles of rows and columns, a vector is not: XLA:TPU turns the one into the other
// by a kernel of its own (a reduction over the unit dimensions) before broadcasts read it.
#include <algorithm>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Whether a wire holds what the program was given, or what a barrier kept as it is.
bool IsGiven(const Dataflow& flow, WireId wire) {
  const Node* maker = flow.MakerNode(wire);
  return maker == nullptr || maker->kind == OpKind::kOptimizationBarrier;
}

WireId BehindReshapes(const Dataflow& flow, WireId wire) {
  while (flow.maker(wire).valid() && flow.MakerNode(wire)->kind == OpKind::kReshape)
    wire = flow.MakerNode(wire)->operands[0];
  return wire;
}

void ReadVector(Dataflow& flow, NodeId id) {
  const Node& node = flow.node(id);
  if (node.kind != OpKind::kBroadcastInDim) return;
  const WireId input = BehindReshapes(flow, node.operands[0]);
  const Dimensions dims = flow.type(node.operands[0]).dims;
  const Dimensions wide = WithoutUnits(dims);
  const auto to = IntegersOf(flow, node, "broadcast_dimensions");
  if (!IsGiven(flow, input) || flow.type(input).dims.size() < 2 || wide.size() != 1) return;
  if (!to || to->size() != dims.size()) return;
  if (flow.type(node.first_result).element_count() <= wide[0]) return;
  const auto at = std::find_if(dims.begin(), dims.end(), [](int64_t d) { return d != 1; }) - dims.begin();
  const ir::Attribute dimensions =
      MakeAttribute(flow.source(), "broadcast_dimensions", ArrayText({(*to)[static_cast<size_t>(at)]}));
  const WireId vector = Reshape(flow, input, wide);
  Node& broadcast = flow.node(id);
  broadcast.operands[0] = vector;
  broadcast.attributes = {dimensions};
  flow.NoteChange();
}

}  // namespace

bool MakesVector(const Dataflow& flow, const Node& node) {
  return node.kind == OpKind::kReshape && flow.type(node.first_result).dims.size() == 1 &&
         flow.type(node.operands[0]).dims.size() > 1 && WithoutUnits(flow.type(node.operands[0]).dims).size() == 1 &&
         IsGiven(flow, node.operands[0]);
}

void ReadRowVectors(Dataflow& flow, PassContext&) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) ReadVector(flow, id);
  flow.Normalise();
}

}  // namespace hespas::optimise
