// The table of pretty forms.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "base/text/suggest.h"
#include "read/stablehlo/cursor.h"
#include "read/stablehlo/forms/forms.h"

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
    {"memref.cast", "1 D C"},
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

}  // namespace

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

}  // namespace hespas::read
