// Arithmetic of indices with a number that is known late, as the first row of a shard: on a vector, which is spread
// afterwards (XLA's AlgebraicSimplifier moves broadcasts behind such ops).
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class VectorMaker {
 public:
  explicit VectorMaker(Dataflow& flow) : flow_(flow) {}

  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    if (!IsPlain(node)) return;
    for (const size_t at : {size_t{0}, size_t{1}}) {
      const Node* indices = flow_.MakerNode(node.operands[at]);
      const WireId number = SpreadNumber(node.operands[1 - at]);
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

  // The scalar that a wire is made of; invalid where it is not.
  WireId SpreadNumber(WireId wire) const {
    const Node* maker = flow_.MakerNode(wire);
    if (maker == nullptr || maker->kind != OpKind::kBroadcastInDim) return WireId();
    return flow_.type(maker->operands[0]).dims.empty() ? maker->operands[0] : WireId();
  }

  ir::TypeId VectorLike(WireId wire, int64_t dimension) {
    const int64_t size = flow_.type(wire).dims[static_cast<size_t>(dimension)];
    return TensorLike(flow_.source(), flow_.type_id(wire), {size});
  }

  void Replace(NodeId id, size_t at, WireId number, int64_t dimension) {
    ir::Module& source = flow_.source();
    const ir::TypeId in = VectorLike(flow_.node(id).operands[at], dimension);
    const WireId old = flow_.result(id);
    const WireId indices =
        flow_.result(flow_.Add({.name = "stablehlo.iota",
                                .results = {in},
                                .attributes = {MakeAttribute(source, "iota_dimension", "0 : i64")}}));
    const WireId numbers = BroadcastInDim(flow_, number, in, {});
    Node copy = flow_.Copy(id);
    copy.operands = {at == 0 ? indices : numbers, at == 0 ? numbers : indices};
    const ir::TypeId out = VectorLike(old, dimension);
    const WireId vector = flow_.result(flow_.Add(std::move(copy), {&out, 1}));
    flow_.Replace(old, BroadcastInDim(flow_, vector, flow_.type_id(old), {dimension}));
  }

  Dataflow& flow_;
};

}  // namespace

void MakeIndexVectors(Dataflow& flow, PassContext&) {
  VectorMaker maker(flow);
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) maker.Visit(id);
  flow.Normalise();
}

}  // namespace hespas::optimise
