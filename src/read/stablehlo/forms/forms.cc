#include "read/stablehlo/forms/forms.h"

#include <fmt/format.h>

#include "read/stablehlo/errors.h"
#include "read/stablehlo/op_reader.h"

namespace hespas::read {
namespace {

bool ReadStepOperands(OpReader& r, const PatternStep& step) {
  if (step.code == 0) {
    if (step.optional && r.c.Peek() != '%') return true;
    return r.c.Peek() == '%' ? r.Operands() : r.c.FailExpected("an operand (`%name`)");
  }
  for (char i = 0; i < step.code; ++i) {
    if (i > 0 && !r.c.Expect(',')) return false;
    if (!r.Operand()) return false;
  }
  return true;
}

bool ReadStepValue(OpReader& r, const PatternStep& step) {
  using Kind = PatternStep::Kind;
  std::string_view text;
  switch (step.kind) {
    case Kind::kList:
      if (r.c.Peek() != '[') return r.c.FailExpected("[");
      if (!ReadIntegerList(r, text)) return false;
      break;
    case Kind::kInteger:
      if (!r.c.Integer(text)) return false;
      break;
    case Kind::kBool: {
      text = r.c.Word();
      if (text != "true" && text != "false") return r.c.FailExpected("`true` or `false`");
      break;
    }
    case Kind::kString:
      if (!r.c.String(text)) return false;
      break;
    default:
      text = r.c.Word();
      if (text.empty()) return r.c.FailExpected("a keyword");
      text = r.EnumText(step.enumeration, text);
  }
  r.Add(step.attribute, text);
  return true;
}

bool ReadStep(OpReader& r, const PatternStep& step) {
  using Kind = PatternStep::Kind;
  switch (step.kind) {
    case Kind::kOperands:
      return ReadStepOperands(r, step);
    case Kind::kDictionary:
      return r.Dictionary();
    case Kind::kTypes:
      return ReadTypes(r, step.code);
    default:
      break;
  }
  const bool first = r.draft.operands.empty() && r.draft.attributes.empty();
  if (step.optional && r.c.Peek() != ',') return true;
  if (!first && !r.c.Expect(',')) return false;
  return r.c.ExpectWord(step.key) && r.c.Expect('=') && ReadStepValue(r, step);
}

// One type for all operands and the result.
bool ReadSame(OpReader& r, ir::TypeId type) {
  r.draft.operand_types.assign(r.draft.operands.size(), type);
  r.draft.result_types.push_back(type);
  return true;
}

bool ReadSelectTypes(OpReader& r, size_t offset, ir::TypeId predicate) {
  ir::TypeId value;
  const char* const message = "expected a function type or a list of two types";
  if (!r.c.Eat(',')) return r.c.Fail(kSyntax, offset, message);
  if (!r.types.Read(value)) return false;
  if (r.c.Peek() == ',') return r.c.Fail(kSyntax, offset, message);
  r.draft.operand_types = {predicate, value, value};
  r.draft.result_types.push_back(value);
  return true;
}

// The type is the complex result's; the operands are its parts.
bool ReadComplexTypes(OpReader& r, size_t offset, ir::TypeId type) {
  ir::Type part = r.m.types()[type];
  if (!part.is_tensor() || !part.element.complex) {
    return r.c.Fail(kBadType, offset, "expected a tensor of a complex type");
  }
  part.element.complex = false;
  r.draft.operand_types.assign(2, r.m.types().Intern(std::move(part)));
  r.draft.result_types.push_back(type);
  return true;
}

bool ReadTupleTypes(OpReader& r, size_t offset, ir::TypeId type) {
  const ir::Type& tuple = r.m.types()[type];
  if (tuple.kind != ir::TypeKind::kTuple) return r.c.Fail(kBadType, offset, "expected a tuple type");
  r.draft.operand_types = tuple.nested;
  r.draft.result_types.push_back(type);
  return true;
}

// `T, T -> R` or `T -> (R, R)`.
bool ReadArrowTypes(OpReader& r) {
  if (r.c.Peek() == '(') return r.types.ReadFunction(r.draft.operand_types, r.draft.result_types);
  if (!r.types.ReadList(r.draft.operand_types) || !r.c.ExpectArrow()) return false;
  if (r.c.Peek() == '(') return r.types.ReadParenthesised(r.draft.result_types);
  return r.types.ReadList(r.draft.result_types);
}

bool ReadCastTypes(OpReader& r) {
  if (!r.draft.operands.empty() && !r.types.ReadList(r.draft.operand_types)) return false;
  return r.c.ExpectWord("to") && r.types.ReadList(r.draft.result_types);
}

}  // namespace

bool ReadTypes(OpReader& r, char code) {
  if (!r.c.Expect(':')) return false;
  if (code == 'A') return ReadArrowTypes(r);
  if (code == 'C') return ReadCastTypes(r);
  if (code == 'F' || (code != 'R' && r.c.Peek() == '(')) {
    return r.types.ReadFunction(r.draft.operand_types, r.draft.result_types);
  }
  if (code == 'L') {
    if (!r.types.ReadList(r.draft.operand_types)) return false;
    r.draft.result_types = r.draft.operand_types;
    return true;
  }
  r.c.Space();
  const size_t offset = r.c.offset();
  ir::TypeId type;
  if (!r.types.Read(type)) return false;
  switch (code) {
    case 'S':
      return ReadSame(r, type);
    case 'P':
      return ReadSelectTypes(r, offset, type);
    case 'X':
      return ReadComplexTypes(r, offset, type);
    case 'T':
      return ReadTupleTypes(r, offset, type);
    default:
      r.draft.result_types.push_back(type);
      return true;
  }
}

bool ReadPattern(OpReader& r, const Form& form) {
  // The printer falls back to the generic form behind a bare name where a pretty form cannot hold the op.
  if (r.c.Peek() == '(' && !form.steps.empty()) return r.GenericBody();
  for (const PatternStep& step : form.steps) {
    if (!ReadStep(r, step)) return false;
  }
  const bool single = !form.steps.empty() && form.steps.back().code == 'S';
  if (single && r.draft.result_types.size() != 1) {
    return r.c.Fail(kTypeMismatch, r.draft.operands.empty() ? r.draft.source : r.draft.operands[0].offset,
                    fmt::format("`{}` has a single result", form.name));
  }
  return true;
}

bool ReadIntegerList(OpReader& r, std::string_view& text) {
  if (r.c.Peek() != '[') return r.c.FailExpected("[");
  const char* start = r.c.at();
  r.c.Advance();
  if (!r.c.Eat(']')) {
    do {
      std::string_view number;
      if (!r.c.Integer(number)) return false;
    } while (r.c.Eat(','));
    if (!r.c.Expect(']')) return false;
  }
  text = r.c.From(start);
  return true;
}

}  // namespace hespas::read
