// Arithmetic of indices with a number that is known late, as the first row of a shard: on a vector, which is broadcast
// afterwards (XLA's AlgebraicSimplifier moves broadcasts after such ops).
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class IndexVectorRewriter {
 public:
  explicit IndexVectorRewriter(Dataflow& flow) : flow_(flow) {}

  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    if (!IsPlain(node)) return;
    for (const size_t at : {size_t{0}, size_t{1}}) {
      const Node* indices = flow_.ProducerNode(node.operands[at]);
      const ValueId number = BroadcastNumber(node.operands[1 - at]);
      if (indices == nullptr || indices->kind != OpKind::kIota || !number.valid()) continue;
      if (const auto dimension = IntegerOf(flow_, *indices, "iota_dimension")) {
        return Replace(id, at, number, *dimension);
      }
    }
  }

 private:
  // Of two operands of the result's shape, which has dimensions to spare.
  bool IsPlain(const Node& node) const {
    if (ir::Traits(node.kind).sort != ir::OpSort::kElementwise || node.kind == OpKind::kMap) return false;
    if (node.operands.size() != 2 || node.capture_count != 0 || node.result_count != 1) return false;
    const ir::Type& type = flow_.type(node.first_result);
    return type.has_static_shape() && type.dims.size() > 1 && flow_.type(node.operands[0]).dims == type.dims &&
           flow_.type(node.operands[1]).dims == type.dims;
  }

  // The scalar that a value is made of; invalid where it is not.
  ValueId BroadcastNumber(ValueId value) const {
    const Node* producer = flow_.ProducerNode(value);
    if (producer == nullptr || producer->kind != OpKind::kBroadcastInDim) return ValueId();
    return flow_.type(producer->operands[0]).dims.empty() ? producer->operands[0] : ValueId();
  }

  ir::TypeId VectorLike(ValueId value, int64_t dimension) {
    const int64_t size = flow_.type(value).dims[static_cast<size_t>(dimension)];
    return TensorLike(flow_.source(), flow_.type_id(value), {size});
  }

  void Replace(NodeId id, size_t at, ValueId number, int64_t dimension) {
    ir::Module& source = flow_.source();
    const ir::TypeId in = VectorLike(flow_.node(id).operands[at], dimension);
    const ValueId old = flow_.result(id);
    const ValueId indices =
        flow_.result(flow_.Add({.name = "stablehlo.iota",
                                .results = {in},
                                .attributes = {MakeAttribute(source, "iota_dimension", "0 : i64")}}));
    const ValueId numbers = BroadcastInDim(flow_, number, in, {});
    Node copy = flow_.Copy(id);
    copy.operands = {at == 0 ? indices : numbers, at == 0 ? numbers : indices};
    const ir::TypeId out = VectorLike(old, dimension);
    const ValueId vector = flow_.result(flow_.Add(std::move(copy), {&out, 1}));
    flow_.Replace(old, BroadcastInDim(flow_, vector, flow_.type_id(old), {dimension}));
  }

  Dataflow& flow_;
};

}  // namespace

void MakeIndexVectors(Dataflow& flow, PassContext&) {
  IndexVectorRewriter producer(flow);
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) producer.Visit(id);
  flow.Normalise();
}

}  // namespace hespas::optimise
