#include "ir/facts/execution/trip_count.h"

#include <string_view>

#include "ir/attributes/attribute.h"

namespace hespas::ir {
namespace {

class Loop {
 public:
  Loop(const Module& module, OpId op)
      : module_(module), op_(op), test_(module.body(op, 0)), body_(module.body(op, 1)) {}

  std::optional<int64_t> Count() const {
    const OpId compare = Definition(Returned(test_, 0), OpKind::kCompare);
    if (!compare.valid() || module_.op(compare).operand_count != 2) return std::nullopt;
    const std::string_view* text = module_.attribute(compare, "comparison_direction");
    if (text == nullptr) return std::nullopt;
    std::string_view direction = AsEnum(*text);
    ValueId counter = Skip(module_.operands(compare)[0]);
    ValueId limit = Skip(module_.operands(compare)[1]);
    if (Carried(counter, test_) < 0 || !Step(Carried(counter, test_))) {
      std::swap(counter, limit);
      direction = Mirrored(direction);
    }
    const int64_t slot = Carried(counter, test_);
    if (slot < 0) return std::nullopt;
    const auto start = Constant(Operand(slot));
    const auto step = Step(slot);
    const auto end = Constant(limit);
    if (!start || !step || !end || *step == 0) return std::nullopt;
    return Iterations(*start, *end, *step, direction);
  }

 private:
  static std::string_view Mirrored(std::string_view direction) {
    if (direction == "LT") return "GT";
    if (direction == "LE") return "GE";
    if (direction == "GT") return "LT";
    if (direction == "GE") return "LE";
    return direction;
  }

  static std::optional<int64_t> Iterations(int64_t start, int64_t end, int64_t step, std::string_view direction) {
    constexpr int64_t kFar = int64_t{1} << 61;
    for (const int64_t x : {start, end, step}) {
      if (x > kFar || x < -kFar) return std::nullopt;
    }
    const int64_t distance = step > 0 ? end - start : start - end;
    const int64_t stride = step > 0 ? step : -step;
    const bool towards = direction.starts_with(step > 0 ? 'L' : 'G');
    if (towards && direction.ends_with('T')) return distance <= 0 ? 0 : (distance - 1) / stride + 1;
    if (towards && direction.ends_with('E')) return distance < 0 ? 0 : distance / stride + 1;
    if (direction == "NE" && distance >= 0 && distance % stride == 0) return distance / stride;
    return std::nullopt;
  }

  ValueId Returned(BlockId block, size_t index) const {
    if (!block.valid() || module_.block(block).ops.empty()) return ValueId();
    const auto values = module_.operands(module_.block(block).ops.back());
    return index < values.size() ? values[index] : ValueId();
  }

  OpId Definition(ValueId value, OpKind kind) const {
    if (!value.valid()) return OpId();
    const OpId op = module_.defining_op(Skip(value));
    return op.valid() && module_.kind(op) == kind ? op : OpId();
  }

  // Through conversions, reshapes and copies of one number, and into and out of fusions.
  ValueId Skip(ValueId value) const {
    constexpr int kLongest = 1000;
    for (int i = 0; i < kLongest && value.valid(); ++i) {
      const ValueId before = SkipOne(value);
      if (before == value) break;
      value = before;
    }
    return value;
  }

  ValueId SkipOne(ValueId value) const {
    const Value& v = module_.value(value);
    if (v.is_argument) {
      const RegionId region = module_.block(BlockId(size_t{v.owner})).region;
      const OpId holder = region.valid() ? module_.region(region).parent : OpId();
      const bool fused = holder.valid() && module_.kind(holder) == OpKind::kFusion;
      return fused && v.index < module_.op(holder).operand_count ? module_.operands(holder)[v.index] : value;
    }
    const OpId op = module_.defining_op(value);
    if (module_.kind(op) == OpKind::kFusion) {
      const ValueId inside = Returned(module_.body(op), value.index() - module_.op(op).first_result.index());
      return inside.valid() ? inside : value;
    }
    if (module_.op(op).operand_count != 1) return value;
    const OpKind kind = module_.kind(op);
    const bool same =
        kind == OpKind::kConvert || kind == OpKind::kReshape || kind == OpKind::kCopy || kind == OpKind::kBitcast;
    return same ? module_.operands(op)[0] : value;
  }

  // The index of a value carried by the loop, or -1.
  int64_t Carried(ValueId value, BlockId block) const {
    if (!value.valid() || !block.valid()) return -1;
    const Value& v = module_.value(value);
    return v.is_argument && v.owner == block.value ? static_cast<int64_t>(v.index) : -1;
  }

  ValueId Operand(int64_t slot) const {
    const auto operands = module_.operands(op_);
    return static_cast<size_t>(slot) < operands.size() ? operands[static_cast<size_t>(slot)] : ValueId();
  }

  // By how much the body changes a carried value.
  std::optional<int64_t> Step(int64_t slot) const {
    if (slot < 0) return std::nullopt;
    const ValueId next = Returned(body_, static_cast<size_t>(slot));
    for (const OpKind kind : {OpKind::kAdd, OpKind::kSubtract}) {
      const OpId op = Definition(next, kind);
      if (!op.valid() || module_.op(op).operand_count != 2) continue;
      const ValueId left = Skip(module_.operands(op)[0]);
      const ValueId right = Skip(module_.operands(op)[1]);
      if (Carried(left, body_) == slot) {
        const auto by = Constant(right);
        if (by) return kind == OpKind::kAdd ? *by : -*by;
      } else if (kind == OpKind::kAdd && Carried(right, body_) == slot) {
        return Constant(left);
      }
    }
    return std::nullopt;
  }

  // A constant, here, outside, or carried unchanged from one.
  std::optional<int64_t> Constant(ValueId value) const {
    value = Skip(value);
    for (const BlockId block : {test_, body_}) {
      const int64_t slot = Carried(value, block);
      if (slot < 0) continue;
      const ValueId next = Returned(body_, static_cast<size_t>(slot));
      if (!next.valid() || Carried(Skip(next), body_) != slot) return std::nullopt;
      value = Skip(Operand(slot));
      break;
    }
    if (!value.valid()) return std::nullopt;
    const OpId op = module_.defining_op(value);
    if (!op.valid() || module_.kind(op) != OpKind::kConstant || module_.type(value).element_count() != 1)
      return std::nullopt;
    const std::string_view* text = module_.attribute(op, "value");
    return text == nullptr ? std::nullopt : AsInteger(*text);
  }

  const Module& module_;
  OpId op_;
  BlockId test_;
  BlockId body_;
};

}  // namespace

std::optional<int64_t> TripCount(const Module& module, OpId loop) {
  // XLA has worked it out before fusing the loop's condition.
  if (const std::string_view* known = module.attribute(loop, "known_trip_count")) return AsInteger(*known);
  if (const std::string_view* assumed = module.attribute(loop, kAssumedTripCount)) return AsInteger(*assumed);
  return Loop(module, loop).Count();
}

bool TestsEachIteration(const Module& module, OpId loop) {
  return module.attribute(loop, kAssumedTripCount) != nullptr || !TripCount(module, loop);
}

}  // namespace hespas::ir
