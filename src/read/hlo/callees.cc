#include "read/hlo/callees.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text/suggest.h"
#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {
namespace {

class Resolver {
 public:
  Resolver(const ModuleSyntax& syntax, const ShapeTable& shapes, ir::Module& module, Diagnostics& diagnostics)
      : syntax_(syntax), shapes_(shapes), module_(module), diagnostics_(diagnostics) {
    for (size_t i = 0; i < syntax.computations.size(); ++i) {
      by_name_.emplace(syntax.computations[i].name, static_cast<uint32_t>(i));
    }
    named_.resize(syntax.computations.size());
    out_.computations.resize(syntax.computations.size());
    out_.kind_of.resize(syntax.instructions.size());
  }

  CallGraph Run() {
    for (size_t c = 0; c < syntax_.computations.size() && diagnostics_.wants_more(); ++c) CollectParameters(c);
    if (!diagnostics_.has_errors()) CheckEntry();
    for (size_t i = 0; i < syntax_.instructions.size() && diagnostics_.wants_more(); ++i) Resolve(i);
    for (size_t c = 0; c < syntax_.computations.size(); ++c) {
      if (!named_[c]) out_.computations[c].is_function = true;
    }
    return std::move(out_);
  }

 private:
  void CollectParameters(size_t index) {
    const ComputationSyntax& computation = syntax_.computations[index];
    ComputationFacts& facts = out_.computations[index];
    const auto instructions = syntax_.instructions_of(computation);
    constexpr uint32_t kMissing = 0xFFFFFFFFu;
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (instructions[i].opcode != "parameter") continue;
      const std::string_view text = instructions[i].literal;
      size_t number = instructions.size();
      std::from_chars(text.data(), text.data() + text.size(), number);
      if (number >= instructions.size()) return ReportParameter(instructions[i]);
      if (number >= facts.parameters.size()) facts.parameters.resize(number + 1, kMissing);
      if (facts.parameters[number] != kMissing) return ReportParameter(instructions[i]);
      facts.parameters[number] = static_cast<uint32_t>(i);
    }
    for (const uint32_t parameter : facts.parameters) {
      if (parameter == kMissing) return ReportParameter(instructions[0]);
      facts.leaf_offsets.push_back(static_cast<uint32_t>(facts.argument_types.size()));
      const auto leaves = shapes_.leaves(instructions[parameter].shape);
      facts.argument_types.insert(facts.argument_types.end(), leaves.begin(), leaves.end());
    }
  }

  // Of a text that was cut off, a callee may be the last computation and thereby its entry.
  void CheckEntry() {
    const auto fits = [&](std::optional<ShapeId> announced, std::span<const ir::TypeId> leaves) {
      return !announced || shapes_.CompatibleLeaves(shapes_.leaves(*announced), leaves);
    };
    const ComputationSyntax& entry = syntax_.computations[syntax_.entry];
    const ShapeId result = syntax_.instructions[entry.first_instruction + entry.root].shape;
    if (fits(syntax_.entry_parameters, out_.computations[syntax_.entry].argument_types) &&
        fits(syntax_.entry_result, shapes_.leaves(result))) {
      return;
    }
    diagnostics_.Error(
        kShapeMismatch,
        fmt::format("computation `{}` does not take or return what entry_computation_layout says", entry.name),
        module_.LocationAt(entry.source),
        entry.is_entry ? "correct one of the two" : "no computation is marked ENTRY: the text seems cut off");
  }

  void ReportParameter(const InstructionSyntax& at) {
    diagnostics_.Error(kBadParameters, "the parameters of this computation are not numbered 0, 1, 2, ...",
                       module_.LocationAt(at.source));
  }

  void Resolve(size_t index) {
    const InstructionSyntax& instruction = syntax_.instructions[index];
    Resolved resolved;
    const auto [known, is_new] = opcodes_.try_emplace(instruction.opcode);
    if (is_new) known->second = FindOpcode(instruction.opcode);
    resolved.opcode = known->second;
    const std::string_view op = resolved.opcode.hlo;
    const auto attributes = syntax_.attributes_of(instruction);
    if (resolved.opcode.name.empty() && resolved.opcode.lowering == Lowering::kPlain) WarnUnknown(instruction);
    // The start of `fusion-start` names its computations as the fusion does.
    const bool halved = resolved.opcode.lowering == Lowering::kSugaredStart;
    switch (halved ? FindOpcode(op).lowering : resolved.opcode.lowering) {
      case Lowering::kFusion:
        Require(instruction, attributes, "calls", resolved.regions);
        break;
      case Lowering::kCall:
        Require(instruction, attributes, "to_apply", resolved.functions);
        break;
      case Lowering::kAsyncStart:
        Require(instruction, attributes, "calls", resolved.functions);
        break;
      case Lowering::kWhile:
        Require(instruction, attributes, "condition", resolved.regions);
        Require(instruction, attributes, "body", resolved.regions);
        break;
      case Lowering::kConditional:
        Branches(instruction, attributes, resolved.regions);
        break;
      default:
        Plain(instruction, attributes, op == "custom-call" ? resolved.functions : resolved.regions);
    }
    for (const uint32_t f : resolved.functions) out_.computations[f].is_function = true;
    resolved.name = Name(instruction, resolved.opcode);
    out_.kind_of[index] = Keep(instruction, std::move(resolved));
  }

  uint32_t Keep(const InstructionSyntax& instruction, Resolved resolved) {
    const auto next = static_cast<uint32_t>(out_.kinds.size());
    if (resolved.regions.empty() && resolved.functions.empty() && plain_names_.contains(instruction.opcode)) {
      const auto [found, is_new] = shared_.try_emplace(instruction.opcode, next);
      if (!is_new) return found->second;
    }
    out_.kinds.push_back(std::move(resolved));
    return next;
  }

  void Plain(const InstructionSyntax& instruction, std::span<const AttributeSyntax> attributes,
             std::vector<uint32_t>& into) {
    for (const std::string_view key : {"select", "scatter", "to_apply", "called_computations"}) {
      const std::string_view value = ValueOf(attributes, key);
      if (!value.empty()) Computations(instruction, value, into);
    }
  }

  void Branches(const InstructionSyntax& instruction, std::span<const AttributeSyntax> attributes,
                std::vector<uint32_t>& into) {
    const std::string_view list = ValueOf(attributes, "branch_computations");
    if (!list.empty()) return Computations(instruction, list, into);
    Require(instruction, attributes, "true_computation", into);
    Require(instruction, attributes, "false_computation", into);
  }

  ir::NameId Name(const InstructionSyntax& instruction, const Opcode& opcode) {
    if (opcode.lowering == Lowering::kConditional || opcode.hlo == "all-to-all") {
      return module_.InternName(NameOf(instruction, opcode));
    }
    ir::NameId& name = plain_names_[instruction.opcode];
    if (!name.valid()) name = module_.InternName(NameOf(instruction, opcode));
    return name;
  }

  std::string NameOf(const InstructionSyntax& instruction, const Opcode& opcode) const {
    if (opcode.lowering == Lowering::kConditional) return IsTwoWay(instruction) ? "stablehlo.if" : "stablehlo.case";
    // A tuple all-to-all has an operand per member; stablehlo's form splits one array.
    if (opcode.hlo == "all-to-all" && ValueOf(syntax_.attributes_of(instruction), "dimensions").empty()) {
      return "mhlo.all_to_all";
    }
    if (!opcode.name.empty()) return std::string(opcode.name);
    std::string name = fmt::format("mhlo.{}", opcode.hlo);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
  }

  bool IsTwoWay(const InstructionSyntax& instruction) const {
    if (!ValueOf(syntax_.attributes_of(instruction), "true_computation").empty()) return true;
    if (instruction.operand_count == 0) return false;
    const auto of = std::upper_bound(syntax_.computations.begin(), syntax_.computations.end(),
                                     static_cast<uint32_t>(&instruction - syntax_.instructions.data()),
                                     [](uint32_t i, const ComputationSyntax& c) { return i < c.first_instruction; });
    const size_t selector = (of - 1)->first_instruction + syntax_.operands_of(instruction)[0];
    const auto leaves = shapes_.leaves(syntax_.instructions[selector].shape);
    return leaves.size() == 1 && module_.types()[leaves[0]].element.bits == 1;
  }

  void Require(const InstructionSyntax& instruction, std::span<const AttributeSyntax> attributes, std::string_view key,
               std::vector<uint32_t>& into) {
    const std::string_view value = ValueOf(attributes, key);
    if (!value.empty()) return Computations(instruction, value, into);
    diagnostics_.Error(kBadAttribute, fmt::format("`{}` needs the attribute `{}`", instruction.opcode, key),
                       module_.LocationAt(instruction.source));
  }

  // `%name` or `{%name, %name}`.
  void Computations(const InstructionSyntax& instruction, std::string_view value, std::vector<uint32_t>& into) {
    Scanner scan(value);
    const bool list = scan.Take('{');
    do {
      const std::string_view name = scan.Name();
      if (name.empty()) return;
      const auto found = by_name_.find(name);
      if (found == by_name_.end()) return ReportUnknown(instruction, name);
      named_[found->second] = true;
      into.push_back(found->second);
    } while (list && scan.Take(','));
  }

  void ReportUnknown(const InstructionSyntax& instruction, std::string_view name) {
    std::vector<std::string> known;
    for (const ComputationSyntax& c : syntax_.computations) known.emplace_back(c.name);
    const auto nearest = Nearest(name, known);
    diagnostics_.Error(kUnknownComputation, fmt::format("there is no computation `{}`", name),
                       module_.LocationAt(instruction.source),
                       nearest ? fmt::format("did you mean `{}`?", *nearest) : "");
  }

  void WarnUnknown(const InstructionSyntax& instruction) {
    if (std::find(warned_.begin(), warned_.end(), instruction.opcode) != warned_.end()) return;
    constexpr size_t kMaximumWarnings = 20;
    if (warned_.size() >= kMaximumWarnings) return;
    warned_.push_back(instruction.opcode);
    const std::string nearest = NearestOpcode(instruction.opcode);
    diagnostics_.Warning(kUnknownOpcode, fmt::format("unknown opcode `{}`", instruction.opcode),
                         module_.LocationAt(instruction.source),
                         nearest.empty() ? "" : fmt::format("did you mean `{}`?", nearest));
  }

  const ModuleSyntax& syntax_;
  const ShapeTable& shapes_;
  ir::Module& module_;
  Diagnostics& diagnostics_;
  CallGraph out_;
  std::unordered_map<std::string_view, uint32_t> by_name_;
  std::unordered_map<std::string_view, Opcode> opcodes_;
  std::unordered_map<std::string_view, ir::NameId> plain_names_;  // of opcodes whose name does not depend on operands
  std::unordered_map<std::string_view, uint32_t> shared_;         // kinds of opcodes without callees
  std::vector<bool> named_;
  std::vector<std::string_view> warned_;
};

}  // namespace

CallGraph ResolveCalls(const ModuleSyntax& syntax, const ShapeTable& shapes, ir::Module& module,
                       Diagnostics& diagnostics) {
  return Resolver(syntax, shapes, module, diagnostics).Run();
}

}  // namespace hespas::read::hlo
