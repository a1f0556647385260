#include "read/hlo/module_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/type.h"
#include "read/hlo/attributes/aliasing.h"
#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {
namespace {

class Checker {
 public:
  Checker(const ModuleSyntax& syntax, const ShapeTable& shapes, const CallGraph& calls, const ir::Module& module,
          Diagnostics& diagnostics)
      : syntax_(syntax), shapes_(shapes), calls_(calls), module_(module), diagnostics_(diagnostics) {}

  void Run() {
    CheckRecursion();
    CheckEntryAliases();
    for (const ComputationSyntax& computation : syntax_.computations) {
      if (!diagnostics_.wants_more()) return;
      CheckControl(computation);
      CheckStarts(computation);
      CheckInstructions(computation);
      CheckOperandAliases(computation);
    }
  }

 private:
  void Report(const DiagnosticKind& kind, size_t at, std::string message, std::string help) {
    diagnostics_.Error(kind, std::move(message), module_.LocationAt(at), std::move(help));
  }
  size_t PlaceOf(std::string_view value, size_t otherwise) const {
    const char* begin = module_.source().data();
    const bool within = value.data() >= begin && value.data() < begin + module_.source().size();
    return within ? static_cast<size_t>(value.data() - begin) : otherwise;
  }

  // --- calls ---------------------------------------------------------------------------------------------------------

  std::vector<uint32_t> CalleesOf(const ComputationSyntax& computation) const {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < computation.instruction_count; ++i) {
      const Resolved& at = calls_.instruction(computation.first_instruction + i);
      out.insert(out.end(), at.regions.begin(), at.regions.end());
      out.insert(out.end(), at.functions.begin(), at.functions.end());
    }
    return out;
  }

  // Depth first, on an explicit stack; an edge to a computation that is still open closes a cycle.
  void CheckRecursion() {
    enum class State : uint8_t { kNew, kOpen, kDone };
    std::vector<State> states(syntax_.computations.size(), State::kNew);
    std::vector<std::vector<uint32_t>> pending;
    std::vector<uint32_t> open;
    for (uint32_t start = 0; start < states.size(); ++start) {
      const auto enter = [&](uint32_t computation) {
        states[computation] = State::kOpen;
        open.push_back(computation);
        pending.push_back(CalleesOf(syntax_.computations[computation]));
      };
      if (states[start] == State::kNew) enter(start);
      while (!open.empty()) {
        if (pending.back().empty()) {
          states[open.back()] = State::kDone;
          open.pop_back();
          pending.pop_back();
          continue;
        }
        const uint32_t next = pending.back().back();
        pending.back().pop_back();
        if (states[next] == State::kOpen) return ReportRecursion(next, open.back());
        if (states[next] == State::kNew) enter(next);
      }
    }
  }

  void ReportRecursion(uint32_t callee, uint32_t caller) {
    const ComputationSyntax& computation = syntax_.computations[callee];
    Report(kExpansionLimit, computation.source,
           fmt::format("computation `{}` calls itself{}", computation.name,
                       caller == callee ? "" : fmt::format(", by way of `{}`", syntax_.computations[caller].name)),
           "write a `while` loop instead");
  }

  // --- the order of instructions -------------------------------------------------------------------------------------

  // Predecessors of each instruction, by position; false where one does not exist.
  bool ControlOf(const ComputationSyntax& computation, std::vector<std::vector<uint32_t>>& before) {
    std::unordered_map<std::string_view, uint32_t> names;
    bool good = true;
    const auto instructions = syntax_.instructions_of(computation);
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      const std::string_view value = ValueOf(syntax_.attributes_of(instructions[i]), "control-predecessors");
      if (value.empty()) continue;
      if (before.empty()) {
        before.resize(instructions.size());
        for (uint32_t j = 0; j < instructions.size(); ++j) names.emplace(instructions[j].name, j);
      }
      Scanner scan(value);
      scan.Take('{');
      do {
        const std::string_view name = scan.Name();
        if (name.empty()) break;
        const auto found = names.find(name);
        if (found != names.end()) {
          before[i].push_back(found->second);
          continue;
        }
        good = false;
        Report(kBadControl, PlaceOf(name, instructions[i].source),
               fmt::format("`{}` waits for `{}`, which is no instruction of computation `{}`", instructions[i].name,
                           name, computation.name),
               "name an instruction of the same computation, or leave the predecessor out");
      } while (scan.Take(','));
    }
    return good;
  }

  // Operands come before what uses them, so that only control edges can close a cycle.
  void CheckControl(const ComputationSyntax& computation) {
    std::vector<std::vector<uint32_t>> before;
    if (!ControlOf(computation, before) || before.empty()) return;
    const auto instructions = syntax_.instructions_of(computation);
    std::vector<uint32_t> waits(instructions.size(), 0);
    std::vector<std::vector<uint32_t>> after(instructions.size());
    for (uint32_t i = 0; i < instructions.size(); ++i) {
      const auto operands = syntax_.operands_of(instructions[i]);
      before[i].insert(before[i].end(), operands.begin(), operands.end());
      waits[i] = static_cast<uint32_t>(before[i].size());
      for (const uint32_t p : before[i]) after[p].push_back(i);
    }
    std::vector<uint32_t> ready;
    for (uint32_t i = 0; i < waits.size(); ++i) {
      if (waits[i] == 0) ready.push_back(i);
    }
    while (!ready.empty()) {
      const uint32_t done = ready.back();
      ready.pop_back();
      for (const uint32_t next : after[done]) {
        if (--waits[next] == 0) ready.push_back(next);
      }
    }
    const auto stuck = std::find_if(waits.begin(), waits.end(), [](uint32_t left) { return left > 0; });
    if (stuck == waits.end()) return;
    const InstructionSyntax& at = instructions[static_cast<size_t>(stuck - waits.begin())];
    Report(kBadControl, at.source, fmt::format("`{}` waits for itself through control-predecessors", at.name),
           "remove one of the control-predecessors of the cycle");
  }

  // XLA's VerifyAsynchronousInstructionPairs: of starts without any done, and of dones of another operation's start.
  void CheckStarts(const ComputationSyntax& computation) {
    const auto instructions = syntax_.instructions_of(computation);
    const auto starts = [&](const InstructionSyntax& at) {
      return at.opcode.ends_with("-start") && IsPaired(at.opcode.substr(0, at.opcode.size() - 6));
    };
    const bool any = std::any_of(instructions.begin(), instructions.end(), [&](const InstructionSyntax& at) {
      return starts(at) || at.opcode.ends_with("-done");
    });
    if (!any) return;
    std::vector<bool> used(instructions.size(), false);
    for (const InstructionSyntax& at : instructions) {
      for (const uint32_t operand : syntax_.operands_of(at)) used[operand] = true;
      CheckDone(at, instructions);
    }
    used[computation.root] = true;  // a fragment may end here
    for (size_t i = 0; i < instructions.size(); ++i) {
      if (used[i] || !starts(instructions[i])) continue;
      const std::string_view opcode = instructions[i].opcode;
      Report(kUnpairedStart, instructions[i].source, fmt::format("nothing waits for `{}`", instructions[i].name),
             fmt::format("add its `{}done`", opcode.substr(0, opcode.size() - 5)));
    }
  }

  static bool IsPaired(std::string_view operation) {
    constexpr std::string_view kPaired[] = {"all-reduce", "all-gather", "collective-permute", "copy", "async"};
    return std::find(std::begin(kPaired), std::end(kPaired), operation) != std::end(kPaired);
  }

  void CheckDone(const InstructionSyntax& done, std::span<const InstructionSyntax> instructions) {
    if (!done.opcode.ends_with("-done") || done.operand_count == 0) return;
    const std::string_view operation = done.opcode.substr(0, done.opcode.size() - 5);
    const std::string_view start = instructions[syntax_.operands_of(done)[0]].opcode;
    // What a loop carries comes out of a tuple.
    if (!IsPaired(operation) || !start.ends_with("-start") || start == fmt::format("{}-start", operation)) return;
    Report(kUnpairedStart, done.source, fmt::format("`{}` waits for a `{}`", done.name, start),
           fmt::format("a `{}` waits for a `{}-start`", done.opcode, operation));
  }

  // --- single attributes and operands --------------------------------------------------------------------------------

  void CheckInstructions(const ComputationSyntax& computation) {
    const auto instructions = syntax_.instructions_of(computation);
    for (const InstructionSyntax& at : instructions) {
      if (at.opcode == "fusion") CheckFusionKind(at);
      const bool slice = at.opcode == "dynamic-slice";
      if (slice || at.opcode == "dynamic-update-slice") CheckStartIndices(at, instructions, slice ? 1 : 2);
    }
  }

  void CheckFusionKind(const InstructionSyntax& fusion) {
    constexpr std::string_view kKinds[] = {"kLoop", "kInput", "kOutput", "kCustom"};
    const std::string_view kind = ValueOf(syntax_.attributes_of(fusion), "kind");
    if (kind.empty() || std::find(std::begin(kKinds), std::end(kKinds), kind) != std::end(kKinds)) return;
    Report(kBadAttribute, PlaceOf(kind, fusion.source), fmt::format("`{}` is no kind of fusion", kind),
           fmt::format("there are {}", fmt::join(kKinds, ", ")));
  }

  // XLA's InferDynamicSliceShape: scalars, or one vector of them.
  void CheckStartIndices(const InstructionSyntax& slice, std::span<const InstructionSyntax> instructions,
                         size_t first) {
    const auto operands = syntax_.operands_of(slice);
    for (size_t i = first; i < operands.size(); ++i) {
      const auto leaves = shapes_.leaves(instructions[operands[i]].shape);
      if (leaves.size() != 1 || !IsFloat(module_.types()[leaves[0]].element)) continue;
      return Report(
          kShapeMismatch, slice.source,
          fmt::format("start index {} of `{}` is `{}`", i - first, slice.name, module_.types().Text(leaves[0])),
          "indices are integers: convert it before");
    }
  }

  // --- shared buffers ------------------------------------------------------------------------------------------------

  std::optional<ShapeId> ParameterShape(const ComputationSyntax& computation, size_t number) const {
    const auto& parameters =
        calls_.computations[static_cast<size_t>(&computation - syntax_.computations.data())].parameters;
    if (number >= parameters.size()) return std::nullopt;
    return syntax_.instructions_of(computation)[parameters[number]].shape;
  }

  int64_t Bytes(ShapeId shape) const {
    int64_t sum = 0;
    for (const ir::TypeId leaf : shapes_.leaves(shape)) {
      if (__builtin_add_overflow(sum, ir::ByteSize(module_.types(), leaf), &sum)) return INT64_MAX;
    }
    return sum;
  }

  void CheckEntryAliases() {
    const ComputationSyntax& entry = syntax_.computations[syntax_.entry];
    const ShapeId result = syntax_.instructions_of(entry)[entry.root].shape;
    const size_t parameters = calls_.computations[syntax_.entry].parameters.size();
    std::set<std::pair<int64_t, std::vector<int64_t>>> taken;
    for (const auto& [key, value] : syntax_.module_attributes) {
      const bool donors = key == "buffer_donor";
      if (!donors && key != "input_output_alias") continue;
      const size_t at = PlaceOf(value, entry.source);
      const auto entries = donors ? ParseDonors(value) : ParseAliases(value);
      if (!entries) {
        Report(kBadAlias, at, fmt::format("`{}` cannot be read", key),
               donors ? "write { (PARAMETER, {INDEX}), ... }"
                      : "write { {OUTPUT}: (PARAMETER, {INDEX}, may-alias), ... }");
        continue;
      }
      for (const AliasEntry& alias : *entries) {
        const auto input = ParameterShape(entry, static_cast<size_t>(alias.input));
        const std::string who = fmt::format("parameter {}", alias.input);
        if (!CheckSource(key, alias, input, who, parameters, at)) continue;
        if (!taken.emplace(alias.input, alias.index).second) {
          Report(kBadAlias, at,
                 fmt::format("{}: {} at {{{}}} is shared already", key, who, fmt::join(alias.index, ", ")),
                 "name each buffer once");
        } else if (!donors) {
          CheckOutput(key, alias, result, *ShapeAt(shapes_, *input, alias.index), who, at);
        }
      }
    }
  }

  bool CheckSource(std::string_view key, const AliasEntry& alias, std::optional<ShapeId> input, const std::string& who,
                   size_t count, size_t at) {
    if (!input) {
      Report(kBadAlias, at, fmt::format("{} names {}, but there are {}", key, who, count),
             count == 0 ? "leave the entry out" : fmt::format("the last one is {}", count - 1));
      return false;
    }
    if (ShapeAt(shapes_, *input, alias.index)) return true;
    Report(kBadAlias, at, fmt::format("{}: {} has nothing at {{{}}}", key, who, fmt::join(alias.index, ", ")),
           "{} is the whole; a number is a place in a tuple");
    return false;
  }

  void CheckOutput(std::string_view key, const AliasEntry& alias, ShapeId result, ShapeId input, const std::string& who,
                   size_t at) {
    const auto output = ShapeAt(shapes_, result, alias.output);
    const std::string place = fmt::format("{{{}}}", fmt::join(alias.output, ", "));
    if (!output) {
      Report(kBadAlias, at, fmt::format("{}: the result has nothing at {}", key, place),
             "{} is the whole; a number is a place in a tuple");
    } else if (Bytes(*output) != Bytes(input)) {
      Report(kBadAlias, at,
             fmt::format("{}: the result at {} has {} bytes, but {} has {}", key, place, Bytes(*output), who,
                         Bytes(input)),
             "buffers that share memory have one size");
    }
  }

  // Of custom calls and fusions.
  void CheckOperandAliases(const ComputationSyntax& computation) {
    constexpr std::string_view kKey = "output_to_operand_aliasing";
    const auto instructions = syntax_.instructions_of(computation);
    for (const InstructionSyntax& instruction : instructions) {
      if (instruction.opcode != "custom-call" && instruction.opcode != "fusion") continue;
      const std::string_view value = ValueOf(syntax_.attributes_of(instruction), kKey);
      if (value.empty()) continue;
      const size_t at = PlaceOf(value, instruction.source);
      const auto entries = ParseAliases(value);
      if (!entries) {
        Report(kBadAlias, at, fmt::format("`{}` cannot be read", kKey), "write {{OUTPUT}: (OPERAND, {INDEX}), ...}");
        continue;
      }
      const auto operands = syntax_.operands_of(instruction);
      for (const AliasEntry& alias : *entries) {
        const auto number = static_cast<size_t>(alias.input);
        std::optional<ShapeId> input;
        if (number < operands.size()) input = instructions[operands[number]].shape;
        const std::string who = fmt::format("operand {}", alias.input);
        if (!CheckSource(kKey, alias, input, who, operands.size(), at)) continue;
        CheckOutput(kKey, alias, instruction.shape, *ShapeAt(shapes_, *input, alias.index), who, at);
      }
    }
  }

  const ModuleSyntax& syntax_;
  const ShapeTable& shapes_;
  const CallGraph& calls_;
  const ir::Module& module_;
  Diagnostics& diagnostics_;
};

}  // namespace

void CheckModule(const ModuleSyntax& syntax, const ShapeTable& shapes, const CallGraph& calls, const ir::Module& module,
                 Diagnostics& diagnostics) {
  Checker(syntax, shapes, calls, module, diagnostics).Run();
}

}  // namespace hespas::read::hlo
