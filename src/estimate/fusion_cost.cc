#include "estimate/fusion_cost.h"

#include <algorithm>

#include "base/units.h"
#include "ir/facts/fusion.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingAdd;
using ir::OpKind;

int64_t BytesOf(const ir::Module& module, ir::ValueId value) {
  return ir::ByteSize(module.types(), module.type_id(value));
}

bool Renames(const ir::Module& module, ir::OpId op) {
  const OpKind kind = module.kind(op);
  return module.op(op).operand_count == 1 &&
         (kind == OpKind::kBitcast || kind == OpKind::kReshape || kind == OpKind::kCopy);
}

class Boundary {
 public:
  Boundary(const ir::Module& module, ir::OpId fusion, ir::BlockId body)
      : module_(module),
        fusion_(fusion),
        body_(body),
        touched_(module.block(body).argument_count, 0),
        whole_(module.block(body).argument_count, false) {}

  int64_t Bytes() {
    for (const ir::OpId op : module_.block(body_).ops) Visit(op);
    int64_t bytes = ResultBytes();
    const auto operands = module_.operands(fusion_);
    for (size_t i = 0; i < operands.size(); ++i) {
      const int64_t all = BytesOf(module_, operands[i]);
      const bool partial = i < whole_.size() && !whole_[i];
      bytes = SaturatingAdd(bytes, partial ? std::min(touched_[i], all) : all);
    }
    return bytes;
  }

 private:
  // Index of the parameter that `value` is, or -1.
  int64_t Parameter(ir::ValueId value) const {
    const ir::Value& v = module_.value(value);
    return v.is_argument && v.owner == body_.value ? static_cast<int64_t>(v.index) : -1;
  }

  void Visit(ir::OpId op) {
    if (Renames(module_, op)) return;  // what reads the new name counts
    const auto operands = module_.operands(op);
    for (size_t i = 0; i < operands.size(); ++i) {
      const int64_t parameter = Parameter(Origin(module_, operands[i]));
      if (parameter < 0) continue;
      const auto p = static_cast<size_t>(parameter);
      if (i == 0 && ReadsPart(op)) {
        touched_[p] = SaturatingAdd(touched_[p], BytesOf(module_, module_.result(op)));
      } else if (!(i == 0 && ir::UpdateOf(module_, op).valid())) {
        whole_[p] = true;
      }
    }
  }

  bool ReadsPart(ir::OpId op) const {
    const OpKind kind = module_.kind(op);
    return kind == OpKind::kSlice || kind == OpKind::kDynamicSlice || kind == OpKind::kGather;
  }

  // Written to where it belongs; a scatter reads what was there.
  int64_t UpdateBytes(ir::OpId op) const {
    const int64_t update = BytesOf(module_, ir::UpdateOf(module_, op));
    return module_.kind(op) == OpKind::kScatter ? SaturatingAdd(update, update) : update;
  }

  int64_t ResultBytes() const {
    const auto& ops = module_.block(body_).ops;
    int64_t bytes = 0;
    if (ops.empty()) return bytes;
    for (const ir::ValueId returned : module_.operands(ops.back())) {
      const ir::OpId maker = module_.defining_op(Origin(module_, returned));
      const bool in_place = maker.valid() && ir::UpdateOf(module_, maker).valid() &&
                            Parameter(Origin(module_, module_.operands(maker)[0])) >= 0;
      bytes = SaturatingAdd(bytes, in_place ? UpdateBytes(maker) : BytesOf(module_, returned));
    }
    return bytes;
  }

  const ir::Module& module_;
  ir::OpId fusion_;
  ir::BlockId body_;
  std::vector<int64_t> touched_;  // bytes read by slices, by parameter
  std::vector<bool> whole_;       // read by something else
};

}  // namespace

ir::ValueId Origin(const ir::Module& module, ir::ValueId value) {
  for (ir::OpId op = module.defining_op(value); op.valid(); op = module.defining_op(value)) {
    if (!Renames(module, op)) return value;
    value = module.operands(op)[0];
  }
  return value;
}

OpCost FusionCost(const ir::Module& module, ir::OpId fusion) {
  OpCost total;
  for (const ir::OpId op : FusedOps(module, fusion)) {
    const OpCost cost = CostOf(module, op);
    total.flops = SaturatingAdd(total.flops, cost.flops);
    total.contraction |= cost.contraction;
    total.steps += cost.steps;
  }
  const ir::BlockId body = FusionBody(module, fusion);
  if (body.valid()) {
    total.bytes = Boundary(module, fusion, body).Bytes();
    return total;
  }
  for (const ir::ValueId value : module.operands(fusion))
    total.bytes = SaturatingAdd(total.bytes, BytesOf(module, value));
  for (const ir::ValueId value : module.results(fusion))
    total.bytes = SaturatingAdd(total.bytes, BytesOf(module, value));
  return total;
}

}  // namespace hespas::estimate
