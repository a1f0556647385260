#include "read/hlo/lowering.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/verify/type_facts.h"
#include "read/hlo/async_types.h"
#include "read/hlo/function_writer.h"
#include "read/hlo/module_rules.h"
#include "read/hlo/text/literal.h"

namespace hespas::read::hlo {
namespace {

using ir::OpId;
using ir::TypeId;
using ir::ValueId;

// A program may grow by expansion of shared computations (reducers), but not without bound.
constexpr size_t kMaximumGrowth = 16;
constexpr size_t kMaximumSmallProgram = 1'000'000;
constexpr size_t kMaximumDepth = 1000;
constexpr size_t kCachedLiteral = 64;

// Values of one instruction: its leaves in the pool.
struct Leaves {
  uint32_t first = 0;
  uint32_t count = 0;
};

// Attributes that say something of the start itself; the others go with the op that it starts.
bool IsForStart(std::string_view name) {
  return name == "is_sync" || name == "metadata" || name == "execution_thread" || name == "frontend_attributes";
}

// One computation in the course of being written into a block.
struct Frame {
  uint32_t computation = 0;
  uint32_t next = 0;  // instruction
  ir::BlockId block;
  uint32_t arguments = 0;  // first parameter leaf in the pool
  size_t leaves_base = 0;  // into leaves_
  size_t pool_base = 0;    // pool size to return to
  std::string_view terminator;
  std::vector<ir::RegionId> regions;  // finished regions of instruction `next`
};

class Builder {
 public:
  Builder(const ModuleSyntax& syntax, const ShapeTable& shapes, TextArena& arena, ir::Module& module,
          Diagnostics& diagnostics)
      : syntax_(syntax),
        shapes_(shapes),
        arena_(arena),
        module_(module),
        diagnostics_(diagnostics),
        calls_(ResolveCalls(syntax, shapes, module, diagnostics)),
        attributes_(module, arena),
        functions_(syntax, attributes_, arena, module),
        budget_(std::max(kMaximumSmallProgram, kMaximumGrowth * syntax.instructions.size())),
        operand_budget_(std::max(kMaximumSmallProgram, kMaximumGrowth * module.source().size())) {}

  void Run() {
    if (diagnostics_.has_errors()) return;
    CheckModule(syntax_, shapes_, calls_, module_, diagnostics_);
    if (diagnostics_.has_errors()) return;
    Reserve();
    for (size_t i = 0; i < syntax_.computations.size() && !stopped_; ++i) {
      if (i == syntax_.entry || calls_.computations[i].is_function) WriteFunction(static_cast<uint32_t>(i));
    }
    functions_.WriteModule();
  }

 private:
  const InstructionSyntax& instruction(const Frame& frame) const {
    return syntax_.instructions[syntax_.computations[frame.computation].first_instruction + frame.next];
  }
  const Resolved& resolved(const Frame& frame) const {
    return calls_.instruction(syntax_.computations[frame.computation].first_instruction + frame.next);
  }
  Leaves& leaves(const Frame& frame, uint32_t index) { return leaves_[frame.leaves_base + index]; }
  std::span<const ValueId> values(Leaves range) const { return {pool_.data() + range.first, range.count}; }

  void Fail(const DiagnosticKind& kind, const InstructionSyntax& at, std::string message, std::string help = {}) {
    diagnostics_.Error(kind, std::move(message), module_.LocationAt(at.source), std::move(help));
    stopped_ = stopped_ || !diagnostics_.wants_more();
  }

  void Reserve() {
    module_.Reserve(syntax_.instructions.size(), syntax_.instructions.size() * 5 / 4, syntax_.operands.size() * 5 / 4,
                    syntax_.attributes.size() * 5 / 4);
  }

  void WriteFunction(uint32_t computation) {
    const ir::BlockId block = module_.AddBlock(calls_.computations[computation].argument_types);
    if (!Push(computation, block, BlockArguments(block), "func.return")) return;
    while (!stack_.empty() && !stopped_) Step();
    if (stopped_) return;
    const bool is_entry = computation == syntax_.entry;
    const OpId function = functions_.AddFunction(functions_.symbol(computation), block, finished_result_types_,
                                                 !is_entry, syntax_.computations[computation].source);
    if (is_entry) functions_.AddArgumentShardings(function, calls_.computations[computation], shapes_);
  }

  // --- one computation after another, on an explicit stack -----------------------------------------------------------

  std::vector<ValueId> BlockArguments(ir::BlockId block) const {
    std::vector<ValueId> arguments;
    for (const ValueId v : module_.arguments(block)) arguments.push_back(v);
    return arguments;
  }

  bool Push(uint32_t computation, ir::BlockId block, const std::vector<ValueId>& arguments,
            std::string_view terminator) {
    const ComputationSyntax& syntax = syntax_.computations[computation];
    if (stack_.size() >= kMaximumDepth || budget_ < syntax.instruction_count) {
      Fail(kExpansionLimit, syntax_.instructions[syntax.first_instruction],
           fmt::format("computation `{}` is expanded too deep or too often", syntax.name));
      stopped_ = true;
      return false;
    }
    budget_ -= syntax.instruction_count;
    Frame frame{.computation = computation, .block = block, .terminator = terminator};
    frame.leaves_base = leaves_.size();
    frame.pool_base = pool_.size();
    frame.arguments = static_cast<uint32_t>(pool_.size());
    leaves_.resize(leaves_.size() + syntax.instruction_count);
    pool_.insert(pool_.end(), arguments.begin(), arguments.end());
    stack_.push_back(std::move(frame));
    return true;
  }

  void Step() {
    Frame& frame = stack_.back();
    if (frame.next == syntax_.computations[frame.computation].instruction_count) return Finish();
    const Resolved& at = resolved(frame);
    if (frame.regions.size() < at.regions.size()) return EnterRegion(frame, at.regions[frame.regions.size()]);
    WriteInstruction(frame);
    if (!stopped_) CheckLeaves(frame);
    frame.regions.clear();
    ++frame.next;
  }

  // Everything below relies on an instruction having the values that its shape announces.
  void CheckLeaves(const Frame& frame) {
    const InstructionSyntax& at = instruction(frame);
    const auto announced = shapes_.leaves(at.shape);
    const auto given = values(leaves(frame, frame.next));
    if (announced.size() != given.size()) {
      Fail(kSignatureMismatch, at,
           fmt::format("`{}` has {} values, its shape {}", at.name, given.size(), announced.size()));
      stopped_ = true;
      return;
    }
    for (size_t i = 0; i < given.size(); ++i) {
      const TypeId type = module_.type_id(given[i]);
      if (type == announced[i] || CheckLeaf(at, type, announced[i])) continue;
      return;
    }
  }

  // The replacement of a value may be a bundle that the text spells as a tuple, or of another precision.
  bool CheckLeaf(const InstructionSyntax& at, TypeId given, TypeId announced) {
    const ir::TypeTable& types = module_.types();
    const bool precision_only = IsFloat(types[given].element) && IsFloat(types[announced].element) &&
                                ir::verify::CompatibleShapes(types[given], types[announced]);
    if (types[given].kind == ir::TypeKind::kAsyncBundle || precision_only ||
        shapes_.CompatibleLeaves(given, announced)) {
      return true;
    }
    Fail(kShapeMismatch, at,
         fmt::format("`{}` is given `{}`, but its shape says `{}`", at.name, types.Text(given), types.Text(announced)));
    return false;
  }

  // Terminates the block, and hands it to the instruction that waits for it as a region.
  void Finish() {
    Frame& frame = stack_.back();
    const Leaves root = leaves(frame, syntax_.computations[frame.computation].root);
    const auto results = values(root);
    finished_result_types_.clear();
    for (const ValueId v : results) finished_result_types_.push_back(module_.type_id(v));
    module_.AddOp(frame.block, {.name = module_.InternName(frame.terminator),
                                .operands = results,
                                .source = syntax_.computations[frame.computation].source});
    const ir::BlockId block = frame.block;
    leaves_.resize(frame.leaves_base);
    pool_.resize(frame.pool_base);
    stack_.pop_back();
    if (!stack_.empty()) stack_.back().regions.push_back(module_.AddRegion(std::span(&block, 1)));
  }

  // A `fusion-start` gives its computation what a fusion does.
  static Lowering LoweringOfRegions(const Opcode& opcode) {
    const bool starts_fusion =
        opcode.lowering == Lowering::kSugaredStart && FindOpcode(opcode.hlo).lowering == Lowering::kFusion;
    return starts_fusion ? Lowering::kFusion : opcode.lowering;
  }

  // Regions of fusions and loops take what the instruction is given; branches see their operand directly.
  void EnterRegion(const Frame& frame, uint32_t callee) {
    const Lowering lowering = LoweringOfRegions(resolved(frame).opcode);
    const InstructionSyntax& at = instruction(frame);
    const ComputationFacts& facts = calls_.computations[callee];
    const bool is_branch = lowering == Lowering::kConditional;
    std::vector<ValueId> given;
    if (is_branch) {
      const size_t branch = frame.regions.size() + 1;
      if (branch < at.operand_count) AppendOperand(frame, at, branch, given);
    } else if (lowering == Lowering::kFusion || lowering == Lowering::kWhile) {
      given = Operands(frame, at);
    } else {
      const ir::BlockId block = module_.AddBlock(facts.argument_types);
      Push(callee, block, BlockArguments(block), "stablehlo.return");
      return;
    }
    if (given.size() != facts.argument_types.size()) return Mismatch(at, callee, given.size());
    if (is_branch) {
      Push(callee, module_.AddBlock({}), given, "stablehlo.return");
      return;
    }
    const ir::BlockId block = module_.AddBlock(TypesOf(given));
    Push(callee, block, BlockArguments(block), lowering == Lowering::kFusion ? "mhlo.return" : "stablehlo.return");
  }

  void Mismatch(const InstructionSyntax& at, uint32_t callee, size_t given) {
    Fail(kSignatureMismatch, at,
         fmt::format("`{}` gives {} values to computation `{}`, which has {} parameters", at.name, given,
                     syntax_.computations[callee].name, calls_.computations[callee].argument_types.size()));
    stopped_ = true;
  }

  // --- instructions --------------------------------------------------------------------------------------------------

  std::vector<TypeId> TypesOf(std::span<const ValueId> of) const {
    std::vector<TypeId> types;
    for (const ValueId v : of) types.push_back(module_.type_id(v));
    return types;
  }

  void AppendOperand(const Frame& frame, const InstructionSyntax& at, size_t index, std::vector<ValueId>& into) {
    const auto range = values(leaves(frame, syntax_.operands_of(at)[index]));
    into.insert(into.end(), range.begin(), range.end());
  }

  std::vector<ValueId> Operands(const Frame& frame, const InstructionSyntax& at) {
    std::vector<ValueId> all;
    size_t count = 0;
    for (const uint32_t operand : syntax_.operands_of(at)) count += leaves(frame, operand).count;
    if (count > operand_budget_) {
      Fail(kExpansionLimit, at, "the tuples among the operands have too many elements");
      stopped_ = true;
      return all;
    }
    operand_budget_ -= count;
    all.reserve(count);
    for (size_t i = 0; i < at.operand_count; ++i) AppendOperand(frame, at, i, all);
    return all;
  }

  void SetLeaves(const Frame& frame, std::span<const ValueId> of) {
    leaves(frame, frame.next) = {static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(of.size())};
    pool_.insert(pool_.end(), of.begin(), of.end());
  }
  void SetResults(const Frame& frame, OpId op) {
    const auto results = module_.results(op);
    leaves(frame, frame.next) = {static_cast<uint32_t>(pool_.size()), static_cast<uint32_t>(results.size())};
    for (const ValueId v : results) pool_.push_back(v);
  }

  void WriteInstruction(Frame& frame) {
    const InstructionSyntax& at = instruction(frame);
    const Resolved& what = resolved(frame);
    switch (what.opcode.lowering) {
      case Lowering::kParameter:
        return BindParameter(frame, at);
      case Lowering::kConstant:
        return WriteConstant(frame, at, what);
      case Lowering::kTuple:
        return SetLeaves(frame, Operands(frame, at));
      case Lowering::kGetTupleElement:
        return WriteElement(frame, at, what);
      case Lowering::kAsyncStart:
      case Lowering::kSugaredStart:
        return WriteAsyncStart(frame, at, what);
      case Lowering::kAsyncUpdate:
      case Lowering::kAsyncDone:
        return WriteAsyncHalf(frame, at, what);
      default:
        return WritePlain(frame, at, what);
    }
  }

  void BindParameter(Frame& frame, const InstructionSyntax& at) {
    size_t number = 0;
    std::from_chars(at.literal.data(), at.literal.data() + at.literal.size(), number);
    const ComputationFacts& facts = calls_.computations[frame.computation];
    leaves(frame, frame.next) = {frame.arguments + facts.leaf_offsets[number], shapes_[at.shape].leaf_count};
  }

  void WriteConstant(Frame& frame, const InstructionSyntax& at, const Resolved& what) {
    std::vector<ValueId> results;
    const auto types = shapes_.leaves(at.shape);
    for (const TypeId type : types) {
      auto& attributes = attributes_.Build(at.opcode, at, syntax_.attributes_of(at));
      const std::string_view literal = types.size() == 1 ? at.literal : "{...}";
      attributes.insert(attributes.begin(), {module_.InternName("value"), Literal(at, literal, type)});
      const OpId op = module_.AddOp(
          frame.block,
          {.name = what.name, .result_types = std::span(&type, 1), .attributes = attributes, .source = at.source});
      results.push_back(module_.result(op));
    }
    SetLeaves(frame, results);
  }

  std::string_view MakeLiteral(const InstructionSyntax& at, std::string_view literal, TypeId type) {
    std::string problem;
    const std::string text = LiteralText(literal, module_.types(), type, problem);
    if (!problem.empty()) Fail(kBadLiteral, at, fmt::format("the literal of `{}`: {}", at.name, problem));
    return arena_.Copy(text);
  }

  std::string_view Literal(const InstructionSyntax& at, std::string_view literal, TypeId type) {
    if (literal.size() > kCachedLiteral) return MakeLiteral(at, literal, type);
    auto& known = literals_[literal];
    for (const auto& [of, text] : known) {
      if (of == type) return text;
    }
    known.emplace_back(type, MakeLiteral(at, literal, type));
    return known.back().second;
  }

  // A tuple's element is a part of its leaves; only an element of an async bundle needs an op.
  void WriteElement(Frame& frame, const InstructionSyntax& at, const Resolved& what) {
    const std::string_view text = ValueOf(syntax_.attributes_of(at), "index");
    size_t index = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), index);
    const auto of = syntax_.operands_of(at);
    if (text.empty() || parsed.ec != std::errc() || of.size() != 1) {
      return Fail(kBadAttribute, at, "`get-tuple-element` needs one operand and an `index`"), stopped_ = true, void();
    }
    const InstructionSyntax& tuple =
        syntax_.instructions[syntax_.computations[frame.computation].first_instruction + of[0]];
    const Shape& shape = shapes_[tuple.shape];
    if (!shape.is_tuple || index >= shape.child_count) {
      return Fail(kBadShape, at, fmt::format("`{}` has no element {}", tuple.name, index)), stopped_ = true, void();
    }
    const Leaves whole = leaves(frame, of[0]);
    const Leaves part = {whole.first + shapes_.child_offset(tuple.shape, index),
                         shapes_[shapes_.child(tuple.shape, index)].leaf_count};
    if (!IsBundle(whole) || part.count == whole.count) {
      leaves(frame, frame.next) = part;
      return;
    }
    const OpId op =
        module_.AddOp(frame.block, {.name = what.name,
                                    .operands = values(whole).first(1),
                                    .result_types = shapes_.leaves(at.shape),
                                    .attributes = attributes_.Build(at.opcode, at, syntax_.attributes_of(at)),
                                    .source = at.source});
    SetResults(frame, op);
  }

  bool IsBundle(Leaves range) const {
    const auto of = values(range);
    return !of.empty() && module_.type(of.front()).kind == ir::TypeKind::kAsyncBundle &&
           std::all_of(of.begin(), of.end(), [&](ValueId v) { return v == of.front(); });
  }

  std::vector<ir::Attribute>& BuildAttributes(const InstructionSyntax& at, const Resolved& what) {
    // Updates and dones of a start carry no attributes of the op itself.
    const bool is_half = what.opcode.lowering == Lowering::kAsyncDone || what.opcode.lowering == Lowering::kAsyncUpdate;
    auto& attributes = attributes_.Build(is_half ? "async-done" : what.opcode.hlo, at, syntax_.attributes_of(at));
    for (std::string& problem : attributes_.TakeProblems()) Fail(kBadAttribute, at, std::move(problem));
    const Shape& shape = shapes_[at.shape];
    if (!shape.result_layout.empty()) attributes.push_back({module_.InternName("result_layout"), shape.result_layout});
    return attributes;
  }

  void WritePlain(Frame& frame, const InstructionSyntax& at, const Resolved& what) {
    std::vector<ValueId> operands;
    if (what.opcode.lowering != Lowering::kConditional) {
      operands = Operands(frame, at);
    } else if (at.operand_count > 0) {
      AppendOperand(frame, at, 0, operands);
    }
    auto& attributes = BuildAttributes(at, what);
    AddCallees(what, operands, at, attributes);
    // What a loop carries may be a bundle that the shape spells as a tuple.
    std::vector<TypeId> carried;
    if (what.opcode.lowering == Lowering::kWhile) carried = TypesOf(operands);
    const OpId op = module_.AddOp(frame.block, {.name = what.name,
                                                .operands = operands,
                                                .result_types = carried.empty() ? shapes_.leaves(at.shape) : carried,
                                                .attributes = attributes,
                                                .regions = frame.regions,
                                                .source = at.source});
    SetResults(frame, op);
  }

  void AddCallees(const Resolved& what, const std::vector<ValueId>& operands, const InstructionSyntax& at,
                  std::vector<ir::Attribute>& attributes) {
    if (what.functions.empty()) return;
    if (FindOpcode(what.opcode.hlo).lowering == Lowering::kCall) {
      const uint32_t callee = what.functions[0];
      if (operands.size() != calls_.computations[callee].argument_types.size())
        return Mismatch(at, callee, operands.size());
      attributes.push_back({module_.InternName("callee"), arena_.Copy(SymbolText(functions_.symbol(callee)))});
      return;
    }
    std::string list;
    for (const uint32_t f : what.functions)
      list += fmt::format("{}{}", list.empty() ? "[" : ", ", SymbolText(functions_.symbol(f)));
    attributes.push_back({module_.InternName("called_computations"), arena_.Copy(list + "]")});
  }

  // --- asynchronous starts and dones ---------------------------------------------------------------------------------

  // mhlo.async_start names a private function that holds the op, as MLIR's importer writes it.
  void WriteAsyncStart(Frame& frame, const InstructionSyntax& at, const Resolved& what) {
    const std::vector<ValueId> operands = Operands(frame, at);
    std::vector<TypeId> results;
    std::string_view callee;
    std::vector<ir::Attribute> kept;
    if (what.opcode.lowering == Lowering::kAsyncStart) {
      kept = BuildAttributes(at, what);
      if (what.functions.empty()) return;
      callee = functions_.symbol(what.functions[0]);
      const ComputationSyntax& body = syntax_.computations[what.functions[0]];
      const auto leaves_of_root = shapes_.leaves(syntax_.instructions_of(body)[body.root].shape);
      results.assign(leaves_of_root.begin(), leaves_of_root.end());
    } else {
      results = ResultOfStart(shapes_, at.shape, what.opcode.hlo);
      auto& attributes = BuildAttributes(at, what);
      AddCallees(what, operands, at, attributes);
      callee = WrapInFunction(frame, at, what, operands, results, attributes);
      for (const ir::Attribute& a : attributes) {
        if (IsForStart(module_.name(a.name))) kept.push_back(a);
      }
    }
    kept.insert(kept.begin(), {module_.InternName("called_computation"), arena_.Copy(SymbolText(callee))});
    const TypeId bundle = BundleType(module_.types(), TypesOf(operands), results);
    const OpId op = module_.AddOp(frame.block, {.name = module_.InternName("mhlo.async_start"),
                                                .operands = operands,
                                                .result_types = std::span(&bundle, 1),
                                                .attributes = kept,
                                                .source = at.source});
    SetLeaves(frame, std::vector<ValueId>(shapes_[at.shape].leaf_count, module_.result(op)));
  }

  std::string_view WrapInFunction(Frame& frame, const InstructionSyntax& at, const Resolved& what,
                                  const std::vector<ValueId>& operands, const std::vector<TypeId>& results,
                                  const std::vector<ir::Attribute>& attributes) {
    const ir::BlockId body = module_.AddBlock(TypesOf(operands));
    const OpId op = module_.AddOp(body, {.name = what.name,
                                         .operands = BlockArguments(body),
                                         .result_types = results,
                                         .attributes = attributes,
                                         .regions = frame.regions,
                                         .source = at.source});
    std::vector<ValueId> returned;
    for (const ValueId v : module_.results(op)) returned.push_back(v);
    module_.AddOp(body, {.name = module_.InternName("func.return"), .operands = returned, .source = at.source});
    const std::string_view symbol = arena_.Copy(functions_.UniqueSymbol(at.name));
    functions_.AddFunction(symbol, body, results, true, at.source);
    return symbol;
  }

  void WriteAsyncHalf(Frame& frame, const InstructionSyntax& at, const Resolved& what) {
    const bool is_done = what.opcode.lowering == Lowering::kAsyncDone;
    const std::vector<ValueId> operands = Operands(frame, at);
    if (operands.empty())
      return Fail(kSyntaxError, at, fmt::format("`{}` has no operand", at.opcode)), stopped_ = true, void();
    const TypeId bundle = module_.type_id(operands[0]);
    const OpId op =
        module_.AddOp(frame.block, {.name = module_.InternName(is_done ? "mhlo.async_done" : "mhlo.async_update"),
                                    .operands = std::span(operands).first(1),
                                    .result_types = is_done ? shapes_.leaves(at.shape) : std::span(&bundle, 1),
                                    .attributes = BuildAttributes(at, what),
                                    .source = at.source});
    if (is_done) return SetResults(frame, op);
    SetLeaves(frame, std::vector<ValueId>(shapes_[at.shape].leaf_count, module_.result(op)));
  }

  const ModuleSyntax& syntax_;
  const ShapeTable& shapes_;
  TextArena& arena_;
  ir::Module& module_;
  Diagnostics& diagnostics_;
  CallGraph calls_;
  AttributeBuilder attributes_;
  FunctionWriter functions_;
  size_t budget_;          // instructions that may still be written
  size_t operand_budget_;  // values that may still be handed to them
  bool stopped_ = false;
  std::vector<Frame> stack_;
  std::vector<Leaves> leaves_;
  std::vector<ValueId> pool_;
  std::vector<TypeId> finished_result_types_;
  std::unordered_map<std::string_view, std::vector<std::pair<TypeId, std::string_view>>> literals_;
};

}  // namespace

void Lower(const ModuleSyntax& syntax, const ShapeTable& shapes, TextArena& arena, ir::Module& module,
           Diagnostics& diagnostics) {
  Builder(syntax, shapes, arena, module, diagnostics).Run();
}

}  // namespace hespas::read::hlo
