// Dots with vectors as multiplications and sums, which fuse with what stands around them (XLA's AlgebraicSimplifier,
// dot strength reduction, with the GPU's choice in transforms/algebraic_simplifier.cc).
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/units.h"
#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/dataflow/reducer.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// One operand of a dot. Places: where its dimensions stand in the product of both.
struct Side {
  ValueId value;
  Dimensions dims;
  Dimensions batching;
  Dimensions contracting;
  Dimensions places;

  bool IsFree(size_t d) const { return !Holds(batching, d) && !Holds(contracting, d); }
  int64_t FreeSize() const {
    int64_t size = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (IsFree(d)) size = internal::SaturatingMultiply(size, dims[d]);
    }
    return size;
  }
  int64_t ContractingSize() const {
    int64_t size = 1;
    for (const int64_t d : contracting) size = internal::SaturatingMultiply(size, dims[static_cast<size_t>(d)]);
    return size;
  }
};

// No contraction at all, two vectors, or a vector with a matrix where both together are small.
bool IsReduced(const Side& lhs, const Side& rhs) {
  const int64_t left = lhs.FreeSize();
  const int64_t right = rhs.FreeSize();
  if (lhs.ContractingSize() == 1 || (left == 1 && right == 1)) return true;
  return (left == 1 || right == 1) && (left + right) * lhs.ContractingSize() < gpu_rules::kSmallVectorDot;
}

bool IsPlainFloat(const ir::Type& type) {
  const ir::ElementKind kind = type.element.kind;
  return !type.element.complex && (kind == ir::ElementKind::kF64 || kind == ir::ElementKind::kF32 ||
                                   kind == ir::ElementKind::kF16 || kind == ir::ElementKind::kBF16);
}

class Reducer {
 public:
  explicit Reducer(Dataflow& flow) : flow_(flow), source_(flow.source()) {}

  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    if (node.operands.size() != 2 || !node.origin.valid() || flow_.attribute(node, "algorithm") != nullptr) return;
    const auto numbers = ir::DotDimensionsOf(source_, node.origin);
    const ValueId result = flow_.result(id);
    for (const ValueId value : {node.operands[0], node.operands[1], result}) {
      const ir::Type& type = flow_.type(value);
      if (!type.has_static_shape() || type.element_count() == 0 || !IsPlainFloat(type)) return;
    }
    if (!numbers) return;
    Side lhs = SideOf(node.operands[0], numbers->lhs_batching, numbers->lhs_contracting);
    Side rhs = SideOf(node.operands[1], numbers->rhs_batching, numbers->rhs_contracting);
    if (IsReduced(lhs, rhs)) flow_.Replace(result, Product(lhs, rhs, result));
  }

 private:
  Side SideOf(ValueId value, const Dimensions& batching, const Dimensions& contracting) const {
    const Dimensions& dims = flow_.type(value).dims;
    return {value, dims, batching, contracting, Dimensions(dims.size(), -1)};
  }

  ValueId Add(NodeInit init) { return flow_.result(flow_.Add(std::move(init))); }

  ValueId Convert(ValueId value, ir::TypeId element) {
    const ir::TypeId type = TensorLike(source_, element, flow_.type(value).dims);
    if (type == flow_.type_id(value)) return value;
    return Add({.name = "stablehlo.convert", .operands = {value}, .results = {type}});
  }

  // The larger operand keeps the order of its dimensions; the other's own come last.
  ValueId Product(Side& lhs, Side& rhs, ValueId result) {
    const bool swapped = optimise::Product(rhs.dims) > optimise::Product(lhs.dims);
    Side& large = swapped ? rhs : lhs;
    Side& small = swapped ? lhs : rhs;
    Dimensions dims = large.dims;
    std::iota(large.places.begin(), large.places.end(), 0);
    for (size_t d = 0; d < small.dims.size(); ++d) {
      if (small.IsFree(d)) {
        small.places[d] = static_cast<int64_t>(dims.size());
        dims.push_back(small.dims[d]);
      }
    }
    const auto share = [&](const Dimensions& from, const Dimensions& to) {
      for (size_t i = 0; i < from.size(); ++i) small.places[static_cast<size_t>(from[i])] = to[i];
    };
    share(small.batching, large.batching);
    share(small.contracting, large.contracting);
    const bool narrow = ir::ElementBits(flow_.type(result).element) < 32;
    const ir::TypeId element = narrow ? ScalarType(source_, "f32") : TensorLike(source_, flow_.type_id(result), {});
    const ir::TypeId type = TensorLike(source_, element, dims);
    const ValueId product = Add({.name = "stablehlo.multiply",
                                 .operands = {Broadcast(lhs, element, type), Broadcast(rhs, element, type)},
                                 .results = {type}});
    const ValueId ordered = InOrder(Sum(product, large, element), lhs, rhs, large);
    return Convert(ReshapeTo(flow_, ordered, TensorLike(source_, element, flow_.type(result).dims)),
                   TensorLike(source_, flow_.type_id(result), {}));
  }

  // Dimensions that the other side has in another order are transposed first.
  ValueId Broadcast(const Side& side, ir::TypeId element, ir::TypeId type) {
    ValueId value = Convert(side.value, element);
    Dimensions order(side.places.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return side.places[static_cast<size_t>(a)] < side.places[static_cast<size_t>(b)];
    });
    Dimensions places = side.places;
    if (!std::is_sorted(places.begin(), places.end())) {
      value = Transpose(flow_, value, order);
      std::sort(places.begin(), places.end());
    }
    return flow_.type_id(value) == type ? value : BroadcastInDim(flow_, value, type, places);
  }

  ValueId Sum(ValueId product, const Side& large, ir::TypeId element) {
    if (large.contracting.empty()) return product;
    Dimensions kept;
    for (size_t d = 0; d < flow_.type(product).dims.size(); ++d) {
      if (!Holds(large.contracting, d)) kept.push_back(flow_.type(product).dims[d]);
    }
    Dimensions summed = large.contracting;
    std::sort(summed.begin(), summed.end());
    const ValueId zero = Zeros(flow_, element);
    return Add({.name = "stablehlo.reduce",
                .operands = {product, zero},
                .results = {TensorLike(source_, element, kept)},
                .attributes = {MakeAttribute(source_, "dimensions", ArrayText(summed))},
                .origin = RegionHolder(source_, "stablehlo.reduce", Addition(element))});
  }

  ir::RegionId Addition(ir::TypeId scalar) {
    const ir::BlockId block = source_.AddBlock(std::vector<ir::TypeId>{scalar, scalar});
    const std::vector<ir::ValueId> arguments{source_.arguments(block)[0], source_.arguments(block)[1]};
    const std::vector<ir::TypeId> types{scalar};
    const ir::OpId sum = source_.AddOp(
        block, {.name = source_.InternName("stablehlo.add"), .operands = arguments, .result_types = types});
    const std::vector<ir::ValueId> results{source_.result(sum)};
    source_.AddOp(block, {.name = source_.InternName("stablehlo.return"), .operands = results});
    return source_.AddRegion(std::vector<ir::BlockId>{block});
  }

  // Batches, then what is the left operand's own, then the right one's.
  ValueId InOrder(ValueId sum, const Side& lhs, const Side& rhs, const Side& large) {
    Dimensions order;
    for (const int64_t d : lhs.batching) order.push_back(lhs.places[static_cast<size_t>(d)]);
    for (const Side* side : {&lhs, &rhs}) {
      for (size_t d = 0; d < side->dims.size(); ++d) {
        if (side->IsFree(d)) order.push_back(side->places[d]);
      }
    }
    for (int64_t& place : order) {
      place -= std::count_if(large.contracting.begin(), large.contracting.end(), [&](int64_t d) { return d < place; });
    }
    return std::is_sorted(order.begin(), order.end()) ? sum : Transpose(flow_, sum, order);
  }

  Dataflow& flow_;
  ir::Module& source_;
};

}  // namespace

void ReduceVectorDots(Dataflow& flow, PassContext&) {
  Reducer reducer(flow);
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    const OpKind kind = flow.node(id).kind;
    if (kind == OpKind::kDotGeneral || kind == OpKind::kDot) reducer.Visit(id);
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
