#include "estimate/roofline/prototype_roofline.h"

#include <fmt/format.h>

#include <algorithm>

#include "estimate/composite.h"
#include "estimate/fusion_cost.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/walk.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingAdd;
using internal::SaturatingMultiply;
using ir::OpKind;

// Which formula of spec python-prototype section 10 an op follows.
enum class Rule : uint8_t {
  kUnhandled,
  kFree,
  kBinary,
  kTernary,
  kUnary,
  kMove,
  kConcatenate,
  kGather,
  kScatter,
  kSlice,
  kUpdateSlice,
  kConvolution,
  kDot,
  kReduce,
  kReduceWindow,
  kSelectAndScatter,
  kSort,
  kRaggedDot,
  kFusion,
  kCustomCall,
};

struct RuleRow {
  std::string_view name;
  Rule rule;
};

// clang-format off
constexpr RuleRow kRules[] = {
    {"stablehlo.add", Rule::kBinary}, {"stablehlo.subtract", Rule::kBinary}, {"stablehlo.multiply", Rule::kBinary},
    {"stablehlo.divide", Rule::kBinary}, {"stablehlo.compare", Rule::kBinary}, {"stablehlo.maximum", Rule::kBinary},
    {"stablehlo.minimum", Rule::kBinary}, {"stablehlo.and", Rule::kBinary}, {"stablehlo.or", Rule::kBinary},
    {"stablehlo.xor", Rule::kBinary}, {"stablehlo.clamp", Rule::kTernary}, {"stablehlo.select", Rule::kTernary},
    {"stablehlo.abs", Rule::kUnary}, {"stablehlo.tanh", Rule::kUnary}, {"stablehlo.is_finite", Rule::kUnary},
    {"stablehlo.convert", Rule::kUnary}, {"stablehlo.exponential", Rule::kUnary}, {"stablehlo.sign", Rule::kUnary},
    {"stablehlo.log", Rule::kUnary}, {"stablehlo.negate", Rule::kUnary}, {"stablehlo.power", Rule::kUnary},
    {"stablehlo.cosine", Rule::kUnary}, {"stablehlo.rsqrt", Rule::kUnary}, {"stablehlo.sqrt", Rule::kUnary},
    {"stablehlo.logistic", Rule::kUnary}, {"stablehlo.sine", Rule::kUnary},
    {"stablehlo.round_nearest_even", Rule::kUnary}, {"stablehlo.not", Rule::kUnary},
    {"stablehlo.constant", Rule::kFree}, {"stablehlo.iota", Rule::kFree}, {"stablehlo.partition_id", Rule::kFree},
    {"stablehlo.replica_id", Rule::kFree}, {"stablehlo.get_tuple_element", Rule::kFree},
    {"stablehlo.optimization_barrier", Rule::kFree}, {"stablehlo.real", Rule::kFree}, {"stablehlo.imag", Rule::kFree},
    {"stablehlo.complex", Rule::kFree}, {"func.return", Rule::kFree}, {"func.call", Rule::kFree},
    {"stablehlo.return", Rule::kFree}, {"mhlo.return", Rule::kFree},
    {"stablehlo.transpose", Rule::kMove}, {"stablehlo.reshape", Rule::kMove},
    {"stablehlo.broadcast_in_dim", Rule::kMove}, {"stablehlo.pad", Rule::kMove}, {"stablehlo.reverse", Rule::kMove},
    {"stablehlo.reduce_precision", Rule::kMove}, {"mhlo.bitcast", Rule::kMove}, {"mhlo.copy", Rule::kMove},
    {"stablehlo.concatenate", Rule::kConcatenate}, {"stablehlo.gather", Rule::kGather},
    {"stablehlo.scatter", Rule::kScatter}, {"stablehlo.slice", Rule::kSlice},
    {"stablehlo.dynamic_slice", Rule::kSlice}, {"stablehlo.dynamic_update_slice", Rule::kUpdateSlice},
    {"stablehlo.convolution", Rule::kConvolution}, {"stablehlo.dot_general", Rule::kDot},
    {"stablehlo.dot", Rule::kDot}, {"stablehlo.reduce", Rule::kReduce},
    {"stablehlo.reduce_window", Rule::kReduceWindow}, {"stablehlo.select_and_scatter", Rule::kSelectAndScatter},
    {"stablehlo.sort", Rule::kSort}, {"mhlo.ragged_dot", Rule::kRaggedDot}, {"mhlo.fusion", Rule::kFusion},
    {"stablehlo.custom_call", Rule::kCustomCall},
};
// clang-format on

Rule RuleOf(std::string_view name) {
  for (const RuleRow& row : kRules) {
    if (row.name == name) return row.rule;
  }
  return Rule::kUnhandled;
}

// Leaf types of values, tuples flattened.
std::vector<ir::TypeId> Leaves(const ir::Module& module, auto values) {
  std::vector<ir::TypeId> leaves;
  std::vector<ir::TypeId> todo;
  for (const ir::ValueId value : values) {
    todo.push_back(module.type_id(value));
    while (!todo.empty()) {
      const ir::TypeId id = todo.back();
      todo.pop_back();
      const ir::Type& type = module.types()[id];
      if (type.kind == ir::TypeKind::kTuple || type.kind == ir::TypeKind::kAsyncBundle) {
        todo.insert(todo.end(), type.nested.rbegin(), type.nested.rend());
      } else {
        leaves.push_back(id);
      }
    }
  }
  return leaves;
}

struct Counts {
  int64_t flops = 0;
  int64_t bytes = 0;
  bool handled = true;
};

class Counter {
 public:
  Counter(const ir::Module& module, ir::OpId op)
      : module_(module), op_(op), in_(Leaves(module, module.operands(op))), out_(Leaves(module, module.results(op))) {}

  Counts Count() const {
    switch (RuleOf(module_.name(op_))) {
      case Rule::kUnhandled:
        return {.bytes = Sum(AllIn(), AllOut()), .handled = false};
      case Rule::kFree:
        return {};
      case Rule::kBinary:
        return {.flops = Elements(out_), .bytes = Sum(In(0), In(1), Out(0))};
      case Rule::kTernary:
        return {.flops = Elements(out_), .bytes = Sum(Sum(In(0), In(1), In(2)), Out(0))};
      case Rule::kUnary:
        return {.flops = Elements(out_), .bytes = Sum(In(0), Out(0))};
      case Rule::kMove:
        return {.bytes = Sum(In(0), Out(0))};
      case Rule::kConcatenate:
        return {.bytes = Sum(AllIn(), Out(0))};
      case Rule::kGather:
      case Rule::kUpdateSlice:
        return {.bytes = Sum(In(0), In(1), Out(0))};
      case Rule::kScatter:
        return {.bytes = Sum(In(0), out_.size() > 1 ? In(1) : 0, Out(0))};
      case Rule::kSlice:
        return {.bytes = SaturatingMultiply(2, Out(0))};
      case Rule::kConvolution:
        return {.flops = Convolution(), .bytes = Sum(In(0), In(1), Out(0))};
      case Rule::kDot:
        return {.flops = Dot(), .bytes = Sum(In(0), In(1), Out(0))};
      case Rule::kReduce:
        return {.flops = Reduce(), .bytes = Sum(In(0), Out(0))};
      case Rule::kReduceWindow:
        return {.flops = Times(Window(), Elements(out_)), .bytes = Sum(In(0), In(1), Out(0))};
      case Rule::kSelectAndScatter:
        return {.flops = Times(Window(), Elements(in_, 1)), .bytes = Sum(In(0), In(1), Out(0))};
      case Rule::kSort:
        return {.bytes = Sort()};
      case Rule::kRaggedDot:
        return {.flops = RaggedDot(), .bytes = Sum(Sum(In(0), In(1), In(2)), Out(0))};
      case Rule::kFusion:
        return Fusion();
      case Rule::kCustomCall:
        return CustomCall();
    }
    return {};
  }

  // The widest of all element types, the first of equals.
  const ir::Element* Widest() const {
    const ir::Element* widest = nullptr;
    for (const auto* list : {&in_, &out_}) {
      for (const ir::TypeId id : *list) {
        const ir::Element& element = module_.types()[id].element;
        if (element.kind == ir::ElementKind::kNone) continue;
        if (widest == nullptr || ir::ElementBits(element) > ir::ElementBits(*widest)) widest = &element;
      }
    }
    return widest;
  }

 private:
  static int64_t Times(int64_t a, int64_t b) { return SaturatingMultiply(a, b); }
  static int64_t Sum(int64_t a, int64_t b, int64_t c = 0) { return SaturatingAdd(SaturatingAdd(a, b), c); }
  int64_t Bytes(const std::vector<ir::TypeId>& list, size_t i) const {
    return i < list.size() ? PrototypeBytes(module_, list[i]) : 0;
  }
  int64_t In(size_t i) const { return Bytes(in_, i); }
  int64_t Out(size_t i) const { return Bytes(out_, i); }
  int64_t All(const std::vector<ir::TypeId>& list) const {
    int64_t sum = 0;
    for (size_t i = 0; i < list.size(); ++i) sum = Sum(sum, Bytes(list, i));
    return sum;
  }
  int64_t AllIn() const { return All(in_); }
  int64_t AllOut() const { return All(out_); }
  int64_t Elements(const std::vector<ir::TypeId>& list, size_t i = 0) const {
    return i < list.size() ? module_.types()[list[i]].element_count() : 0;
  }
  const std::vector<int64_t>& Dims(const std::vector<ir::TypeId>& list, size_t i) const {
    static const std::vector<int64_t> kScalar;
    return i < list.size() ? module_.types()[list[i]].dims : kScalar;
  }
  static int64_t At(const std::vector<int64_t>& dims, size_t i) { return i < dims.size() ? dims[i] : 1; }

  // Kernel dimensions by position, whatever the dimension numbers say.
  int64_t Convolution() const {
    const std::vector<int64_t>& kernel = Dims(in_, 1);
    return Times(Times(2, Elements(out_)), Times(At(kernel, 0), Times(At(kernel, 1), At(kernel, 2))));
  }

  int64_t Dot() const {
    const auto dims = ir::DotDimensionsOf(module_, op_);
    int64_t depth = 1;
    if (dims) {
      for (const int64_t d : dims->lhs_contracting) depth = Times(depth, At(Dims(in_, 0), static_cast<size_t>(d)));
    }
    return Times(Times(2, Elements(out_)), depth);
  }

  int64_t Reduce() const {
    const auto dims = ir::IntegersAttribute(module_, op_, "dimensions");
    int64_t reduced = 1;
    if (dims) {
      for (const int64_t d : *dims) reduced = Times(reduced, At(Dims(in_, 0), static_cast<size_t>(d)));
    }
    return Times(reduced - 1, Elements(out_));
  }

  // Applications of the body for one window.
  int64_t Window() const {
    const auto window = ir::WindowOf(module_, op_);
    int64_t size = 1;
    if (window) {
      for (const ir::WindowDimension& w : *window) size = Times(size, w.size);
    }
    return std::max<int64_t>(size - 1, 0);
  }

  int64_t Sort() const {
    const int64_t bits = in_.empty() ? 8 : ir::ElementBits(module_.types()[in_[0]].element);
    const int64_t passes = std::max<int64_t>(1, (bits + 7) / 8);
    return Times(Times(2, static_cast<int64_t>(in_.size())), Times(In(0), passes));
  }

  int64_t RaggedDot() const {
    const std::vector<int64_t>& lhs = Dims(in_, 0);
    const std::vector<int64_t>& rhs = Dims(in_, 1);
    const std::vector<int64_t>& out = Dims(out_, 0);
    if (lhs.empty() || out.size() < 2) return 0;
    const int64_t work = Times(Times(2, Times(out[out.size() - 2], out.back())), lhs.back());
    const bool one_group = lhs.size() == rhs.size();
    const int64_t batch = out.size() == (one_group ? 3u : 2u) ? 1 : out[0];
    return Times(Times(work, batch), one_group ? 1 : At(rhs, 0));
  }

  Counts Fusion() const {
    Counts total{.bytes = Sum(AllIn(), AllOut())};
    for (const ir::OpId inner : FusedOps(module_, op_)) {
      const Counts counts = Counter(module_, inner).Count();
      total.flops = Sum(total.flops, counts.flops);
      total.handled &= counts.handled;
    }
    return total;
  }

  Counts CustomCall() const {
    const std::string_view* target = module_.attribute(op_, "call_target_name");
    if (target == nullptr) return {};
    if (target->find("conv") != std::string_view::npos) {
      return {.flops = Convolution(), .bytes = Sum(In(0), In(1), Out(0))};
    }
    if (target->find("TopK") != std::string_view::npos) return {.bytes = Sum(In(0), AllOut())};
    return {};
  }

  const ir::Module& module_;
  ir::OpId op_;
  std::vector<ir::TypeId> in_;
  std::vector<ir::TypeId> out_;
};

ir::OpId CalledFunction(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) != OpKind::kFuncCall) return ir::OpId();
  const std::string_view* callee = module.attribute(op, "callee");
  return callee == nullptr ? ir::OpId() : module.FindSymbol(ir::AsSymbol(*callee));
}

}  // namespace

PrototypeRates PrototypeRates::Of(const hardware::Device& device) {
  PrototypeRates rates{.peak_flops = device.peak_flops.value, .memory_bandwidth = device.memory_bandwidth.value};
  for (const auto& [datatype, rate] : device.per_datatype_flops)
    rates.per_datatype_flops.emplace_back(datatype, rate.value);
  return rates;
}

const double* PrototypeRates::Find(std::string_view datatype) const {
  for (const auto& [name, rate] : per_datatype_flops) {
    if (name == datatype) return &rate;
  }
  return nullptr;
}

int64_t PrototypeBytes(const ir::Module& module, ir::TypeId id) {
  const ir::Type& type = module.types()[id];
  if (type.element.kind == ir::ElementKind::kNone) return 0;
  const int64_t bits = SaturatingMultiply(type.element_count(), ir::ElementBits(type.element));
  return std::max<int64_t>(1, bits % 8 == 0 ? bits / 8 : (bits + 8) / 8);
}

std::vector<ir::OpId> PrototypeExpansion(const ir::Module& module, ir::OpId root) {
  constexpr size_t kMost = size_t{1} << 24;  // calls that double at every level would never end
  struct Frame {
    ir::OpId function;
    std::vector<ir::OpId> ops;
    size_t next = 0;
  };
  std::vector<ir::OpId> expanded;
  std::vector<Frame> stack;
  const auto visit = [&](ir::OpId op) {
    const ir::OpId function = CalledFunction(module, op);
    const bool open = std::any_of(stack.begin(), stack.end(), [&](const Frame& f) { return f.function == function; });
    if (!function.valid() || open) {
      expanded.push_back(op);
      return;
    }
    Frame frame{.function = function};
    ir::WalkNested(module, function, [&](ir::OpId inner) {
      if (module.name(inner) != "func.return") frame.ops.push_back(inner);
    });
    stack.push_back(std::move(frame));
  };
  visit(root);
  while (!stack.empty() && expanded.size() < kMost) {
    if (stack.back().next == stack.back().ops.size()) {
      stack.pop_back();
    } else {
      visit(stack.back().ops[stack.back().next++]);
    }
  }
  return expanded;
}

PrototypeOp EstimatePrototypeOp(const ir::Module& module, ir::OpId op, const PrototypeRates& rates) {
  const Counter counter(module, op);
  const Counts counts = counter.Count();
  PrototypeOp out{
      .op = op, .name = module.name(op), .flops = counts.flops, .bytes = counts.bytes, .handled = counts.handled};
  if (const ir::Element* widest = counter.Widest()) {
    ir::Element component = *widest;
    component.complex = false;
    out.datatype = ir::ElementText(component);
  }
  double compute = 0;
  if (counts.flops != 0) {
    double rate = rates.peak_flops;
    if (!rates.per_datatype_flops.empty()) {
      const bool promoted =
          out.datatype == "f32" && (out.name == "stablehlo.dot_general" || out.name == "stablehlo.convolution");
      const double* found = promoted ? rates.Find("tf32") : nullptr;
      if (found == nullptr) found = rates.Find(out.datatype);
      out.unknown_datatype = found == nullptr;
      if (found != nullptr) rate = *found;
    }
    compute = static_cast<double>(counts.flops) / rate;
  }
  const double memory = counts.bytes != 0 ? static_cast<double>(counts.bytes) / rates.memory_bandwidth : 0;
  out.seconds = std::max(compute, memory);
  return out;
}

PrototypeRoofline::PrototypeRoofline(PrototypeRates rates) : rates_(std::move(rates)) {
  std::string text = fmt::format("roofline of the prototype 1|{}|{}", rates_.peak_flops, rates_.memory_bandwidth);
  for (const auto& [name, rate] : rates_.per_datatype_flops) text += fmt::format("|{}={}", name, rate);
  key_ = HashBytes(text);
}

graph::Estimate PrototypeRoofline::EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const {
  graph::Block block;
  block.ops = {op};
  return EstimateBlock(module, block, notes);
}

graph::Estimate PrototypeRoofline::EstimateBlock(const ir::Module& module, const graph::Block& block,
                                                 Notes& notes) const {
  Work work;
  for (const ir::OpId op : block.ops) {
    for (const ir::OpId inner : PrototypeExpansion(module, op)) {
      const PrototypeOp estimate = EstimatePrototypeOp(module, inner, rates_);
      if (!estimate.handled) notes.push_back({NoteKind::kNoRule, inner, std::string(estimate.name)});
      if (estimate.unknown_datatype) notes.push_back({NoteKind::kUnknownDatatype, inner, estimate.datatype});
      Work part{.seconds = estimate.seconds, .flops = estimate.flops, .bytes = estimate.bytes};
      part.memory_seconds = static_cast<double>(estimate.bytes) / rates_.memory_bandwidth;
      part.compute_seconds = estimate.seconds > part.memory_seconds ? estimate.seconds : 0;
      work += part;
    }
  }
  return ToEstimate(work, name());
}

}  // namespace hespas::estimate
