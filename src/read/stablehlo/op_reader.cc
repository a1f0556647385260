#include "read/stablehlo/op_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "read/stablehlo/errors.h"

namespace hespas::read {
void Draft::Clear() {
  spelling = successors = {};
  name = {};
  has_pending = false;
  results.clear();
  operands.clear();
  operand_types.clear();
  result_types.clear();
  attributes.clear();
  regions.clear();
  loop_names.clear();
  arguments.clear();
}

namespace {

// Finds the aliases, and makes room for an op a line: pages that are never touched cost nothing.
size_t Prepare(ir::Module& module, AliasTable& aliases) {
  const size_t lines = aliases.Collect(module.source());
  const size_t ops = std::min(lines, module.source().size() / 64);
  module.Reserve(ops, ops + ops / 2, 2 * ops, 2 * ops);
  return lines + 1024;
}

}  // namespace

OpReader::OpReader(ir::Module& module, Diagnostics& diagnostics)
    : c(module.source()),
      m(module),
      types(c, module, aliases),
      attributes(c, module, aliases, types),
      diagnostics_(diagnostics),
      names_(Prepare(module, aliases)) {}

// --- services
// ----------------------------------------------------------------------------------------------------------

void OpReader::Add(std::string_view name, std::string_view text) { draft.attributes.push_back({NameOf(name), text}); }

std::string_view OpReader::TypeText(ir::TypeId type) {
  std::string_view& text = type_texts_[type.value];
  if (text.empty()) text = m.Keep(m.types().Text(type));
  return text;
}

std::string_view OpReader::EnumText(std::string_view enumeration, std::string_view value) {
  std::string text = fmt::format("#{}<{} {}>", dialect(), enumeration, value);
  const auto found = made_.find(text);
  if (found != made_.end()) return found->second;
  const std::string_view kept = m.Keep(text);
  return made_.emplace(std::move(text), kept).first->second;
}

bool OpReader::ReadUse(Use& use) {
  if (c.Peek() != '%') return c.FailExpected("an operand (`%name`)");
  use = Use{.offset = static_cast<uint32_t>(c.offset())};
  c.Advance();
  std::string_view name;
  use.name = names_.Read(c, name);
  if (name.empty()) return c.FailExpected("a value's name after `%`");
  if (*c == '#' && IsDigit(c[1])) {
    c.Advance();
    for (; IsDigit(*c); c.Advance()) use.number = std::min(use.number * 10 + static_cast<uint32_t>(*c - '0'), 1u << 28);
  }
  const ValueNames::Definition* definition = names_.Find(use.name);
  if (!definition) {
    draft.has_pending = true;
    return true;
  }
  use.poisoned = !definition->first.valid();
  if (use.poisoned) return true;
  if (use.number >= definition->count) {
    return c.Fail(kUndefinedValue, use.offset,
                  fmt::format("`%{}` stands for {} value{}; there is no `#{}`", name, definition->count,
                              definition->count == 1 ? "" : "s", use.number));
  }
  use.value = ir::ValueId(definition->first.index() + use.number);
  return true;
}

bool OpReader::Operand() {
  draft.operands.emplace_back();
  return ReadUse(draft.operands.back());
}

bool OpReader::Operands() {
  if (c.Peek() != '%') return true;
  while (true) {
    if (!Operand()) return false;
    if (c.Peek() != ',') return true;
    const char* comma = c.at();
    c.Advance();
    if (c.Peek() == '%') continue;
    c.MoveTo(comma);
    return true;
  }
}

bool OpReader::ParenthesisedOperands() {
  if (!c.Expect('(')) return false;
  if (c.Eat(')')) return true;
  do {
    if (!Operand()) return false;
  } while (c.Eat(','));
  return c.Expect(')');
}

bool OpReader::Dictionary() { return c.Peek() != '{' || ReadDictionary(draft.attributes); }

bool OpReader::ReadDictionary(std::vector<ir::Attribute>& out) {
  if (!c.Expect('{')) return false;
  if (c.Eat('}')) return true;
  do {
    std::string_view name;
    if (c.Peek() == '"') {
      if (!c.String(name)) return false;
      name = name.substr(1, name.size() - 2);
    } else {
      name = c.Word();
      if (name.empty()) return c.FailExpected("an attribute's name");
    }
    ir::Attribute attribute{NameOf(name), {}};
    if (c.Eat('=') && !attributes.Read(attribute.text)) return false;
    out.push_back(attribute);
  } while (c.Eat(','));
  return c.Expect('}');
}

bool OpReader::FunctionSuffix() { return c.Expect(':') && types.ReadFunction(draft.operand_types, draft.result_types); }

bool OpReader::SkipLocation(std::string_view* text) {
  if (c.Peek() != 'l' || !c.EatWord("loc")) return true;
  if (c.Peek() != '(') return c.FailExpected("(");
  const char* start = c.at() + 1;
  if (!c.SkipBalanced()) return false;
  if (text) *text = {start, static_cast<size_t>(c.at() - 1 - start)};
  return true;
}

bool OpReader::ReadArgument(bool with_type) {
  draft.arguments.emplace_back();
  RegionArgument& argument = draft.arguments.back();
  if (!ReadUse(argument.name)) return false;
  if (!with_type) return true;
  return c.Expect(':') && types.Read(argument.type) && SkipLocation();
}

// --- ops
// ---------------------------------------------------------------------------------------------------------------

bool OpReader::ReadResultNames() {
  do {
    if (c.Peek() != '%') return c.FailExpected("a result's name");
    ResultName result{.name = 0, .count = 1, .offset = static_cast<uint32_t>(c.offset())};
    c.Advance();
    std::string_view name;
    result.name = names_.Read(c, name);
    if (name.empty()) return c.FailExpected("a value's name after `%`");
    if (c.Eat(':')) {
      std::string_view count;
      if (!c.Integer(count)) return false;
      result.count = 0;
      for (const char digit : count) {
        if (digit == '-' || result.count > (1u << 24))
          return c.Fail(kSyntax, result.offset, "no valid number of results");
        result.count = result.count * 10 + static_cast<uint32_t>(digit - '0');
      }
      if (result.count == 0) return c.Fail(kSyntax, result.offset, "a name needs at least one result");
    }
    draft.results.push_back(result);
  } while (c.Eat(','));
  return c.Expect('=');
}

const OpReader::NamedForm& OpReader::FormOf(std::string_view name) {
  return forms_.FindOrAdd(name, [&] {
    const Form* form = FindForm(name);
    return NamedForm{form, form ? m.InternName(form->name) : ir::NameId()};
  });
}

bool OpReader::ReadOp() {
  draft.Clear();
  opened_ = false;
  c.Space();
  draft.source = static_cast<uint32_t>(c.offset());
  if (*c == '%') {
    if (!ReadResultNames()) return false;
    c.Space();
    draft.source = static_cast<uint32_t>(c.offset());
  }
  if (*c == '"') {
    std::string_view name;
    if (!c.String(name)) return false;
    draft.spelling = name.substr(1, name.size() - 2);
    if (draft.spelling.empty()) return c.Fail(kSyntax, draft.source, "an op needs a name");
    if (!GenericBody()) return false;
  } else {
    const std::string_view word = c.Word();
    if (word.empty()) return c.FailExpected("an op");
    const auto [form, name] = FormOf(word);
    if (!form) {
      return c.Fail(kUnknownOp, draft.source, fmt::format("op `{}` has no pretty form that is known here", word),
                    SuggestForm(word));
    }
    draft.spelling = form->name;
    draft.name = name;
    if (!(form->read ? form->read(*this) : ReadPattern(*this, *form))) return false;
  }
  return opened_ || FinishOp();
}

bool OpReader::GenericBody() {
  if (!ParenthesisedOperands()) return false;
  if (c.Peek() == '[') {
    if (!attributes.ReadBracketed(draft.successors)) return false;
  }
  if (c.Peek() == '<') {
    c.Advance();
    if (!ReadDictionary(draft.attributes) || !c.Expect('>')) return false;
  }
  if (c.Peek() == '(') {
    c.Advance();
    return OpenRegion(GenericRegionDone);
  }
  return Dictionary() && FunctionSuffix();
}

bool GenericRegionDone(OpReader& reader) {
  if (reader.c.Eat(',')) return reader.OpenRegion(GenericRegionDone);
  return reader.c.Expect(')') && reader.Dictionary() && reader.FunctionSuffix();
}

bool OpReader::CheckOperands() {
  const size_t count = draft.operands.size();
  if (count != draft.operand_types.size()) {
    return c.Fail(
        kTypeMismatch, count == 0 ? draft.source : draft.operands[0].offset,
        fmt::format("`{}` has {} operand{}, but {} operand type{}", draft.spelling, count, count == 1 ? "" : "s",
                    draft.operand_types.size(), draft.operand_types.size() == 1 ? "" : "s"));
  }
  for (size_t i = 0; i < count; ++i) {
    const ir::TypeId defined = TypeOf(draft.operands[i]);
    if (!defined.valid() || defined == draft.operand_types[i]) continue;
    return c.Fail(kTypeMismatch, draft.operands[i].offset,
                  fmt::format("this operand has the type {}, but is used as {}", m.types().Text(defined),
                              m.types().Text(draft.operand_types[i])));
  }
  return true;
}

// No attribute may be given twice, be it in `<{...}>`, in `{...}` or by the pretty form.
bool OpReader::CheckAttributes() {
  const size_t count = draft.attributes.size();
  const auto twice = [&](ir::NameId name) {
    return c.Fail(kBadAttribute, draft.source, fmt::format("attribute `{}` is given twice", m.name(name)));
  };
  if (count <= 12) {
    for (size_t i = 1; i < count; ++i) {
      for (size_t k = 0; k < i; ++k) {
        if (draft.attributes[i].name == draft.attributes[k].name) return twice(draft.attributes[i].name);
      }
    }
    return true;
  }
  std::vector<ir::NameId> names;
  for (const ir::Attribute& attribute : draft.attributes) names.push_back(attribute.name);
  std::sort(names.begin(), names.end());
  const auto found = std::adjacent_find(names.begin(), names.end());
  return found == names.end() || twice(*found);
}

bool OpReader::FinishOp() {
  std::string_view location;
  if (!SkipLocation(&location)) return false;
  if (location.data() != nullptr) Add("loc", location);
  if (!CheckOperands() || !CheckAttributes()) return false;
  size_t named = 0;
  for (const ResultName& result : draft.results) named += result.count;
  if (named != draft.result_types.size() && !draft.results.empty()) {
    return c.Fail(kTypeMismatch, draft.results[0].offset,
                  fmt::format("`{}` has {} result{}, but {} {} named here", draft.spelling, draft.result_types.size(),
                              draft.result_types.size() == 1 ? "" : "s", named, named == 1 ? "is" : "are"));
  }
  static thread_local std::vector<ir::ValueId> operands;
  operands.clear();
  for (const Use& use : draft.operands) operands.push_back(use.value);
  const ir::OpId op = m.AddOp(frames_.back().block, {.name = draft.name.valid() ? draft.name : NameOf(draft.spelling),
                                                     .operands = operands,
                                                     .result_types = draft.result_types,
                                                     .attributes = draft.attributes,
                                                     .regions = draft.regions,
                                                     .source = draft.source});
  if (!draft.successors.empty()) frames_.back().branches.emplace_back(op, draft.successors);
  if (draft.has_pending) NotePending(op);
  if (frames_.size() == 1 || (frames_.size() == 2 && frames_[1].draft.spelling == "builtin.module")) NoteSymbol(op);
  return DefineResults(op);
}

bool OpReader::DefineResults(ir::OpId op) {
  size_t index = m.op(op).first_result.index();
  for (const ResultName& result : draft.results) {
    const ir::ValueId first(index);
    index += result.count;
    if (!names_.Define(result.name, first, result.count)) {
      draft.results.clear();
      return c.Fail(kRedefinedValue, result.offset, "this value is defined already", "give it another name");
    }
    if (!pending_.empty()) PatchPending(result.name, first, result.count);
  }
  return true;
}

void OpReader::NoteSymbol(ir::OpId op) {
  const std::string_view* symbol = m.attribute(op, "sym_name");
  if (!symbol || symbol->size() < 2 || m.kind(op) == ir::OpKind::kModule) return;
  m.AddSymbol(symbol->substr(1, symbol->size() - 2), op);
}

}  // namespace hespas::read
