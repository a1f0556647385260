#include "transform/unwrap_manual.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "ir/attributes/attribute.h"
#include "ir/facts/library_call.h"
#include "ir/facts/shardings.h"
#include "ir/walk.h"

namespace hespas::transform {
namespace {

using ir::OpId;
using ir::OpKind;
using ir::Tiling;
using ir::ValueId;

// What one value of `main` becomes: another value, a local type, and how it is divided where it is global.
struct Fate {
  ValueId value;                    // that stands in its place
  std::optional<ir::TypeId> local;  // its type on a device
  std::optional<Tiling> tiling;     // nullopt: the program leaves it open
};

class Unwrapper {
 public:
  explicit Unwrapper(ir::Module& module)
      : module_(module), axes_(ir::MeshAxesOf(module)), main_(module.main()), block_(module.body(main_)) {}

  // Reads first, so that nothing is changed where the answer is no.
  bool Plan() {
    if (!block_.valid() || module_.block(block_).next.valid()) return false;
    fates_.resize(module_.value_count());
    local_.resize(module_.value_count());
    for (size_t i = 0; i < fates_.size(); ++i) fates_[i].value = ValueId(i);
    PlanArguments();
    for (const OpId op : module_.block(block_).ops) {
      if (!PlanOp(op)) return false;
    }
    return manual_ && PlanResults() && LocaliseUnused();
  }

  void Apply() {
    std::vector<OpId> ops;
    for (const OpId op : module_.block(block_).ops) {
      if (IsManual(op)) {
        const auto& inner = module_.block(module_.body(op)).ops;
        ops.insert(ops.end(), inner.begin(), inner.end() - 1);  // without sdy.return
      } else if (!IsMarker(op)) {
        ops.push_back(op);
      }
    }
    module_.SetBlockOps(block_, std::move(ops));
    for (const ValueId argument : module_.arguments(block_)) {
      if (const auto local = fates_[argument.index()].local) module_.SetValueType(argument, *local);
    }
    ir::WalkNested(module_, main_, [&](OpId op) {
      const auto operands = module_.operands(op);
      for (size_t i = 0; i < operands.size(); ++i) module_.SetOperand(op, i, FinalOf(module_.operands(op)[i]));
    });
    RewriteSignature();
  }

 private:
  bool IsManual(OpId op) const { return module_.kind(op) == OpKind::kManualComputation; }

  // A GSPMD op that only says where its operand lies.
  bool IsMarker(OpId op) const {
    const std::string target = ir::CallTarget(module_, op);
    return target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape";
  }

  Fate& FateOf(ValueId value) { return fates_[value.index()]; }

  ValueId FinalOf(ValueId value) const {
    while (value.index() < fates_.size() && fates_[value.index()].value != value) value = fates_[value.index()].value;
    return value;
  }

  void PlanArguments() {
    const std::string_view* text = module_.attribute(main_, "arg_attrs");
    if (text == nullptr) return;
    const auto items = ir::ListItems(*text);
    const auto arguments = module_.arguments(block_);
    for (size_t i = 0; i < items.size() && i < arguments.size(); ++i) {
      FateOf(arguments[i]).tiling = ir::TilingOfAttributes(items[i], axes_);
    }
  }

  bool PlanOp(OpId op) {
    if (IsManual(op)) return PlanManual(op);
    if (IsMarker(op)) return PlanMarker(op);
    const OpKind kind = module_.kind(op);
    if (kind == OpKind::kReturn || kind == OpKind::kConstant) return true;
    // A call between the markers works on local values alone.
    const auto operands = module_.operands(op);
    const bool local = std::all_of(operands.begin(), operands.end(), [&](ValueId value) { return IsLocal(value); });
    return kind == OpKind::kFuncCall && local && MarkLocal(op);
  }

  bool MarkLocal(OpId op) {
    for (const ValueId result : module_.results(op)) local_[result.index()] = true;
    return true;
  }

  bool IsLocal(ValueId value) const { return local_[value.index()]; }

  // Whether `value` can be handed over as a device's part of type `type`, divided as `wanted` says.
  bool Hand(ValueId value, const std::optional<Tiling>& wanted, ir::TypeId type) {
    const ValueId source = FinalOf(value);
    const std::optional<Tiling>& has = FateOf(value).tiling ? FateOf(value).tiling : FateOf(source).tiling;
    const OpId maker = module_.defining_op(source);
    if (maker.valid()) {
      if (module_.kind(maker) == OpKind::kConstant && source == value) return !wanted || wanted->replicated();
      return source != value && (!has || !wanted || SamePlace(*has, *wanted));  // the result of a manual computation
    }
    Fate& fate = FateOf(source);
    if ((fate.local && *fate.local != type) || (has && wanted && !SamePlace(*has, *wanted))) return false;
    fate.local = type;
    return true;
  }

  static bool SamePlace(const Tiling& a, const Tiling& b) { return a.replicated() ? b.replicated() : a == b; }

  std::vector<std::optional<Tiling>> TilingsOf(OpId op, std::string_view name, size_t count) const {
    std::vector<std::optional<Tiling>> out(count);
    const std::string_view* text = module_.attribute(op, name);
    const size_t open = text == nullptr ? std::string_view::npos : text->find('[');
    if (open == std::string_view::npos) return out;
    const auto items = ir::ListItems(text->substr(open, text->rfind(']') + 1 - open));
    for (size_t i = 0; i < items.size() && i < count; ++i) out[i] = ir::TilingOf(items[i], axes_);
    return out;
  }

  bool AllAxesAreManual(OpId op) const {
    const std::string_view* text = module_.attribute(op, "manual_axes");
    return text != nullptr && std::all_of(axes_.begin(), axes_.end(), [&](const auto& axis) {
             return axis.second == 1 || text->find('"' + axis.first + '"') != std::string_view::npos;
           });
  }

  bool PlanManual(OpId op) {
    const ir::BlockId body = module_.body(op);
    if (!body.valid() || module_.block(body).ops.empty() || !AllAxesAreManual(op)) return false;
    const auto operands = module_.operands(op);
    const auto arguments = module_.arguments(body);
    const auto results = module_.results(op);
    const auto returned = module_.operands(module_.block(body).ops.back());
    if (operands.size() != arguments.size() || results.size() != returned.size()) return false;
    const auto in = TilingsOf(op, "in_shardings", operands.size());
    const auto out = TilingsOf(op, "out_shardings", results.size());
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!Hand(operands[i], in[i], module_.type_id(arguments[i]))) return false;
      FateOf(arguments[i]).value = operands[i];
    }
    for (size_t i = 0; i < results.size(); ++i) FateOf(results[i]) = {.value = returned[i], .tiling = out[i]};
    manual_ = true;
    return true;
  }

  bool PlanMarker(OpId op) {
    if (module_.operands(op).size() != 1 || module_.op(op).result_count != 1) return false;
    const std::string target = ir::CallTarget(module_, op);
    const ValueId operand = module_.operands(op)[0];
    const ValueId result = module_.result(op);
    const std::string_view* text = module_.attribute(op, "mhlo.sharding");
    if (text == nullptr) return false;
    const bool manual = text->find("{manual}") != std::string_view::npos;
    if (target == "SPMDFullToShardShape") {
      if (!manual || !Hand(operand, std::nullopt, module_.type_id(result))) return false;
      manual_ = true;
      MarkLocal(op);
    } else if (manual != IsLocal(operand) && target == "Sharding") {
      return false;
    } else if (manual) {
      MarkLocal(op);
    } else if (!PlanGlobalMarker(operand, *text, target)) {
      return false;
    }
    FateOf(result).value = operand;
    if (!manual) FateOf(result).tiling = ir::TilingOf(*text, axes_);
    return true;
  }

  // A value that is pinned to where it lies already, or a local one that becomes part of a global one.
  bool PlanGlobalMarker(ValueId operand, std::string_view text, std::string_view target) {
    const auto wanted = ir::TilingOf(text, axes_);
    if (!wanted) return false;
    if (target == "SPMDShardToFullShape") return IsLocal(operand);
    Fate& fate = FateOf(operand);
    if (fate.tiling && !SamePlace(*fate.tiling, *wanted)) return false;
    fate.tiling = wanted;
    return true;
  }

  bool PlanResults() {
    const std::string_view* text = module_.attribute(main_, "res_attrs");
    const auto items = text == nullptr ? std::vector<std::string_view>() : ir::ListItems(*text);
    const auto returned = module_.operands(module_.block(block_).ops.back());
    for (size_t i = 0; i < returned.size(); ++i) {
      const auto wanted = i < items.size() ? ir::TilingOfAttributes(items[i], axes_) : std::nullopt;
      const auto& has = FateOf(returned[i]).tiling;
      if (wanted && has && !SamePlace(*wanted, *has)) return false;
    }
    return true;
  }

  // Arguments that only pass through or that nothing reads are divided as they say.
  bool LocaliseUnused() {
    for (const ValueId argument : module_.arguments(block_)) {
      Fate& fate = FateOf(argument);
      if (fate.local || !fate.tiling) continue;
      ir::Type type = module_.type(argument);
      for (size_t d = 0; d < fate.tiling->parts.size(); ++d) {
        const int64_t parts = fate.tiling->parts[d];
        if (parts == 1) continue;
        if (d >= type.dims.size() || parts < 1 || type.dims[d] % parts != 0) return false;
        type.dims[d] /= parts;
      }
      fate.local = module_.types().Intern(std::move(type));
    }
    return true;
  }

  void RewriteSignature() {
    std::vector<ir::TypeId> inputs;
    std::vector<ir::TypeId> results;
    for (const ValueId argument : module_.arguments(block_)) inputs.push_back(module_.type_id(argument));
    for (const ValueId value : module_.operands(module_.block(block_).ops.back()))
      results.push_back(module_.type_id(value));
    std::vector<ir::Attribute> attributes(module_.attributes(main_).begin(), module_.attributes(main_).end());
    for (ir::Attribute& attribute : attributes) {
      const std::string_view name = module_.name(attribute.name);
      if (name == "function_type") {
        attribute.text = module_.Keep(module_.types().Text(module_.types().InternFunction(inputs, results)));
      } else if (name == "arg_attrs" || name == "res_attrs") {
        attribute.text = module_.Keep(WithoutShardings(attribute.text));
      }
    }
    module_.SetAttributes(main_, attributes);
  }

  static std::string WithoutShardings(std::string_view text) {
    std::vector<std::string> out;
    for (const std::string_view item : ir::ListItems(text)) {
      std::vector<std::string> kept;
      for (const ir::Entry& entry : ir::Entries(item)) {
        if (entry.name == "sdy.sharding" || entry.name == "mhlo.sharding") continue;
        kept.push_back(entry.value.empty() ? std::string(entry.name) : fmt::format("{} = {}", entry.name, entry.value));
      }
      out.push_back(fmt::format("{{{}}}", fmt::join(kept, ", ")));
    }
    return fmt::format("[{}]", fmt::join(out, ", "));
  }

  ir::Module& module_;
  const ir::MeshAxes axes_;
  const OpId main_;
  const ir::BlockId block_;
  std::vector<Fate> fates_;
  std::vector<bool> local_;  // by value: it stands between GSPMD's markers
  bool manual_ = false;
};

}  // namespace

bool UnwrapManual(ir::Module& module) {
  Unwrapper unwrapper(module);
  if (!unwrapper.Plan()) return false;
  unwrapper.Apply();
  return true;
}

}  // namespace hespas::transform
