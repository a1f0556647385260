// bf16 arithmetic the device does not have runs in f32 between converts (XLA's FloatNormalization), and what is
// converted to bf16 only to be widened again stays wide (SimplifyFPConversions).
#include <algorithm>
#include <unordered_map>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/dataflow/reducer.h"
#include "optimise/fusion/policy.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

// From which compute capability an op exists for bf16 (XLA's GpuFloatSupport).
struct Native {
  OpKind kind;
  int since;
};
constexpr Native kNative[] = {
    {OpKind::kExponential, 80}, {OpKind::kLog, 80},      {OpKind::kMaximum, 80},        {OpKind::kMinimum, 80},
    {OpKind::kAdd, 90},         {OpKind::kMultiply, 90}, {OpKind::kSubtract, 90},       {OpKind::kConvert, 0},
    {OpKind::kSelect, 0},       {OpKind::kCompare, 0},   {OpKind::kReducePrecision, 0}, {OpKind::kBitcastConvert, 0},
};

class Normaliser {
 public:
  // `exact`: roundings that the program asks for stay, and nothing but moving data exists in bf16 (CPU).
  Normaliser(Dataflow& flow, int capability, bool exact) : flow_(flow), capability_(capability), exact_(exact) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      for (ValueId& operand : flow_.node(id).operands) operand = flow_.Resolve(operand);
      const Node& node = flow_.node(id);
      if (node.result_count != 1 || node.capture_count != 0 || !node.bodies.empty()) continue;
      const OpSort sort = ir::Traits(node.kind).sort;
      if (node.kind == OpKind::kConvert) {
        SimplifyConvert(id);
      } else if ((sort == OpSort::kElementwise || (exact_ && sort == OpSort::kContraction)) && !IsNative(node.kind) &&
                 !HasRegion(node.origin)) {
        Widen(id, ir::OpId());
      } else if (node.kind == OpKind::kReduce) {
        WidenReduce(id);
      }
    }
    flow_.Normalise();
  }

 private:
  bool IsNative(OpKind kind) const {
    const auto* found =
        std::find_if(std::begin(kNative), std::end(kNative), [&](const Native& n) { return n.kind == kind; });
    return found != std::end(kNative) && (exact_ ? 0 : capability_) >= found->since;
  }

  static bool IsBf16(const ir::Type& type) {
    return type.is_tensor() && type.element.kind == ir::ElementKind::kBF16 && !type.element.complex;
  }

  ir::TypeId Wide(ir::TypeId type) {
    const auto [found, is_new] = wide_.try_emplace(type);
    if (is_new) {
      ir::Type wide = flow_.source().types()[type];
      wide.element = ir::Element{.kind = ir::ElementKind::kF32, .bits = 32};
      found->second = flow_.source().types().Intern(std::move(wide));
    }
    return found->second;
  }

  ValueId Convert(ValueId value, ir::TypeId type, ir::OpId origin) {
    const Node* producer = flow_.ProducerNode(value);
    // Widened, narrowed, widened: the first value, as XLA's excess precision allows.
    if (!exact_ && !through_bitcast_ && producer != nullptr && producer->kind == OpKind::kConvert &&
        flow_.type_id(producer->operands[0]) == type)
      return producer->operands[0];
    if (producer != nullptr && producer->kind == OpKind::kBroadcastInDim)
      return ConvertBroadcast(flow_.producer(value), type);
    return flow_.result(
        flow_.Add({.name = "stablehlo.convert", .operands = {value}, .results = {type}, .origin = origin}));
  }

  // What is broadcast is widened once, before.
  ValueId ConvertBroadcast(NodeId broadcast, ir::TypeId type) {
    Node made = flow_.Copy(broadcast);
    const ir::TypeId narrow = flow_.type_id(made.operands[0]);
    made.operands = {Convert(made.operands[0], Wide(narrow), PlainOrigin(made.origin))};
    const std::vector<ir::TypeId> types{type};
    return flow_.result(flow_.Add(std::move(made), types));
  }

  // bf16 -> f32 -> bf16 is exact; f32 -> bf16 -> f32 only drops a rounding.
  void SimplifyConvert(NodeId id) {
    const ValueId input = flow_.node(id).operands[0];
    const Node* before = flow_.ProducerNode(input);
    if (before == nullptr || before->kind != OpKind::kConvert) return;
    const ValueId source = before->operands[0];
    const bool floats = IsFloat(source) && IsFloat(input);
    if (exact_ && !IsBf16(flow_.type(source))) return;
    if (floats && flow_.type_id(source) == flow_.type_id(flow_.result(id))) flow_.Replace(flow_.result(id), source);
  }

  bool IsFloat(ValueId value) const {
    const ir::Type& type = flow_.type(value);
    return IsBf16(type) || type.element.kind == ir::ElementKind::kF32;
  }

  void WidenReduce(NodeId id) {
    const Node& node = flow_.node(id);
    if (node.own_operand_count() != 2 || !IsBf16(flow_.type(node.operands[0]))) return;
    const OpKind combines = ReducerKind(flow_.source(), node.origin);
    if (combines == OpKind::kUnknown || IsNative(combines)) return;
    through_bitcast_ = !exact_ && ReadsBitcast(node);
    Widen(id, ReducerFor(flow_.source(), node.origin, Wide(flow_.type_id(node.operands[0]))));
    through_bitcast_ = false;
  }

  // XLA's reductions read a bitcast without unit dimensions and with neighbouring reduced dimensions as one: a rounding
  // in front of it is not met by the convert after it.
  bool ReadsBitcast(const Node& reduce) const {
    const auto& dims = flow_.type(reduce.operands[0]).dims;
    if (std::find(dims.begin(), dims.end(), 1) != dims.end()) return true;
    const auto reduced = IntegersOf(flow_, reduce, "dimensions");
    return reduced && std::any_of(reduced->begin(), reduced->end(), [&](int64_t d) {
             return std::find(reduced->begin(), reduced->end(), d + 1) != reduced->end();
           });
  }

  // The same op on widened operands; `origin` replaces its own where its region has to change, too.
  void Widen(NodeId id, ir::OpId origin) {
    const ValueId old = flow_.result(id);
    const auto& operands = flow_.node(id).operands;
    const bool narrow = IsBf16(flow_.type(old)) ||
                        std::any_of(operands.begin(), operands.end(), [&](ValueId o) { return IsBf16(flow_.type(o)); });
    if (!narrow) return;
    Node made = flow_.Copy(id);
    const ir::OpId place = made.origin;
    if (origin.valid()) made.origin = origin;
    for (ValueId& operand : made.operands) {
      if (IsBf16(flow_.type(operand))) operand = Convert(operand, Wide(flow_.type_id(operand)), PlainOrigin(place));
    }
    const bool converts_back = IsBf16(flow_.type(old));
    const std::vector<ir::TypeId> types{converts_back ? Wide(flow_.type_id(old)) : flow_.type_id(old)};
    const ValueId wide = flow_.result(flow_.Add(std::move(made), types));
    if (!converts_back) return flow_.Replace(old, wide);
    flow_.Replace(old, flow_.result(flow_.Add({.name = "stablehlo.convert",
                                               .operands = {wide},
                                               .results = {flow_.type_id(old)},
                                               .origin = PlainOrigin(place)})));
  }

  bool HasRegion(ir::OpId origin) const { return origin.valid() && flow_.source().op(origin).first_region.valid(); }

  // A convert takes its location from an op without regions only; others would bring theirs along.
  ir::OpId PlainOrigin(ir::OpId origin) const { return HasRegion(origin) ? ir::OpId() : origin; }

  Dataflow& flow_;
  int capability_;
  bool exact_;
  bool through_bitcast_ = false;  // the operands of a reduction are converted
  std::unordered_map<ir::TypeId, ir::TypeId> wide_;
};

}  // namespace

void NormaliseFloats(Dataflow& flow, PassContext& context) {
  Normaliser(flow, context.bf16_capability, context.policy->RoundsEachOp()).Run();
}

}  // namespace hespas::optimise
