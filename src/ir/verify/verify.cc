#include "ir/verify/verify.h"

#include <string>
#include <unordered_map>

#include "base/text/hash.h"
#include "ir/verify/table.h"

namespace hespas::ir {
namespace verify {
namespace {

bool CheckCount(Check& check, const Count& allowed, size_t given, std::string_view what) {
  if (given >= allowed.least && (allowed.most == kMany || given <= allowed.most)) return true;
  if (allowed.most == kMany) {
    return check.Fail(kWrongCount, "{} or more {} are needed, but there are {}", allowed.least, what, given);
  }
  if (allowed.least == allowed.most) {
    return check.Fail(kWrongCount, "{} {} are needed, but there are {}", allowed.least, what, given);
  }
  return check.Fail(kWrongCount, "{} to {} {} are needed, but there are {}", allowed.least, allowed.most, what, given);
}

bool CheckCounts(Check& check, const OpRule& rule) {
  return CheckCount(check, rule.operands, check.operand_count(), "operands") &&
         CheckCount(check, rule.results, check.result_count(), "results") &&
         ((rule.regions.least == 0 && rule.regions.most == kMany) ||
          CheckCount(check, rule.regions, check.region_count(), "regions"));
}

bool CheckClass(Check& check, TypeId type, ClassMask allowed, std::string_view what, size_t i) {
  const ClassMask classes = check.facts()[type].classes;
  if (classes & allowed) return true;
  if (!check.ExpectSound(type)) return false;
  return check.Report(kWrongType,
                      fmt::format("{} {} has type `{}`, which the op does not take", what, i, check.text(type)),
                      fmt::format("possible are tensors of {}", ClassNames(allowed)));
}

bool CheckClasses(Check& check, const OpRule& rule) {
  for (size_t i = 0; i < check.operand_count(); ++i) {
    const ClassMask allowed = rule.operand_classes[i < 2 ? i : 2];
    if (!CheckClass(check, check.operand_type(i), allowed, "operand", i)) return false;
  }
  for (size_t i = 0; i < check.result_count(); ++i) {
    if (!CheckClass(check, check.result_type(i), rule.result_classes, "result", i)) return false;
  }
  return true;
}

// Compares every operand and result with the first of them.
class Alike {
 public:
  Alike(Check& check, uint8_t traits) : check_(check), traits_(traits) {}

  bool Holds() {
    if (check_.operand_count() == 0) return true;
    first_ = check_.operand_type(0);
    for (size_t i = 1; i < check_.operand_count(); ++i) {
      if (!Same(check_.operand_type(i), traits_ & (kSameElement | kSameOperandElement), "operand", i)) return false;
    }
    for (size_t i = 0; i < check_.result_count(); ++i) {
      const bool as_first = i == 0 && (traits_ & kSameElementAsFirst);
      if (!Same(check_.result_type(i), as_first || (traits_ & kSameElement), "result", i)) return false;
    }
    return true;
  }

 private:
  bool Same(TypeId type, bool elements, std::string_view what, size_t i) {
    if (type == first_) return true;
    const TypeTable& types = check_.module().types();
    if ((traits_ & kSameShape) && check_.facts()[first_].ranked && check_.facts()[type].ranked &&
        !CompatibleShapes(types[first_], types[type])) {
      return Fail(type, "shape", what, i);
    }
    if (elements && !CompatibleElements(check_.facts(), first_, type)) return Fail(type, "element type", what, i);
    if (elements && (traits_ & kSameShape) && !Compatible(check_.facts(), first_, type)) {
      return Fail(type, "bounds", what, i);
    }
    return true;
  }
  bool Fail(TypeId type, std::string_view part, std::string_view what, size_t i) {
    return check_.Report(kTypeMismatch,
                         fmt::format("operand 0 is `{}`, but {} {} is `{}`: their {} must agree", check_.text(first_),
                                     what, i, check_.text(type), part),
                         "correct the type, or convert the value before");
  }

  Check& check_;
  uint8_t traits_;
  TypeId first_;
};

bool CheckShapeSecond(Check& check) {
  const Type& list = check.operand(1);
  if (list.is_tensor() && list.dims.size() == 1 && list.dims[0] != kDynamic) return true;
  return check.Fail(kWrongType, "operand 1 must be a list of known length, not `{}`",
                    check.text(check.operand_type(1)));
}

bool CheckOp(Check& check, const OpRule& rule) {
  const bool ok = CheckCounts(check, rule) && (check.loose() || CheckClasses(check, rule)) &&
                  (rule.traits == kNoTrait || Alike(check, rule.traits).Holds()) &&
                  (!(rule.traits & kShapeSecond) || CheckShapeSecond(check));
  return ok && (!rule.rule || rule.rule(check));
}

// Rules by op name, looked up once for each name.
class RuleIndex {
 public:
  explicit RuleIndex(Origin origin) : origin_(origin) {}

  const OpRule* Find(const Module& module, const Op& op) {
    const size_t i = op.name.index();
    if (i >= known_.size()) {
      known_.resize(i + 1, false);
      rules_.resize(i + 1, nullptr);
    }
    if (!known_[i]) {
      known_[i] = true;
      rules_[i] = Look(module.name(op.name), op.kind);
    }
    return rules_[i];
  }

 private:
  const OpRule* Look(std::string_view name, OpKind kind) const {
    const OpRule* of_hlo = origin_ == Origin::kHlo ? FindHloRule(name) : nullptr;
    return of_hlo ? of_hlo : FindRule(name, kind);
  }

  Origin origin_;
  std::vector<char> known_;
  std::vector<const OpRule*> rules_;
};

// Ops that were found right, by all that their rules look at: equal ones need no second look.
class RightOps {
 public:
  explicit RightOps(const Module& module) : module_(module) {}

  // Whether ops of this rule can be told by a key; if so, the op's is kept for the two calls below.
  bool Begin(OpId id, const OpRule& rule) {
    const Op& op = module_.op(id);
    if (!rule.rule || (rule.traits & kAlways)) return false;
    if (op.attribute_count == 0 && !op.first_region.valid()) return false;
    key_.clear();
    AddWord(op.name.value);
    AddTypes(module_.operands(id));
    AddTypes(module_.results(id));
    for (const Attribute& attribute : module_.attributes(id)) {
      if (key_.size() + attribute.text.size() > kMostBytes) return false;
      if (module_.name(attribute.name) == "loc") continue;
      AddWord(attribute.name.value);
      AddWord(static_cast<uint32_t>(attribute.text.size()));
      key_.append(attribute.text);
    }
    for (RegionId region = op.first_region; region.valid(); region = module_.region(region).next) AddRegion(region);
    hash_ = HashBytes(key_).low;
    return true;
  }
  bool Known() const {
    const auto found = right_.find(hash_);
    return found != right_.end() && found->second == key_;
  }
  void Add() { right_.try_emplace(hash_, key_); }

 private:
  static constexpr size_t kMostBytes = 2048;

  void AddWord(uint32_t word) { key_.append(reinterpret_cast<const char*>(&word), sizeof word); }
  template <class Values>
  void AddTypes(const Values& values) {
    AddWord(static_cast<uint32_t>(values.size()));
    for (const ValueId value : values) AddWord(module_.type_id(value).value);
  }
  // What the first block takes, and what its last op hands on.
  void AddRegion(RegionId region) {
    const BlockId block = module_.region(region).first_block;
    AddWord(block.valid());
    if (!block.valid()) return;
    AddTypes(module_.arguments(block));
    const std::vector<OpId>& ops = module_.block(block).ops;
    AddWord(ops.empty() ? 0 : 1 + static_cast<uint32_t>(module_.kind(ops.back())));
    if (!ops.empty()) AddTypes(module_.operands(ops.back()));
  }

  const Module& module_;
  std::string key_;
  uint64_t hash_ = 0;
  std::unordered_map<uint64_t, std::string> right_;
};

// Whether ops read what was made before: in their own block, or in one around it. A module's own ops have no order.
class UseOrder {
 public:
  explicit UseOrder(const Module& module) : module_(module), place_(module.op_count(), 0) {}

  // To be called for every op in program order.
  void Visit(Check& check, OpId id) {
    place_[id.index()] = ++visited_;
    for (size_t i = 0; i < check.operand_count(); ++i) {
      const OpId maker = module_.defining_op(check.operands()[i]);
      if (maker.valid() && !IsBefore(maker, id)) {
        check.Report(kUseBeforeDefinition, fmt::format("operand {} is read before it is made", i),
                     "put the op that makes it in front of this one");
        return;
      }
    }
  }

 private:
  // Of blocks beside each other nothing is said: which comes first, branches decide.
  bool IsBefore(OpId maker, OpId use) const {
    const BlockId block = module_.op(maker).block;
    const OpId around = module_.parent_op(maker);
    if (around.valid() && module_.kind(around) == OpKind::kModule) return true;
    while (use.valid() && module_.op(use).block != block) use = module_.parent_op(use);
    return !use.valid() || (place_[maker.index()] != 0 && place_[maker.index()] < place_[use.index()]);
  }

  const Module& module_;
  std::vector<uint32_t> place_;  // by op, from 1; 0 before it was visited
  uint32_t visited_ = 0;
};

// Calls `visit` for every op below the root in program order, an op before those of its regions.
template <class Visit>
void ForEachOp(const Module& module, Visit visit) {
  struct Frame {
    BlockId block;
    RegionId region;
    size_t next = 0;
  };
  std::vector<Frame> stack;
  const auto enter = [&](RegionId region) {
    if (region.valid()) stack.push_back({module.region(region).first_block, region});
  };
  if (!module.root().valid()) return;
  enter(module.op(module.root()).first_region);
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (!frame.block.valid()) {
      const RegionId next = module.region(frame.region).next;
      stack.pop_back();
      enter(next);
      continue;
    }
    const Block& block = module.block(frame.block);
    if (frame.next == block.ops.size()) {
      frame.block = block.next;
      frame.next = 0;
      continue;
    }
    const OpId op = block.ops[frame.next++];
    visit(op);
    enter(module.op(op).first_region);
  }
}

}  // namespace
}  // namespace verify

void Verify(const Module& module, Origin origin, Diagnostics& diagnostics) {
  verify::TypeFactTable facts(module.types(), origin == Origin::kHlo);
  verify::RuleIndex rules(origin);
  verify::Check check(module, facts, diagnostics);
  verify::RightOps right(module);
  verify::UseOrder order(module);
  verify::ForEachOp(module, [&](OpId id) {
    check.Begin(id);
    order.Visit(check, id);
    const verify::OpRule* rule = rules.Find(module, module.op(id));
    if (!rule) return;
    const bool has_key = right.Begin(id, *rule);
    if (has_key && right.Known()) return;
    if (verify::CheckOp(check, *rule) && has_key) right.Add();
  });
}

}  // namespace hespas::ir
