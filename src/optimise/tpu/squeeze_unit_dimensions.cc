// A matrix of one row is laid out in tiles of rows and columns, a vector is not: XLA:TPU squeezes its unit dimension
// by a kernel of its own (a reduction over the unit dimensions) before broadcasts read it.
#include "optimise/tpu/squeeze_unit_dimensions.h"

#include <algorithm>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Whether a value holds what the program was given, or what a barrier kept as it is.
bool IsGiven(const Dataflow& flow, ValueId value) {
  const Node* producer = flow.ProducerNode(value);
  return producer == nullptr || producer->kind == OpKind::kOptimizationBarrier;
}

ValueId BehindReshapes(const Dataflow& flow, ValueId value) {
  while (flow.producer(value).valid() && flow.ProducerNode(value)->kind == OpKind::kReshape)
    value = flow.ProducerNode(value)->operands[0];
  return value;
}

void Squeeze(Dataflow& flow, NodeId id) {
  const Node& node = flow.node(id);
  if (node.kind != OpKind::kBroadcastInDim) return;
  const ValueId input = BehindReshapes(flow, node.operands[0]);
  const Dimensions dims = flow.type(node.operands[0]).dims;
  const Dimensions wide = WithoutUnits(dims);
  const auto to = IntegersOf(flow, node, "broadcast_dimensions");
  if (!IsGiven(flow, input) || flow.type(input).dims.size() < 2 || wide.size() != 1) return;
  if (!to || to->size() != dims.size()) return;
  if (flow.type(node.first_result).element_count() <= wide[0]) return;
  const auto at = std::find_if(dims.begin(), dims.end(), [](int64_t d) { return d != 1; }) - dims.begin();
  const ir::Attribute dimensions =
      MakeAttribute(flow.source(), "broadcast_dimensions", ArrayText({(*to)[static_cast<size_t>(at)]}));
  const ValueId vector = Reshape(flow, input, wide);
  Node& broadcast = flow.node(id);
  broadcast.operands[0] = vector;
  broadcast.attributes = {dimensions};
  flow.NoteChange();
}

}  // namespace

bool SqueezesUnitDimensions(const Dataflow& flow, const Node& node) {
  return node.kind == OpKind::kReshape && flow.type(node.first_result).dims.size() == 1 &&
         flow.type(node.operands[0]).dims.size() > 1 && WithoutUnits(flow.type(node.operands[0]).dims).size() == 1 &&
         IsGiven(flow, node.operands[0]);
}

void SqueezeUnitDimensions(Dataflow& flow, PassContext&) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) Squeeze(flow, id);
  flow.Normalise();
}

}  // namespace hespas::optimise
