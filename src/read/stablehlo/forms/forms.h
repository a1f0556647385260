// Pretty forms of ops, and the attributes they leave.
//
// Every pretty form leaves the attributes of the op's generic form under the names of the generic form. The texts are
// MLIR's, with these liberties (all understood by ir/attributes/attribute.h):
// - lists of integers stay as written, `[0, 1]` for `array<i64: 0, 1>`; single integers too, `0` for `0 : i64`;
// - slice leaves start_indices, limit_indices and strides as `[0, 1]`;
// - enumerators become `#stablehlo<comparison_direction EQ>` of the op's dialect; precision_config
//   `[#stablehlo<precision DEFAULT>, ...]`;
// - dot_general leaves dot_dimension_numbers = `#stablehlo.dot<lhs_batching_dimensions = [0], ...>` and algorithm =
//   `#stablehlo.dot_algorithm<...>`;
// - convolution leaves dimension_numbers = `#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`, window_strides,
//   lhs_dilation, rhs_dilation as lists, padding = `dense<[[0, 1]]> : tensor<1x2xi64>`, window_reversal = `array<i1:
//   ...>`;
// - func.func leaves sym_name = `"main"`, function_type, sym_visibility and, where one is not empty, arg_attrs and
//   res_attrs = `[{}, {jax.result_info = ""}]`; calls leave callee = `@f`;
// - sdy ops leave sharding, out_sharding = `#sdy.sharding<...>`, in_shardings, out_shardings =
//   `#sdy.sharding_per_value<[...]>`, manual_axes = `#sdy<manual_axes{"x"}>`, sdy.mesh leaves mesh = `#sdy.mesh<...>`;
// - a location is left as `loc` (the text between the parentheses), successors of a branch as `^successors` = `1, 2`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hespas::read {

class OpReader;

// Reads what follows the op's name. Where it opens a region, the reader comes back through the step given there.
using Step = bool (*)(OpReader&);

// A pretty form: either a pattern or a function.
//
// Words of a pattern: `1`..`9` that many operands, `*` any number of them (at least one); `key=[attribute]` a list,
// `key=#attribute` an integer, `key=?attribute` a truth value, `key="attribute` a string, `key=!enumeration:attribute`
// an enumerator, each after a comma where operands precede, `~` before a word that may be missing; `D` the dictionary;
// then the types: `F` a function type, `S` one type for all, `P` predicate and value types, `X` complex, `T` a tuple,
// `L` one type each, `R` the result's, `A` `T, T -> R`, `C` `T to R`.
struct FormRow {
  std::string_view name;
  std::string_view pattern;
  Step read = nullptr;
};

struct PatternStep {
  enum class Kind : uint8_t { kOperands, kList, kInteger, kBool, kString, kEnum, kDictionary, kTypes };
  Kind kind;
  bool optional = false;
  char code = 0;  // of the types; number of operands, 0 for any
  std::string_view key;
  std::string_view enumeration;
  std::string_view attribute;
};

// A row made ready for use.
struct Form {
  std::string name;
  std::vector<PatternStep> steps;
  Step read = nullptr;
};

// The form of a full op name, or nullptr.
const Form* FindForm(std::string_view name);
// "did you mean" for an unknown name.
std::string SuggestForm(std::string_view name);

bool ReadPattern(OpReader& reader, const Form& form);

// `[1, 2]`, as written.
bool ReadIntegerList(OpReader& reader, std::string_view& text);

// Types behind the colon, by the letters of the patterns.
bool ReadTypes(OpReader& reader, char code);

// The functions of the irregular forms, by file.
bool ReadConstant(OpReader& r);
bool ReadCompare(OpReader& r);
bool ReadSlice(OpReader& r);
bool ReadDot(OpReader& r);
bool ReadDotGeneral(OpReader& r);
bool ReadConvolution(OpReader& r);
bool ReadCustomCall(OpReader& r);
bool ReadComposite(OpReader& r);
bool ReadGetTupleElement(OpReader& r);
bool ReadReducePrecision(OpReader& r);
bool ReadOptimizationBarrier(OpReader& r);
bool ReadReduce(OpReader& r);
bool ReadWhile(OpReader& r);
bool ReadReturn(OpReader& r);
bool ReadTopK(OpReader& r);
bool ReadScan(OpReader& r);

bool ReadModule(OpReader& r);
bool ReadFunction(OpReader& r);
bool ReadCall(OpReader& r);
bool ReadCallIndirect(OpReader& r);
bool ReadFunctionConstant(OpReader& r);

bool ReadMesh(OpReader& r);
bool ReadManualComputation(OpReader& r);
bool ReadNamedComputation(OpReader& r);
bool ReadShardedOp(OpReader& r);
bool ReadSdyCollective(OpReader& r);
bool ReadSdyKeywordOp(OpReader& r);

bool ReadArithConstant(OpReader& r);
bool ReadArithCompare(OpReader& r);
bool ReadSelect(OpReader& r);
bool ReadIndexed(OpReader& r);
bool ReadInsert(OpReader& r);
bool ReadFromElements(OpReader& r);
bool ReadConstShape(OpReader& r);
bool ReadBranch(OpReader& r);
bool ReadConditionalBranch(OpReader& r);
bool ReadFor(OpReader& r);
bool ReadIf(OpReader& r);
bool ReadOperandTypesOnly(OpReader& r);

}  // namespace hespas::read
