// Pretty forms of MLIR's own dialects as far as they appear beside StableHLO: arith, tensor, shape, cf, scf.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "read/stablehlo/errors.h"
#include "read/stablehlo/forms/forms.h"
#include "read/stablehlo/op_reader.h"

namespace hespas::read {
namespace {

ir::TypeId Scalar(OpReader& r, ir::ElementKind kind, uint16_t bits) {
  ir::Element element;
  element.kind = kind;
  element.bits = bits;
  return r.m.types().InternScalar(element);
}
ir::TypeId IndexType(OpReader& r) { return Scalar(r, ir::ElementKind::kIndex, 64); }

// The element type of a tensor as a type of its own.
ir::TypeId ElementType(OpReader& r, ir::TypeId tensor) {
  const ir::Element element = r.m.types()[tensor].element;
  return r.m.types().InternScalar(element);
}

}  // namespace

bool ReadArithConstant(OpReader& r) {
  if (r.c.Peek() == '(') return r.GenericBody();
  std::string_view text;
  if (!r.Dictionary()) return false;
  const bool truth = r.c.Peek() == 't' || *r.c == 'f';
  if (!r.attributes.Read(text)) return false;
  ir::TypeId type = r.attributes.last_type();
  if (!type.valid()) {
    type = truth                                      ? Scalar(r, ir::ElementKind::kInteger, 1)
           : text.find('.') != std::string_view::npos ? Scalar(r, ir::ElementKind::kF64, 64)
                                                      : Scalar(r, ir::ElementKind::kInteger, 64);
  }
  r.Add("value", text);
  r.draft.result_types.push_back(type);
  return true;
}

// `slt, %a, %b : T`; the result is i1 of T's shape.
bool ReadArithCompare(OpReader& r) {
  constexpr std::array<std::string_view, 10> kInteger = {"eq",  "ne",  "slt", "sle", "sgt",
                                                         "sge", "ult", "ule", "ugt", "uge"};
  constexpr std::array<std::string_view, 16> kFloat = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                                       "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};
  r.c.Space();
  const size_t offset = r.c.offset();
  const std::string_view word = r.c.Word();
  const bool integer = r.draft.spelling == "arith.cmpi";
  const auto* begin = integer ? kInteger.data() : kFloat.data();
  const auto* end = begin + (integer ? kInteger.size() : kFloat.size());
  const auto* found = std::find(begin, end, word);
  if (found == end) return r.c.Fail(kSyntax, offset, fmt::format("`{}` is no predicate of {}", word, r.draft.spelling));
  r.AddMade("predicate", fmt::format("{} : i64", found - begin));
  if (!r.c.Expect(',') || !r.Operand() || !r.c.Expect(',') || !r.Operand() || !r.Dictionary()) return false;
  ir::TypeId type;
  if (!r.c.Expect(':') || !r.types.Read(type)) return false;
  ir::Type result = r.m.types()[type];
  result.element = {.kind = ir::ElementKind::kInteger, .bits = 1};
  r.draft.operand_types.assign(2, type);
  r.draft.result_types.push_back(r.m.types().Intern(std::move(result)));
  return true;
}

// `%c, %a, %b : T` with an i1 condition, or `: C, T`.
bool ReadSelect(OpReader& r) {
  if (!r.Operands() || !r.Dictionary() || !r.c.Expect(':')) return false;
  ir::TypeId first, value;
  if (!r.types.Read(first)) return false;
  value = first;
  if (r.c.Eat(',')) {
    if (!r.types.Read(value)) return false;
  } else {
    first = Scalar(r, ir::ElementKind::kInteger, 1);
  }
  r.draft.operand_types = {first, value, value};
  r.draft.result_types.push_back(value);
  return true;
}

// `%t[%i, %j] : T`.
bool ReadIndexed(OpReader& r) {
  if (!r.Operand() || !r.c.Expect('[')) return false;
  if (!r.Operands() || !r.c.Expect(']') || !r.Dictionary() || !r.c.Expect(':')) return false;
  ir::TypeId type;
  if (!r.types.Read(type)) return false;
  r.draft.operand_types.assign(r.draft.operands.size(), IndexType(r));
  r.draft.operand_types[0] = type;
  r.draft.result_types.push_back(ElementType(r, type));
  return true;
}

// `%x into %t[%i] : T`.
bool ReadInsert(OpReader& r) {
  if (!r.Operand() || !r.c.ExpectWord("into") || !r.Operand() || !r.c.Expect('[')) return false;
  if (!r.Operands() || !r.c.Expect(']') || !r.Dictionary() || !r.c.Expect(':')) return false;
  ir::TypeId type;
  if (!r.types.Read(type)) return false;
  r.draft.operand_types.assign(r.draft.operands.size(), IndexType(r));
  r.draft.operand_types[0] = ElementType(r, type);
  r.draft.operand_types[1] = type;
  r.draft.result_types.push_back(type);
  return true;
}

bool ReadFromElements(OpReader& r) {
  if (!r.Operands() || !r.Dictionary() || !r.c.Expect(':')) return false;
  ir::TypeId type;
  if (!r.types.Read(type)) return false;
  r.draft.operand_types.assign(r.draft.operands.size(), ElementType(r, type));
  r.draft.result_types.push_back(type);
  return true;
}

// `[6, 4] : T`.
bool ReadConstShape(OpReader& r) {
  std::string_view list;
  if (!r.Dictionary() || !ReadIntegerList(r, list)) return false;
  const auto count = list == "[]" ? 0 : 1 + std::count(list.begin(), list.end(), ',');
  r.AddMade("shape", fmt::format("dense<{}> : tensor<{}xindex>", count == 0 ? "" : list, count));
  return ReadTypes(r, 'R');
}

// Only operand types are written; the result's follows from the op.
bool ReadOperandTypesOnly(OpReader& r) {
  if (!r.Operands() || !r.Dictionary()) return false;
  const bool sizes = r.draft.spelling == "shape.index_to_size" || r.draft.spelling == "shape.size_to_index";
  const auto opaque = [&](std::string_view text) {
    ir::Type type;
    type.kind = ir::TypeKind::kOpaque;
    type.text = std::string(text);
    return r.m.types().Intern(std::move(type));
  };
  if (!sizes && (!r.c.Expect(':') || !r.types.ReadList(r.draft.operand_types))) return false;
  if (r.draft.spelling == "tensor.dim") {
    r.draft.operand_types.push_back(IndexType(r));
    r.draft.result_types.push_back(IndexType(r));
  } else if (r.draft.spelling == "shape.index_to_size") {
    r.draft.operand_types.push_back(IndexType(r));
    r.draft.result_types.push_back(opaque("!shape.size"));
  } else if (sizes) {
    if (r.c.Eat(':') && !r.types.ReadList(r.draft.operand_types)) return false;
    if (r.draft.operand_types.empty()) r.draft.operand_types.push_back(opaque("!shape.size"));
    r.draft.result_types.push_back(IndexType(r));
  } else {
    r.draft.result_types.push_back(opaque("!shape.witness"));
  }
  return true;
}

// --- control flow
// --------------------------------------------------------------------------------------------------------

namespace {

// `^bb1(%a, %b : T, T)`; returns how many operands the block gets.
bool ReadSuccessor(OpReader& r, size_t& count) {
  if (r.c.Peek() != '^') return r.c.FailExpected("a block (`^name`)");
  r.c.Advance();
  while (IsIdent(*r.c) || *r.c == '-') r.c.Advance();
  const size_t before = r.draft.operands.size();
  if (r.c.Eat('(')) {
    if (!r.Operands() || !r.c.Expect(':') || !r.types.ReadList(r.draft.operand_types) || !r.c.Expect(')')) return false;
  }
  count = r.draft.operands.size() - before;
  return true;
}

}  // namespace

bool ReadBranch(OpReader& r) {
  r.c.Space();
  const char* start = r.c.at();
  size_t count = 0;
  if (!ReadSuccessor(r, count)) return false;
  r.draft.successors = r.c.From(start);
  return r.Dictionary();
}

bool ReadConditionalBranch(OpReader& r) {
  if (!r.Operand() || !r.c.Expect(',')) return false;
  r.draft.operand_types.push_back(Scalar(r, ir::ElementKind::kInteger, 1));
  r.c.Space();
  const char* start = r.c.at();
  size_t first = 0, second = 0;
  if (!ReadSuccessor(r, first) || !r.c.Expect(',') || !ReadSuccessor(r, second)) return false;
  r.draft.successors = r.c.From(start);
  r.AddMade("operandSegmentSizes", fmt::format("array<i32: 1, {}, {}>", first, second));
  return r.Dictionary();
}

namespace {

// The regions of scf ops without results end in a yield that is not written.
bool AddMissingYield(OpReader& r) {
  const ir::RegionId region = r.draft.regions.back();
  const ir::BlockId block = r.m.region(region).first_block;
  if (!r.draft.result_types.empty() || !block.valid()) return true;
  const auto& ops = r.m.block(block).ops;
  if (!ops.empty() && r.m.name(ops.back()) == "scf.yield") return true;
  r.m.AddOp(block, {.name = r.m.InternName("scf.yield"), .source = r.draft.source});
  return true;
}

bool ForDone(OpReader& r) { return AddMissingYield(r) && r.Dictionary(); }

bool ElseDone(OpReader& r) { return AddMissingYield(r) && r.Dictionary(); }

bool ThenDone(OpReader& r) {
  if (!AddMissingYield(r)) return false;
  if (r.c.EatWord("else")) return r.OpenRegion(ElseDone, false, true);
  r.draft.regions.push_back(r.m.AddRegion({}));
  return r.Dictionary();
}

}  // namespace

// `%i = %a to %b step %c (iter_args(%x = %y, ...) -> (T, ...))? (: T)? { ... }`.
bool ReadFor(OpReader& r) {
  if (!r.ReadArgument(false) || !r.c.Expect('=') || !r.Operand() || !r.c.ExpectWord("to") || !r.Operand() ||
      !r.c.ExpectWord("step") || !r.Operand()) {
    return false;
  }
  if (r.c.EatWord("iter_args")) {
    if (!r.c.Expect('(')) return false;
    do {
      if (!r.ReadArgument(false) || !r.c.Expect('=') || !r.Operand()) return false;
    } while (r.c.Eat(','));
    if (!r.c.Expect(')') || !r.c.ExpectArrow()) return false;
    const bool list = r.c.Peek() == '(';
    if (!(list ? r.types.ReadParenthesised(r.draft.result_types) : r.types.ReadList(r.draft.result_types)))
      return false;
  }
  ir::TypeId bound = IndexType(r);
  if (r.c.Eat(':') && !r.types.Read(bound)) return false;
  r.draft.operand_types.assign(3, bound);
  r.draft.operand_types.insert(r.draft.operand_types.end(), r.draft.result_types.begin(), r.draft.result_types.end());
  if (r.draft.result_types.size() + 1 != r.draft.arguments.size()) {
    return r.c.Fail(kTypeMismatch, r.draft.source, "the carried values and their types differ in number");
  }
  r.draft.arguments[0].type = bound;
  for (size_t i = 0; i < r.draft.result_types.size(); ++i) r.draft.arguments[i + 1].type = r.draft.result_types[i];
  return r.OpenRegion(ForDone, false, true);
}

bool ReadIf(OpReader& r) {
  if (!r.Operand()) return false;
  r.draft.operand_types.push_back(Scalar(r, ir::ElementKind::kInteger, 1));
  if (r.c.EatArrow()) {
    const bool list = r.c.Peek() == '(';
    if (!(list ? r.types.ReadParenthesised(r.draft.result_types) : r.types.ReadList(r.draft.result_types)))
      return false;
  }
  return r.OpenRegion(ThenDone, false, true);
}

}  // namespace hespas::read
