#include "read/hlo/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/suggest.h"
#include "read/hlo/name_table.h"
#include "read/hlo/scanner.h"

namespace hespas::read::hlo {
namespace {

constexpr std::string_view kHeader = "HloModule";
constexpr std::string_view kSideTables[] = {"FileNames", "FunctionNames", "FileLocations", "StackFrames"};
constexpr size_t kMaximumInstructions = size_t{1} << 30;

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
      if (!ParseComputation()) break;
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
      scan_.SkipBlanksOnLine();
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
    computation.is_entry = scan_.TakeWord("ENTRY");
    scan_.SkipBlanks();
    computation.source = static_cast<uint32_t>(scan_.position());
    computation.name = scan_.Name();
    if (computation.name.empty()) return Expected("a computation");
    if (!SkipSignature()) return false;
    if (!scan_.Take('{')) return Expected("`{`");
    computation.first_instruction = static_cast<uint32_t>(out_.instructions.size());
    if (!ParseBody(computation)) return false;
    ignored_.clear();
    if (!ParseAttributes(ignored_)) return false;
    if (!names_of_computations_.emplace(computation.name, out_.computations.size()).second) {
      Report(kDuplicateName, computation.source, fmt::format("a second computation is called `{}`", computation.name));
    }
    if (computation.is_entry || !has_entry_) out_.entry = out_.computations.size();
    has_entry_ = has_entry_ || computation.is_entry;
    out_.computations.push_back(computation);
    return true;
  }

  bool SkipSignature() {
    scan_.SkipBlanks();
    if (scan_.peek() != '(') return true;
    if (scan_.Balanced().empty()) return Expected("`)` of the parameter list");
    scan_.SkipBlanks();
    if (!scan_.rest().starts_with("->")) return true;
    scan_.Seek(scan_.position() + 2);
    return !scan_.Shape().empty() || Expected("the result's shape");
  }

  bool ParseBody(ComputationSyntax& computation) {
    names_.Clear();
    size_t root = std::string_view::npos;
    while (diagnostics_.wants_more()) {
      if (scan_.Take('}')) break;
      if (scan_.at_end()) return Expected("`}`");
      const bool is_root = scan_.TakeWord("ROOT");
      if (is_root) root = out_.instructions.size() - computation.first_instruction;
      if (ParseInstruction(computation)) continue;
      // Keep the name known, so that its users are not reported too.
      out_.instructions.push_back(failed_);
      scan_.SkipLine();
    }
    computation.instruction_count = static_cast<uint32_t>(out_.instructions.size()) - computation.first_instruction;
    if (computation.instruction_count == 0) {
      return Report(kSyntaxError, computation.source, fmt::format("computation `{}` is empty", computation.name));
    }
    computation.root = root == std::string_view::npos ? computation.instruction_count - 1 : static_cast<uint32_t>(root);
    return true;
  }

  bool ParseInstruction(const ComputationSyntax& computation) {
    InstructionSyntax instruction;
    scan_.SkipBlanks();
    instruction.source = static_cast<uint32_t>(scan_.position());
    instruction.name = scan_.Name();
    failed_ = {.name = instruction.name, .source = instruction.source};
    const size_t index = out_.instructions.size() - computation.first_instruction;
    if (instruction.name.empty()) return Expected("an instruction");
    if (!names_.Insert(instruction.name, static_cast<uint32_t>(index))) {
      return Report(kDuplicateName, instruction.source,
                    fmt::format("a second instruction is called `{}`", instruction.name));
    }
    if (!scan_.Take('=')) return Expected("`=`");
    if (!ParseShape(instruction)) return false;
    instruction.opcode = scan_.Name();
    if (instruction.opcode.empty()) return Expected("an opcode");
    scan_.SkipBlanks();
    if (scan_.peek() != '(') return Expected("`(`");
    if (!ParseArguments(instruction)) return false;
    instruction.first_attribute = static_cast<uint32_t>(out_.attributes.size());
    if (!ParseAttributes(out_.attributes)) return false;
    instruction.attribute_count = static_cast<uint32_t>(out_.attributes.size()) - instruction.first_attribute;
    if (out_.instructions.size() >= kMaximumInstructions) return Expected("fewer instructions");
    out_.instructions.push_back(instruction);
    return true;
  }

  bool ParseShape(InstructionSyntax& instruction) {
    scan_.SkipBlanks();
    const size_t begin = scan_.position();
    const std::string_view text = scan_.Shape();
    const auto shape = text.empty() ? std::nullopt : shapes_.Find(text);
    if (shape) {
      instruction.shape = *shape;
      return true;
    }
    return Report(kBadShape, begin, fmt::format("`{}` has no readable shape", instruction.name),
                  "a shape is an element type, dimensions and perhaps a layout: `bf16[4,8]{1,0}`");
  }

  bool ParseArguments(InstructionSyntax& instruction) {
    const size_t open = scan_.position();
    if (instruction.opcode == "constant" || instruction.opcode == "parameter") {
      const std::string_view all = scan_.Balanced();
      if (all.empty()) return Report(kSyntaxError, open, "`(` is never closed");
      instruction.literal = all.substr(1, all.size() - 2);
      return true;
    }
    scan_.Take('(');
    instruction.first_operand = static_cast<uint32_t>(out_.operands.size());
    while (!scan_.Take(')')) {
      if (out_.operands.size() > instruction.first_operand && !scan_.Take(',')) return Expected("`,` or `)`");
      if (!ParseOperand()) return false;
    }
    instruction.operand_count = static_cast<uint32_t>(out_.operands.size()) - instruction.first_operand;
    return true;
  }

  // A name; older dumps write its shape before it.
  bool ParseOperand() {
    scan_.Shape();
    scan_.SkipBlanks();
    const size_t at = scan_.position();
    const std::string_view name = scan_.Name();
    if (name.empty()) return Expected("an operand");
    const auto found = names_.Find(name);
    if (!found) {
      return Report(kUnknownOperand, at, fmt::format("`{}` is no earlier instruction of this computation", name),
                    Suggestion(name));
    }
    out_.operands.push_back(*found);
    return true;
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
