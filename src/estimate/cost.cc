#include "estimate/cost.h"

#include <algorithm>

#include "estimate/cost_rules.h"
#include "estimate/fusion_cost.h"
#include "ir/walk.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingAdd;
using ir::OpKind;
using ir::OpSort;

// Only the rows that are touched move: read and written once each, and the indices.
int64_t GatherBytes(const Shapes& s) { return SaturatingAdd(Times(2, s.out_bytes()), s.in_bytes(1)); }

// Updates are read, their places read and written, in the operand's own buffer.
int64_t ScatterBytes(const Shapes& s) {
  const size_t inputs = s.inputs() / 2;  // operands, indices, updates
  int64_t updates = 0;
  for (size_t i = inputs + 1; i < s.inputs(); ++i) updates = SaturatingAdd(updates, s.in_bytes(i));
  return SaturatingAdd(Times(3, updates), s.in_bytes(inputs));
}

int64_t ScatterFlops(const Shapes& s) {
  int64_t elements = 0;
  for (size_t i = s.inputs() / 2 + 1; i < s.inputs(); ++i) elements = SaturatingAdd(elements, s.in_elements(i));
  return elements;
}

int64_t MapFlops(const Shapes& s) {
  int64_t ops = 0;
  ir::WalkNested(s.module, s.op,
                 [&](ir::OpId inner) { ops += ir::Traits(s.module.kind(inner)).sort == OpSort::kElementwise; });
  return Times(std::max<int64_t>(ops, 1), s.out_elements());
}

// Operations on real numbers that one on complex numbers takes.
int64_t RealOperations(OpKind kind, const Shapes& s) {
  if (!IsComplex(s)) return 1;
  if (kind == OpKind::kMultiply) return 6;
  return kind == OpKind::kAdd || kind == OpKind::kSubtract ? 2 : 1;
}

OpCost ElementwiseCost(const Shapes& s) {
  const OpKind kind = s.module.kind(s.op);
  if (kind == OpKind::kBitcastConvert) return {};
  const int64_t flops = kind == OpKind::kMap ? MapFlops(s) : Times(RealOperations(kind, s), s.out_elements());
  return {.flops = flops, .bytes = s.all()};
}

OpCost LayoutCost(const Shapes& s) {
  if (s.module.kind(s.op) == OpKind::kBitcast) return {};
  return {.bytes = s.all()};
}

OpCost SliceCost(const Shapes& s) {
  if (s.module.kind(s.op) == OpKind::kDynamicUpdateSlice) return {.bytes = Times(2, s.in_bytes(1))};
  return {.bytes = Times(2, s.out_bytes())};
}

// Infeeds and outfeeds cross the host's link; sends and receives the network.
OpCost TransferCost(const Shapes& s) {
  const OpKind kind = s.module.kind(s.op);
  if (kind != OpKind::kInfeed && kind != OpKind::kOutfeed) return {.bytes = s.all()};
  return {.bytes = s.all(), .own_kernel = true, .host_bytes = s.all()};
}

bool IsFloat(const ir::Element& element) {
  return element.kind >= ir::ElementKind::kF64 && element.kind <= ir::ElementKind::kF6E3M2FN;
}

// Whether a matmul of the two runs as one of `a`: mixed operands are converted to the wider.
bool Outranks(const ir::Element& a, const ir::Element& b) {
  if (IsFloat(a) != IsFloat(b)) return IsFloat(a);
  return ir::ElementBits(a) > ir::ElementBits(b);
}

// Of a dot's two operands; of a call's, the first arrays that are no tables of indices.
const ir::Element* FactorElement(const ir::Module& module, ir::OpId op) {
  const bool call = module.kind(op) == OpKind::kCustomCall;
  const ir::Element* found = nullptr;
  size_t factors = 0;
  for (const ir::ValueId operand : module.operands(op)) {
    const ir::Type& type = module.type(operand);
    if (type.element.kind == ir::ElementKind::kNone || (call && type.dims.size() < 2)) continue;
    const bool replaces = found == nullptr || Outranks(type.element, *found);
    if (replaces && !(call && found != nullptr && IsFloat(*found))) found = &type.element;
    if (!call && ++factors == 2) break;
  }
  return found;
}

}  // namespace

OpCost CostOf(const ir::Module& module, ir::OpId op) {
  const Shapes s{module, op};
  switch (ir::Traits(module.kind(op)).sort) {
    case OpSort::kElementwise:
      return ElementwiseCost(s);
    case OpSort::kReduction:
      return ReductionCost(s);
    case OpSort::kContraction:
      return ContractionCost(s);
    case OpSort::kLayout:
      return LayoutCost(s);
    case OpSort::kSlice:
      return SliceCost(s);
    case OpSort::kGather:
      return {.bytes = GatherBytes(s)};
    case OpSort::kScatter:
      return {.flops = ScatterFlops(s), .bytes = ScatterBytes(s)};
    case OpSort::kSort:
      return SortCost(s);
    case OpSort::kRandom:
      return {.flops = s.out_elements(s.outputs() > 1 ? 1 : 0), .bytes = s.all()};
    case OpSort::kTransfer:
      return TransferCost(s);
    case OpSort::kFusion:
      return FusionCost(module, op);
    case OpSort::kCustomCall:
      return CustomCallCost(s);
    case OpSort::kOther:
      return OtherCost(s);
    case OpSort::kUnknown:
      return {.bytes = s.all(), .known = false};
    case OpSort::kConstant:
    case OpSort::kFree:
    case OpSort::kCollective:
    case OpSort::kAsync:
    case OpSort::kControl:
    case OpSort::kCall:
    case OpSort::kTerminator:
    case OpSort::kStructure:
      return {};
  }
  return {};
}

const ir::Element* RateElement(const ir::Module& module, ir::OpId op, bool contraction) {
  if (contraction) {
    const ir::Element* factor = FactorElement(module, op);
    if (factor != nullptr) return factor;
  }
  const ir::Element* widest = nullptr;
  const auto consider = [&](ir::ValueId value) {
    const ir::Element& element = module.type(value).element;
    if (element.kind == ir::ElementKind::kNone) return;
    if (widest == nullptr || ir::ElementBits(element) > ir::ElementBits(*widest)) widest = &element;
  };
  for (const ir::ValueId operand : module.operands(op)) consider(operand);
  for (const ir::ValueId result : module.results(op)) consider(result);
  return widest;
}

double HostSeconds(const hardware::Device& device, const OpCost& cost) {
  constexpr BytesPerSecond kUsual{32e9};
  if (cost.host_bytes == 0) return 0;
  return static_cast<double>(cost.host_bytes) / device.host_bandwidth.value_or(kUsual).value;
}

bool HasDynamicShape(const ir::Module& module, ir::OpId op) {
  const auto dynamic = [&](ir::ValueId value) {
    const ir::Type& type = module.type(value);
    return type.kind == ir::TypeKind::kUnrankedTensor ||
           std::find(type.dims.begin(), type.dims.end(), ir::kDynamic) != type.dims.end();
  };
  const auto operands = module.operands(op);
  if (std::any_of(operands.begin(), operands.end(), dynamic)) return true;
  for (const ir::ValueId result : module.results(op)) {
    if (dynamic(result)) return true;
  }
  return false;
}

}  // namespace hespas::estimate
