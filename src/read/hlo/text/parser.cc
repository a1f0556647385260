#include "read/hlo/text/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "base/text/suggest.h"
#include "read/hlo/infer.h"
#include "read/hlo/text/name_table.h"
#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {
namespace {

constexpr std::string_view kHeader = "HloModule";
constexpr std::string_view kSideTables[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
constexpr size_t kMaximumInstructions = size_t{1} << 30;
constexpr size_t kIndexedDepth = 8;  // each level would be looked through once more: from here on braces are indexed

bool NamesComputations(std::string_view key) {
  constexpr std::string_view kKeys[] = {"to_apply",
                                        "calls",
                                        "condition",
                                        "body",
                                        "select",
                                        "scatter",
                                        "true_computation",
                                        "false_computation",
                                        "branch_computations",
                                        "called_computations"};
  return std::find(std::begin(kKeys), std::end(kKeys), key) != std::end(kKeys);
}

class Parser {
 public:
  Parser(const ir::Module& module, ShapeTable& shapes, Diagnostics& diagnostics)
      : module_(module), shapes_(shapes), diagnostics_(diagnostics), scan_(module.source()) {}

  ModuleSyntax Run() {
    scan_.Seek(FindHeader(module_.source()));
    ParseHeader();
    while (diagnostics_.wants_more()) {
      SkipSideTables();
      if (scan_.at_end() || scan_.rest().starts_with(kHeader)) break;
      if (!ParseComputation() || !ParseInline()) break;
    }
    if (out_.computations.empty() && !diagnostics_.has_errors()) {
      Report(kNoComputation, scan_.position(), "the module has no computation", "");
    }
    return std::move(out_);
  }

 private:
  bool Report(const DiagnosticKind& kind, size_t at, std::string message, std::string help = {}) {
    diagnostics_.Error(kind, std::move(message), module_.LocationAt(at), std::move(help));
    return false;
  }
  bool Expected(std::string_view what) {
    scan_.SkipBlanks();
    const std::string seen = scan_.at_end() ? "the end of the text" : fmt::format("`{}`", scan_.peek());
    return Report(kSyntaxError, scan_.position(), fmt::format("expected {}, found {}", what, seen));
  }

  void ParseHeader() {
    scan_.TakeWord(kHeader);
    out_.name = scan_.Name();
    if (out_.name.empty()) Expected("the module's name");
    if (!ParseAttributes(out_.module_attributes)) scan_.SkipLine();
    // `{(parameters)->result}`
    Scanner layout(ValueOf(out_.module_attributes, "entry_computation_layout"));
    if (!layout.Take('{')) return;
    out_.entry_parameters = shapes_.Find(layout.Shape());
    if (layout.Take('-') && layout.Take('>')) out_.entry_result = shapes_.Find(layout.Shape());
  }

  // The numbered blocks of newer dumps; nothing below needs them.
  void SkipSideTables() {
    scan_.SkipBlanks();
    while (std::any_of(std::begin(kSideTables), std::end(kSideTables), [&](auto t) { return scan_.TakeWord(t); })) {
      scan_.SkipBlanks();
      while (IsDigit(scan_.peek())) {
        scan_.SkipLine();
        scan_.SkipBlanks();
      }
    }
  }

  // `, key=value` until something else stands there.
  bool ParseAttributes(std::vector<AttributeSyntax>& into) {
    while (true) {
      scan_.SkipBlanks(true);
      if (scan_.peek() != ',') return true;
      scan_.Take(',');
      const std::string_view key = scan_.Name();
      if (key.empty()) return Expected("an attribute's name");
      if (!scan_.Take('=')) return Expected(fmt::format("`=` behind `{}`", key));
      const size_t begin = scan_.position();
      const std::string_view value = scan_.Value();
      if (value.empty())
        return Report(kSyntaxError, begin, fmt::format("the value of `{}` is empty or not closed", key));
      into.push_back({key, value});
    }
  }

  bool ParseComputation() {
    ComputationSyntax computation;
    scan_.SkipBlanks();
    const size_t begin = scan_.position();
    computation.is_entry = scan_.TakeWord("ENTRY");
    scan_.SkipBlanks();
    computation.source = static_cast<uint32_t>(scan_.position());
    computation.name = scan_.Name();
    if (computation.name.empty()) return Expected("a computation");
    Announced announced;
    if (!ParseSignature(announced)) return false;
    if (!scan_.Take('{')) return Expected("`{`");
    computation.first_instruction = static_cast<uint32_t>(out_.instructions.size());
    if (!ParseBody(computation)) return false;
    CheckRoot(computation, announced);
    CheckParameters(computation, announced);
    ignored_.clear();
    if (!ParseAttributes(ignored_)) return false;
    if (!names_of_computations_.emplace(computation.name, out_.computations.size()).second) {
      Report(kDuplicateName, computation.source, fmt::format("a second computation is called `{}`", computation.name));
    }
    if (computation.is_entry && has_entry_) Report(kSyntaxError, begin, "a module has one ENTRY, but this is another");
    if (computation.is_entry || !has_entry_) out_.entry = out_.computations.size();
    has_entry_ = has_entry_ || computation.is_entry;
    out_.computations.push_back(computation);
    return true;
  }

  // Computations that stand where an instruction names one, `to_apply={...}`, are read behind the one that holds them.
  bool ParseInline() {
    const size_t behind = scan_.position();
    while (!inline_.empty()) {
      ComputationSyntax computation;
      computation.name = inline_.back().name;
      computation.source = static_cast<uint32_t>(inline_.back().begin);
      scan_.Seek(inline_.back().begin + 1);
      inline_depth_ = inline_.back().depth;
      if (inline_depth_ == kIndexedDepth) scan_.IndexBraces();
      inline_.pop_back();
      computation.first_instruction = static_cast<uint32_t>(out_.instructions.size());
      if (!ParseBody(computation)) return false;
      out_.computations.push_back(computation);
    }
    scan_.Seek(behind);
    inline_depth_ = 0;
    return true;
  }

  // Gives such a computation a name, which replaces it in the attribute's value.
  void NoteInline(AttributeSyntax& attribute) {
    if (!attribute.value.starts_with('{') || !NamesComputations(attribute.key)) return;
    const size_t offset = static_cast<size_t>(attribute.value.data() - module_.source().data());
    if (!attribute.key.ends_with("computations")) {
      attribute.value = NameInline(offset);
      return;
    }
    const size_t behind = scan_.position();
    const std::string names = NamesOfList(offset, offset + attribute.value.size());
    if (!names.empty()) attribute.value = out_.made_texts.emplace_back(names);
    scan_.Seek(behind);
  }

  // `{a, {...}}` from `begin` to `end` with names for the computations within; empty where it is no such list.
  std::string NamesOfList(size_t begin, size_t end) {
    std::string names;
    scan_.Seek(begin + 1);
    while (!scan_.Take('}') && scan_.position() < end) {
      scan_.SkipBlanks();
      const bool is_inline = scan_.peek() == '{';
      const size_t at = scan_.position();
      const std::string_view item = is_inline ? scan_.Balanced() : scan_.Name();
      if (item.empty()) return {};
      names += fmt::format("{}{}", names.empty() ? "{" : ", ", is_inline ? NameInline(at) : item);
      scan_.Take(',');
    }
    return names.empty() ? names : names + "}";
  }

  std::string_view NameInline(size_t begin) {
    const std::string_view name = out_.made_texts.emplace_back(fmt::format("inline.{}", begin));
    inline_.push_back({name, begin, inline_depth_ + 1});
    return name;
  }

  // What a computation's head says of its parameters and its result.
  struct Announced {
    std::optional<std::vector<ShapeId>> parameters;
    size_t parameters_at = 0;
    std::optional<ShapeId> shape;
    size_t at = 0;
  };

  // `(a: f32[4], b: (s32[], f32[2]))`; nothing where it is written in another way.
  std::optional<std::vector<ShapeId>> ParameterShapes(std::string_view text) {
    std::vector<ShapeId> shapes;
    Scanner scan(text);
    scan.Take('(');
    if (scan.Take(')')) return shapes;
    do {
      scan.SkipBlanks();
      if (scan.Name().empty() || !scan.Take(':')) return std::nullopt;
      scan.SkipBlanks();
      const auto shape = shapes_.Find(scan.Shape());
      if (!shape) return std::nullopt;
      shapes.push_back(*shape);
    } while (scan.Take(','));
    return scan.Take(')') ? std::optional(std::move(shapes)) : std::nullopt;
  }

  bool ParseSignature(Announced& announced) {
    scan_.SkipBlanks();
    if (scan_.peek() != '(') return true;
    announced.parameters_at = scan_.position();
    const std::string_view parameters = scan_.Balanced();
    if (parameters.empty()) return Expected("`)` of the parameter list");
    announced.parameters = ParameterShapes(parameters);
    scan_.SkipBlanks();
    if (!scan_.rest().starts_with("->")) return true;
    scan_.Seek(scan_.position() + 2);
    scan_.SkipBlanks();
    announced.at = scan_.position();
    const std::string_view text = scan_.Shape();
    if (text.empty()) return Expected("the result's shape");
    announced.shape = shapes_.Find(text);
    return announced.shape || Report(kBadShape, announced.at, fmt::format("`{}` is no readable shape", text));
  }

  void CheckRoot(const ComputationSyntax& computation, const Announced& announced) {
    const InstructionSyntax& root = out_.instructions[computation.first_instruction + computation.root];
    if (!announced.shape || !root.shape.valid() || shapes_.Compatible(*announced.shape, root.shape)) return;
    Report(kShapeMismatch, announced.at,
           fmt::format("the root `{}` of computation `{}` has another shape", root.name, computation.name),
           "correct the result's shape behind `->`, or the ROOT");
  }

  void CheckParameters(const ComputationSyntax& computation, const Announced& announced) {
    if (!announced.parameters) return;
    const std::vector<ShapeId>& shapes = *announced.parameters;
    size_t count = 0;
    for (const InstructionSyntax& instruction : out_.instructions_of(computation)) {
      if (instruction.opcode != "parameter" || !instruction.shape.valid()) continue;
      ++count;
      size_t number = 0;
      const std::string_view text = instruction.literal;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || number >= shapes.size() || shapes_.Compatible(shapes[number], instruction.shape)) {
        continue;
      }
      Report(kShapeMismatch, instruction.source,
             fmt::format("parameter {} of computation `{}` has another shape in the computation's head", number,
                         computation.name),
             "correct the shape in the head, or the parameter");
      return;
    }
    if (count == shapes.size() || diagnostics_.has_errors()) return;
    Report(kShapeMismatch, announced.parameters_at,
           fmt::format("computation `{}` has {} parameters, but its head names {}", computation.name, count,
                       shapes.size()),
           "name each parameter once in the head");
  }

  bool ParseBody(ComputationSyntax& computation) {
    names_.Clear();
    first_ = computation.first_instruction;
    size_t root = std::string_view::npos;
    while (diagnostics_.wants_more()) {
      if (scan_.Take('}')) break;
      if (scan_.at_end()) return Expected("`}`");
      const size_t begin = scan_.position();
      const bool is_root = scan_.TakeWord("ROOT");
      if (is_root && root != std::string_view::npos) {
        Report(kSyntaxError, begin, fmt::format("computation `{}` has a ROOT already", computation.name));
      }
      const bool good = ParseInstruction();
      if (!good) {
        // Keep the name known, so that its users are not reported too.
        open_.clear();
        operands_.clear();
        Append(failed_);
        scan_.SkipLine();
      }
      if (is_root) root = out_.instructions.size() - 1 - first_;
    }
    computation.instruction_count = static_cast<uint32_t>(out_.instructions.size()) - computation.first_instruction;
    if (computation.instruction_count == 0) {
      return Report(kSyntaxError, computation.source, fmt::format("computation `{}` is empty", computation.name));
    }
    computation.root = root == std::string_view::npos ? computation.instruction_count - 1 : static_cast<uint32_t>(root);
    return true;
  }

  // An instruction whose operands are being read; those within others have no name and no attributes.
  struct Open {
    InstructionSyntax instruction;
    size_t first_operand = 0;  // into operands_
    bool has_operands = false;
  };

  bool ParseInstruction() {
    InstructionSyntax instruction;
    scan_.SkipBlanks();
    instruction.source = static_cast<uint32_t>(scan_.position());
    instruction.name = scan_.Name();
    failed_ = {.name = instruction.name, .source = instruction.source};
    if (instruction.name.empty()) return Expected("an instruction");
    if (names_.Find(instruction.name)) {
      return Report(kDuplicateName, instruction.source,
                    fmt::format("a second instruction is called `{}`", instruction.name));
    }
    if (!scan_.Take('=')) return Expected("`=`");
    if (!ParseHead(instruction)) return false;
    while (!open_.empty()) {
      if (!ParseMoreOperands()) return false;
    }
    return true;
  }

  // The shape, where there is one, and the opcode of an instruction, which is opened.
  bool ParseHead(InstructionSyntax& instruction) {
    scan_.SkipBlanks();
    const size_t begin = scan_.position();
    const std::string_view text = scan_.Shape();
    if (!text.empty()) {
      const auto shape = shapes_.Find(text);
      if (!shape) return BadShape(begin, instruction.name);
      instruction.shape = *shape;
    } else if (scan_.peek() == '(') {
      return BadShape(begin, instruction.name);
    }
    instruction.opcode = scan_.Name();
    if (instruction.opcode.empty()) return Expected("an opcode");
    scan_.SkipBlanks();
    if (scan_.peek() != '(') return Expected("`(`");
    open_.push_back({instruction, operands_.size()});
    return true;
  }

  bool BadShape(size_t at, std::string_view name) {
    return Report(
        kBadShape, at, fmt::format("`{}` has no readable shape", name),
        "a shape is an element type, dimensions and perhaps a layout that names each of them once: `bf16[4,8]{1,0}`");
  }

  // Reads operands of the innermost open instruction, until it is complete or one of them opens another.
  bool ParseMoreOperands() {
    const size_t depth = open_.size();
    InstructionSyntax& instruction = open_.back().instruction;
    if (instruction.opcode == "constant" || instruction.opcode == "parameter") {
      const size_t at = scan_.position();
      const std::string_view all = scan_.Balanced();
      if (all.empty()) return Report(kSyntaxError, at, "`(` is never closed");
      instruction.literal = all.substr(1, all.size() - 2);
      return Close();
    }
    if (!open_.back().has_operands) scan_.Take('(');
    while (!scan_.Take(')')) {
      if (open_.back().has_operands && !scan_.Take(',')) return Expected("`,` or `)`");
      open_.back().has_operands = true;
      if (!ParseOperand()) return false;
      if (open_.size() > depth) return true;
    }
    return Close();
  }

  // A name, perhaps behind its shape (older dumps), or a whole instruction.
  bool ParseOperand() {
    scan_.SkipBlanks();
    const size_t begin = scan_.position();
    const std::string_view shape = scan_.Shape();
    scan_.SkipBlanks();
    const size_t at = scan_.position();
    const std::string_view name = scan_.Name();
    if (name.empty()) return Expected("an operand");
    if (scan_.peek() == '(') {
      InstructionSyntax nested{.name = name, .source = static_cast<uint32_t>(begin)};
      scan_.Seek(begin);
      return ParseHead(nested);
    }
    const auto found = names_.Find(name);
    if (!found) {
      return Report(kUnknownOperand, at, fmt::format("`{}` is no earlier instruction of this computation", name),
                    Suggestion(name));
    }
    operands_.push_back(*found);
    return shape.empty() || CheckOperandShape(shape, *found, begin);
  }

  bool CheckOperandShape(std::string_view text, uint32_t operand, size_t at) {
    const InstructionSyntax& given = out_.instructions[first_ + operand];
    const auto shape = shapes_.Find(text);
    if (!shape) return BadShape(at, given.name);
    if (!given.shape.valid() || shapes_.Compatible(*shape, given.shape)) return true;
    return Report(kShapeMismatch, at, fmt::format("operand `{}` is used with a shape that is not its own", given.name),
                  "correct the shape, or leave it out");
  }

  // All operands of the innermost open instruction are known: it becomes an instruction, and an operand of the next.
  bool Close() {
    InstructionSyntax instruction = open_.back().instruction;
    const size_t first = open_.back().first_operand;
    instruction.first_operand = static_cast<uint32_t>(out_.operands.size());
    instruction.operand_count = static_cast<uint32_t>(operands_.size() - first);
    out_.operands.insert(out_.operands.end(), operands_.begin() + static_cast<ptrdiff_t>(first), operands_.end());
    operands_.resize(first);
    open_.pop_back();
    instruction.first_attribute = static_cast<uint32_t>(out_.attributes.size());
    if (open_.empty() && !ParseAttributes(out_.attributes)) return false;
    instruction.attribute_count = static_cast<uint32_t>(out_.attributes.size()) - instruction.first_attribute;
    for (size_t i = instruction.first_attribute; i < out_.attributes.size(); ++i) NoteInline(out_.attributes[i]);
    if (!CheckAttributes(instruction) || (!instruction.shape.valid() && !Infer(instruction))) return false;
    if (out_.instructions.size() >= kMaximumInstructions) return Expected("fewer instructions");
    Append(instruction, open_.empty());
    if (!open_.empty()) operands_.push_back(static_cast<uint32_t>(out_.instructions.size() - 1 - first_));
    return true;
  }

  void Append(const InstructionSyntax& instruction, bool named = true) {
    if (named) names_.Insert(instruction.name, static_cast<uint32_t>(out_.instructions.size() - first_));
    out_.instructions.push_back(instruction);
  }

  bool CheckAttributes(const InstructionSyntax& instruction) {
    const auto attributes = out_.attributes_of(instruction);
    constexpr size_t kFew = 16;
    std::vector<std::string_view> keys;
    for (size_t i = 0; i < attributes.size(); ++i) {
      const auto end = attributes.begin() + static_cast<ptrdiff_t>(i);
      if (attributes.size() > kFew) {
        keys.push_back(attributes[i].key);
      } else if (std::any_of(attributes.begin(), end, [&](const auto& a) { return a.key == attributes[i].key; })) {
        return Twice(instruction, attributes[i].key);
      }
    }
    std::sort(keys.begin(), keys.end());
    const auto found = std::adjacent_find(keys.begin(), keys.end());
    return found == keys.end() || Twice(instruction, *found);
  }
  bool Twice(const InstructionSyntax& instruction, std::string_view key) {
    return Report(kSyntaxError, instruction.source, fmt::format("attribute `{}` is given twice", key));
  }

  bool Infer(InstructionSyntax& instruction) {
    std::vector<ShapeId> operands;
    for (const uint32_t operand : out_.operands_of(instruction)) {
      operands.push_back(out_.instructions[first_ + operand].shape);
      if (!operands.back().valid()) return false;  // it was in error itself
    }
    const auto shape = InferShape({.opcode = instruction.opcode,
                                   .operands = operands,
                                   .attributes = out_.attributes_of(instruction),
                                   .callee_root = CalleeRoot(instruction)},
                                  shapes_);
    if (!shape) {
      return Report(kBadShape, instruction.source,
                    fmt::format("the shape of `{}` is missing and does not follow from its operands", instruction.name),
                    fmt::format("write the shape before `{}`", instruction.opcode));
    }
    instruction.shape = *shape;
    return true;
  }

  // The root's shape of the computation that an instruction applies, or of its first branch.
  std::optional<ShapeId> CalleeRoot(const InstructionSyntax& instruction) const {
    for (const std::string_view key : {"to_apply", "true_computation", "branch_computations"}) {
      Scanner value(ValueOf(out_.attributes_of(instruction), key));
      value.Take('{');
      const auto found = names_of_computations_.find(value.Name());
      if (found == names_of_computations_.end()) continue;
      const ComputationSyntax& callee = out_.computations[found->second];
      const ShapeId shape = out_.instructions[callee.first_instruction + callee.root].shape;
      if (shape.valid()) return shape;
    }
    return std::nullopt;
  }

  std::string Suggestion(std::string_view name) const {
    constexpr size_t kLimit = 10000;
    std::vector<std::string> known;
    names_.ForEach([&](std::string_view other) {
      if (known.size() < kLimit) known.emplace_back(other);
    });
    std::sort(known.begin(), known.end());
    const auto nearest = Nearest(name, known);
    return nearest ? fmt::format("did you mean `{}`?", *nearest) : "";
  }

  const ir::Module& module_;
  ShapeTable& shapes_;
  Diagnostics& diagnostics_;
  Scanner scan_;
  ModuleSyntax out_;
  InstructionSyntax failed_;
  size_t first_ = 0;  // instruction of the computation being read
  struct Inline {
    std::string_view name;
    size_t begin = 0;  // of its `{`
    size_t depth = 1;
  };
  size_t inline_depth_ = 0;     // of the computation being read
  std::vector<Inline> inline_;  // yet to be read
  std::vector<Open> open_;
  std::vector<uint32_t> operands_;  // of the open instructions
  bool has_entry_ = false;
  std::vector<AttributeSyntax> ignored_;
  NameTable names_;
  std::unordered_map<std::string_view, size_t> names_of_computations_;
};

}  // namespace

size_t FindHeader(std::string_view text) {
  size_t at = 0;
  while (true) {
    at = text.find(kHeader, at);
    if (at == std::string_view::npos) return at;
    const size_t behind = at + kHeader.size();
    const bool at_line_start = at == 0 || text[at - 1] == '\n';
    const bool is_word = behind >= text.size() || !IsNameChar(text[behind]);
    if (at_line_start && is_word) return at;
    at = behind;
  }
}

ModuleSyntax Parse(const ir::Module& module, ShapeTable& shapes, Diagnostics& diagnostics) {
  return Parser(module, shapes, diagnostics).Run();
}

std::string_view ValueOf(std::span<const AttributeSyntax> attributes, std::string_view key) {
  for (const AttributeSyntax& a : attributes) {
    if (a.key == key) return a.value;
  }
  return {};
}

}  // namespace hespas::read::hlo
