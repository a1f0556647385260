#include "read/stablehlo/forms.h"

#include <fmt/format.h>

#include <array>
#include <unordered_map>

#include "base/suggest.h"
#include "read/stablehlo/errors.h"
#include "read/stablehlo/op_reader.h"

namespace hespas::read {
namespace {

// Forms that stablehlo and mhlo share, by the name without dialect.
constexpr FormRow kHloForms[] = {
    {"abs", "1 D S"},
    {"cbrt", "1 D S"},
    {"ceil", "1 D S"},
    {"convert", "1 D S"},
    {"count_leading_zeros", "1 D S"},
    {"cosine", "1 D S"},
    {"exponential", "1 D S"},
    {"exponential_minus_one", "1 D S"},
    {"floor", "1 D S"},
    {"imag", "1 D S"},
    {"log", "1 D S"},
    {"log_plus_one", "1 D S"},
    {"logistic", "1 D S"},
    {"negate", "1 D S"},
    {"not", "1 D S"},
    {"popcnt", "1 D S"},
    {"real", "1 D S"},
    {"round_nearest_afz", "1 D S"},
    {"round_nearest_even", "1 D S"},
    {"rsqrt", "1 D S"},
    {"sign", "1 D S"},
    {"sine", "1 D S"},
    {"sqrt", "1 D S"},
    {"tan", "1 D S"},
    {"tanh", "1 D S"},
    {"uniform_quantize", "1 D S"},
    {"uniform_dequantize", "1 D S"},
    {"is_finite", "1 D F"},
    {"add", "2 D S"},
    {"atan2", "2 D S"},
    {"divide", "2 D S"},
    {"maximum", "2 D S"},
    {"minimum", "2 D S"},
    {"multiply", "2 D S"},
    {"power", "2 D S"},
    {"remainder", "2 D S"},
    {"shift_left", "2 D S"},
    {"shift_right_arithmetic", "2 D S"},
    {"shift_right_logical", "2 D S"},
    {"subtract", "2 D S"},
    {"and", "2 D S"},
    {"or", "2 D S"},
    {"xor", "2 D S"},
    {"complex", "2 D X"},
    {"constant", "", ReadConstant},
    {"iota", "dim=#iota_dimension D R"},
    {"dynamic_iota", "1 dim=#iota_dimension D F"},
    {"create_token", "D R"},
    {"replica_id", "D R"},
    {"partition_id", "D R"},
    {"after_all", "~* D S"},
    {"optimization_barrier", "", ReadOptimizationBarrier},
    {"tuple", "~* D T"},
    {"get_tuple_element", "", ReadGetTupleElement},
    {"compare", "", ReadCompare},
    {"clamp", "3 D S"},
    {"select", "3 D P"},
    {"slice", "", ReadSlice},
    {"dynamic_slice", "* sizes=[slice_sizes D F"},
    {"dynamic_update_slice", "* D F"},
    {"reshape", "1 D F"},
    {"dynamic_reshape", "2 D F"},
    {"bitcast_convert", "1 D F"},
    {"real_dynamic_slice", "4 D F"},
    {"dynamic_pad", "5 D F"},
    {"broadcast", "1 sizes=[broadcast_sizes D F"},
    {"broadcast_in_dim", "1 dims=[broadcast_dimensions D F"},
    {"dynamic_broadcast_in_dim", "2 dims=[broadcast_dimensions D F"},
    {"transpose", "1 dims=[permutation D F"},
    {"reverse", "1 dims=[dimensions D S"},
    {"concatenate", "* dim=#dimension D F"},
    {"pad", "2 low=[edge_padding_low high=[edge_padding_high interior=[interior_padding D F"},
    {"get_dimension_size", "1 dim=#dimension D F"},
    {"set_dimension_size", "2 dim=#dimension D F"},
    {"cholesky", "1 ~lower=?lower D S"},
    {"fft", "1 type=!fft_type:fft_type length=[fft_length D F"},
    {"einsum", "2 config=\"einsum_config D F"},
    {"unary_einsum", "1 config=\"einsum_config D F"},
    {"dot", "", ReadDot},
    {"dot_general", "", ReadDotGeneral},
    {"convolution", "", ReadConvolution},
    {"rng", "3 distribution=!rng_distribution:rng_distribution D F"},
    {"rng_bit_generator", "1 algorithm=!rng_algorithm:rng_algorithm D F"},
    {"reduce_precision", "", ReadReducePrecision},
    {"custom_call", "", ReadCustomCall},
    {"composite", "", ReadComposite},
    {"reduce", "", ReadReduce},
    {"while", "", ReadWhile},
    {"return", "", ReadReturn},
};

constexpr std::string_view kChloUnary[] = {
    "acos", "acosh", "asin",    "asinh",  "atan",       "atanh",      "bessel_i1e", "conj", "cosh",   "digamma",
    "erf",  "erfc",  "erf_inv", "is_inf", "is_neg_inf", "is_pos_inf", "lgamma",     "sinh", "square", "tan"};
constexpr std::string_view kChloBinary[] = {"next_after", "polygamma", "zeta", "mulhi"};
constexpr std::string_view kChloBroadcast[] = {"add",
                                               "and",
                                               "atan2",
                                               "complex",
                                               "divide",
                                               "maximum",
                                               "minimum",
                                               "multiply",
                                               "next_after",
                                               "or",
                                               "polygamma",
                                               "power",
                                               "remainder",
                                               "shift_left",
                                               "shift_right_arithmetic",
                                               "shift_right_logical",
                                               "subtract",
                                               "xor",
                                               "zeta",
                                               "compare"};
constexpr std::string_view kMhloUnary[] = {"acos", "acosh", "asin", "asinh", "atanh", "cosh", "sinh", "erf", "copy"};
constexpr std::string_view kArithBinary[] = {
    "addi", "subi", "muli", "divsi", "divui", "ceildivsi", "ceildivui", "floordivsi", "remsi",  "remui",
    "andi", "ori",  "xori", "shli",  "shrsi", "shrui",     "maxsi",     "maxui",      "minsi",  "minui",
    "addf", "subf", "mulf", "divf",  "remf",  "maximumf",  "minimumf",  "maxnumf",    "minnumf"};
constexpr std::string_view kArithCast[] = {"index_cast", "index_castui", "extf",   "truncf", "extsi",  "extui",
                                           "trunci",     "sitofp",       "uitofp", "fptosi", "fptoui", "bitcast"};

constexpr FormRow kOtherForms[] = {
    {"chlo.constant", "", ReadConstant},
    {"chlo.broadcast_select", "3 D F"},
    {"chlo.top_k", "", ReadTopK},
    {"chlo.scan", "", ReadScan},
    {"chlo.return", "", ReadReturn},
    {"mhlo.bitcast", "1 D F"},
    {"mhlo.topk", "", ReadTopK},
    {"mhlo.add_dependency", "2 D F"},
    {"mhlo.minimum_broadcast_shapes", "* D A"},
    {"builtin.module", "", ReadModule},
    {"module", "", ReadModule},
    {"builtin.unrealized_conversion_cast", "~* D C"},
    {"func.func", "", ReadFunction},
    {"func.return", "", ReadReturn},
    {"return", "", ReadReturn},
    {"func.call", "", ReadCall},
    {"call", "", ReadCall},
    {"func.call_indirect", "", ReadCallIndirect},
    {"call_indirect", "", ReadCallIndirect},
    {"func.constant", "", ReadFunctionConstant},
    {"constant", "", ReadFunctionConstant},
    {"sdy.mesh", "", ReadMesh},
    {"sdy.manual_computation", "", ReadManualComputation},
    {"sdy.named_computation", "", ReadNamedComputation},
    {"sdy.sharding_constraint", "", ReadShardedOp},
    {"sdy.reshard", "", ReadShardedOp},
    {"sdy.all_gather", "", ReadSdyCollective},
    {"sdy.all_slice", "", ReadSdyCollective},
    {"sdy.all_reduce", "", ReadSdyCollective},
    {"sdy.all_to_all", "", ReadSdyCollective},
    {"sdy.reduce_scatter", "", ReadSdyCollective},
    {"sdy.sharded_to_unreduced", "", ReadSdyCollective},
    {"sdy.replicated_to_unreduced", "", ReadSdyCollective},
    {"sdy.collective_permute", "", ReadSdyKeywordOp},
    {"sdy.sharding_group", "", ReadSdyKeywordOp},
    {"sdy.propagation_barrier", "", ReadSdyKeywordOp},
    {"sdy.data_flow_edge", "", ReadSdyKeywordOp},
    {"sdy.constant", "", ReadConstant},
    {"sdy.return", "", ReadReturn},
    {"arith.constant", "", ReadArithConstant},
    {"arith.cmpi", "", ReadArithCompare},
    {"arith.cmpf", "", ReadArithCompare},
    {"arith.select", "", ReadSelect},
    {"arith.negf", "1 D S"},
    {"tensor.cast", "1 D C"},
    {"tensor.dim", "", ReadOperandTypesOnly},
    {"tensor.extract", "", ReadIndexed},
    {"tensor.insert", "", ReadInsert},
    {"tensor.from_elements", "", ReadFromElements},
    {"shape.num_elements", "1 D A"},
    {"shape.shape_of", "1 D A"},
    {"shape.broadcast", "* D A"},
    {"shape.const_shape", "", ReadConstShape},
    {"shape.cstr_broadcastable", "", ReadOperandTypesOnly},
    {"shape.cstr_eq", "", ReadOperandTypesOnly},
    {"shape.get_extent", "2 D A"},
    {"shape.rank", "1 D A"},
    {"shape.to_extent_tensor", "1 D A"},
    {"shape.from_extent_tensor", "1 D C"},
    {"shape.index_to_size", "", ReadOperandTypesOnly},
    {"shape.size_to_index", "", ReadOperandTypesOnly},
    {"cf.br", "", ReadBranch},
    {"cf.cond_br", "", ReadConditionalBranch},
    {"scf.for", "", ReadFor},
    {"scf.if", "", ReadIf},
    {"scf.yield", "", ReadReturn},
};

PatternStep CompileWord(std::string_view word) {
  using Kind = PatternStep::Kind;
  PatternStep step{.kind = Kind::kOperands};
  if (word[0] == '~') {
    step.optional = true;
    word.remove_prefix(1);
  }
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) {
    const char c = word[0];
    step.kind = c == '*' || IsDigit(c) ? Kind::kOperands : c == 'D' ? Kind::kDictionary : Kind::kTypes;
    step.code = IsDigit(c) ? static_cast<char>(c - '0') : c == '*' ? '\0' : c;
    return step;
  }
  step.key = word.substr(0, equals);
  step.attribute = word.substr(equals + 2);
  switch (word[equals + 1]) {
    case '[':
      step.kind = Kind::kList;
      break;
    case '#':
      step.kind = Kind::kInteger;
      break;
    case '?':
      step.kind = Kind::kBool;
      break;
    case '"':
      step.kind = Kind::kString;
      break;
    default:
      step.kind = Kind::kEnum;
      step.enumeration = step.attribute.substr(0, step.attribute.find(':'));
      step.attribute = step.attribute.substr(step.enumeration.size() + 1);
  }
  return step;
}

std::vector<PatternStep> Compile(std::string_view pattern) {
  std::vector<PatternStep> steps;
  while (!pattern.empty()) {
    const size_t space = std::min(pattern.find(' '), pattern.size());
    steps.push_back(CompileWord(pattern.substr(0, space)));
    pattern.remove_prefix(std::min(space + 1, pattern.size()));
  }
  return steps;
}

using FormTable = std::unordered_map<std::string_view, std::unique_ptr<Form>>;

FormTable MakeTable() {
  FormTable table;
  const auto add = [&](std::string name, std::string_view pattern, Step read) {
    auto form = std::make_unique<Form>(Form{std::move(name), Compile(pattern), read});
    const std::string_view key = form->name;
    table.emplace(key, std::move(form));
  };
  for (const FormRow& row : kHloForms) {
    add(fmt::format("stablehlo.{}", row.name), row.pattern, row.read);
    add(fmt::format("mhlo.{}", row.name), row.pattern, row.read);
  }
  for (const FormRow& row : kOtherForms) {
    std::string name(row.name);
    if (name == "module") name = "builtin.module";
    const bool function_op = name == "return" || name == "call" || name == "call_indirect" || name == "constant";
    auto form = std::make_unique<Form>(
        Form{function_op ? fmt::format("func.{}", name) : std::move(name), Compile(row.pattern), row.read});
    table.emplace(row.name, std::move(form));
  }
  for (const std::string_view name : kChloUnary) add(fmt::format("chlo.{}", name), "1 D A", nullptr);
  for (const std::string_view name : kChloBinary) add(fmt::format("chlo.{}", name), "2 D A", nullptr);
  for (const std::string_view name : kChloBroadcast) add(fmt::format("chlo.broadcast_{}", name), "2 D F", nullptr);
  for (const std::string_view name : kMhloUnary) add(fmt::format("mhlo.{}", name), "1 D S", nullptr);
  for (const std::string_view name : kArithBinary) add(fmt::format("arith.{}", name), "2 D S", nullptr);
  for (const std::string_view name : kArithCast) add(fmt::format("arith.{}", name), "1 D C", nullptr);
  return table;
}

const FormTable& Table() {
  static const FormTable* const kTable = new FormTable(MakeTable());
  return *kTable;
}

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

const Form* FindForm(std::string_view name) {
  const auto found = Table().find(name);
  return found == Table().end() ? nullptr : found->second.get();
}

std::string SuggestForm(std::string_view name) {
  std::vector<std::string> names;
  for (const auto& [key, form] : Table()) names.emplace_back(key);
  std::sort(names.begin(), names.end());
  return DidYouMean(name, names, "write it in generic form, \"dialect.op\"(...) : (...) -> ...");
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
