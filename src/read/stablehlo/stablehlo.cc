#include "read/stablehlo/stablehlo.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "read/stablehlo/errors.h"
#include "read/stablehlo/op_reader.h"

namespace hespas::read {

// --- the file level of OpReader
// -----------------------------------------------------------------------------------------

bool OpReader::Run() {
  Frame top;
  top.block = m.AddBlock({});
  top.blocks.push_back(top.block);
  frames_.push_back(std::move(top));
  while (diagnostics_.wants_more()) {
    const char next = c.Peek();
    const size_t start = c.offset();
    if (c.AtEnd()) {
      if (frames_.size() == 1) break;
      const Draft& open = frames_.back().draft;
      diagnostics_.Error(kTruncated,
                         fmt::format("the file ends inside `{}`, whose region is never closed", open.spelling),
                         m.LocationAt(open.source), "the file was probably cut off: fetch it again");
      break;
    }
    if (frames_.size() == 1 && m.op_count() == 0 && !opened_ && !BeginsStatement()) {
      // Further errors in prose, or behind a first one, would say nothing new.
      if (!diagnostics_.has_errors()) {
        diagnostics_.Error(kNotAProgram, "the text is no program: no statement of MLIR starts here",
                           m.LocationAt(start), std::string(kProgramsHelp));
      }
      break;
    }
    bool good;
    if (frames_.size() > 1 && next == '}') {
      good = CloseRegion();
    } else if (frames_.size() > 1 && next == '^') {
      good = StartBlock();
    } else if (frames_.size() == 1 && (next == '#' || next == '!' || next == '{')) {
      good = ReadTopLevel();
    } else if (!frames_.back().block.valid()) {
      good = c.FailExpected("a block label or `}`");
    } else {
      good = ReadOp();
    }
    if (!good) Recover(start);
  }
  ReportPending(names_.scope());
  if (!diagnostics_.has_errors()) {
    KeepAliases();
    FinishModule();
  }
  return !diagnostics_.has_errors();
}

constexpr std::string_view kDialects[] = {"arith", "builtin",   "cf",     "chlo", "complex", "func", "linalg",
                                          "llvm",  "math",      "memref", "mhlo", "quant",   "scf",  "sdy",
                                          "shape", "stablehlo", "tensor", "tosa", "vector",  "vhlo"};

// Whether what stands here may be an operation, an alias or the list of resources.
bool OpReader::BeginsStatement() {
  const std::string_view rest = m.source().substr(c.offset());
  const auto is_word = [](char ch) { return IsIdent(ch) || ch == '$'; };
  const auto word_at = [&](size_t at) {
    size_t end = at;
    while (end < rest.size() && is_word(rest[end])) ++end;
    return rest.substr(at, end - at);
  };
  switch (rest.front()) {
    case '#':
    case '!': {
      const size_t after = rest.find_first_not_of(" \t", 1 + word_at(1).size());
      return rest.size() > 1 && !word_at(1).empty() && after != std::string_view::npos && rest[after] == '=';
    }
    case '{':
      return rest.starts_with("{-#");
    case '%':
      return !word_at(1).empty();
    case '"':
      return word_at(1).find('.') != std::string_view::npos;
    default: {
      const std::string_view word = word_at(0);
      const size_t dot = word.find('.');
      if (dot == std::string_view::npos)
        return word == "module" || word == "func" || word == "call" || word == "return";
      const std::string_view dialect = word.substr(0, dot);
      if (dot + 1 == word.size()) return false;
      if (std::find(std::begin(kDialects), std::end(kDialects), dialect) != std::end(kDialects)) return true;
      // Of another dialect: operands and the like follow its op, where words of a sentence would.
      const size_t next = rest.find_first_not_of(" \t", word.size());
      return next == std::string_view::npos || !IsLetter(rest[next]);
    }
  }
}

bool OpReader::ReadTopLevel() { return *c == '{' ? ReadResources() : ReadAliasDefinition(); }

bool OpReader::ReadAliasDefinition() {
  const bool is_type = *c == '!';
  const size_t offset = c.offset();
  const std::string_view name = AliasName(c.at());
  if (name.empty()) return c.FailExpected("an alias name without a dot");
  c.Advance(name.size());
  if (!c.Expect('=')) return false;
  const size_t body = c.offset();
  Alias& alias = aliases.Add(name, offset, body);
  if (alias.seen || alias.offset != offset) {
    return c.Fail(kRedefinedValue, offset, fmt::format("alias `{}` is defined already", name));
  }
  alias.seen = true;
  if (is_type) return types.Read(alias.type);
  // A chain is followed from here only if nobody asked before.
  if (c.Peek() == '#' && !AliasName(c.at()).empty()) {
    std::string_view text;
    const size_t length = AliasName(c.at()).size();
    if (alias.text.data() == nullptr) {
      const char* at = c.at();
      if (!attributes.Resolve(name, text)) return false;
      c.MoveTo(at);
    }
    c.Advance(length);
    return true;
  }
  std::string_view text;
  if (!attributes.Read(text)) return false;
  alias.text = text;
  return true;
}

// `{-# dialect_resources: {...} #-}`: kept out of the module; constants refer to it by name.
bool OpReader::ReadResources() {
  const size_t start = c.offset();
  if (c[1] != '-' || c[2] != '#') return c.FailExpected("an op");
  c.Advance(3);
  while (!(c.Peek() == '#' && c[1] == '-' && c[2] == '}')) {
    if (c.AtEnd()) return c.Fail(kTruncated, start, "these resources never end", "the file was probably cut off");
    if (*c == '"') {
      std::string_view text;
      if (!c.String(text)) return false;
    } else if (*c == '{') {
      if (!c.SkipBalanced()) return false;
    } else {
      c.Advance();
    }
  }
  c.Advance(3);
  return true;
}

void OpReader::Recover(size_t start) {
  Diagnostic diagnostic = c.error();
  diagnostic.location = m.LocationAt(c.error_offset());
  const bool at_end = c.error().kind == &kTruncated;
  diagnostics_.Report(std::move(diagnostic));
  c.ClearError();
  for (const ResultName& result : draft.results) names_.Define(result.name, ir::ValueId(), 1u << 30);
  if (opened_) {
    // The error is in the head of a region: its ops are read as if nothing had happened.
    return;
  }
  if (at_end) {
    c.MoveTo(m.source().size());
    frames_.resize(1);
    return;
  }
  // Behind the end of a line at which all brackets of the op are closed again.
  const size_t error_offset = c.offset();
  int depth = 0;
  c.MoveTo(start);
  while (!c.AtEnd()) {
    const char ch = *c;
    if (ch == '\n' && depth <= 0 && c.offset() >= error_offset) break;
    if (ch == '"') {
      const size_t quote = c.offset();
      std::string_view text;
      if (!c.String(text)) c.ClearError();
      if (c.offset() == quote) c.Advance();  // a string that never ends; one over several lines is behind us
      continue;
    }
    if (ch == '/' && c[1] == '/') {
      c.Space();
      continue;
    }
    if (ch == '{' || ch == '(' || ch == '[') ++depth;
    if (ch == ')' || ch == ']') --depth;
    if (ch == '}' && --depth < 0) break;  // the enclosing region ends here
    c.Advance();
  }
  if (c.offset() == start) c.Advance();
}

// What attribute texts may still refer to.
void OpReader::KeepAliases() {
  for (const auto& [name, alias] : aliases.all()) {
    if (alias.type.valid()) m.AddAlias(name, m.Keep(m.types().Text(alias.type)));
    if (alias.text.data() != nullptr) m.AddAlias(name, alias.text);
  }
}

// The file's one module is the root; anything else is wrapped in an implicit one.
void OpReader::FinishModule() {
  const ir::BlockId block = frames_[0].block;
  const auto& ops = m.block(block).ops;
  if (ops.size() == 1 && m.kind(ops[0]) == ir::OpKind::kModule) {
    m.SetRoot(ops[0]);
    return;
  }
  const ir::RegionId region = m.AddRegion({&block, 1});
  m.AddOp(ir::BlockId(), {.name = m.InternName("builtin.module"), .regions = {&region, 1}});
}

// --- the stage's function
// ------------------------------------------------------------------------------------------------

Result<ir::Module> ReadStableHlo(std::string path, Content text, Diagnostics& diagnostics) {
  const auto refuse = [&](const DiagnosticKind& kind, std::string message, std::string help) -> Result<ir::Module> {
    Error error = MakeError(kind, std::move(message), {.file = path, .line = 1, .column = 1}, std::move(help));
    diagnostics.Report(error);
    return error;
  };
  if (text.view().size() >= std::numeric_limits<uint32_t>::max()) {
    return refuse(kSourceTooLarge, "the program is larger than 4 GiB", "keep large constants outside of the program");
  }
  if (text.view().find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return refuse(kNotAProgram, "the file is empty", "give a StableHLO or MHLO program, HLO text or MLIR bytecode");
  }
  ir::Module module;
  const size_t errors_before = diagnostics.all().size();
  module.SetSource(std::move(path), std::move(text));
  OpReader reader(module, diagnostics);
  if (!reader.Run()) {
    for (size_t i = errors_before; i < diagnostics.all().size(); ++i) {
      if (!diagnostics.all()[i].is_warning()) return diagnostics.all()[i];
    }
    return diagnostics.all().back();
  }
  return module;
}

}  // namespace hespas::read
