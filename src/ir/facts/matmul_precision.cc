#include "ir/facts/matmul_precision.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>

#include "base/text/lower.h"

namespace hespas::ir {
namespace {

struct TypeWord {
  std::string_view word;
  AlgorithmType type;
};
// Longer words first: "tf32" holds "f32".
constexpr TypeWord kTypes[] = {{"tf32", AlgorithmType::kTf32}, {"bf16", AlgorithmType::kBf16},
                               {"f8", AlgorithmType::kF8},     {"f16", AlgorithmType::kF16},
                               {"f32", AlgorithmType::kF32},   {"f64", AlgorithmType::kF64}};

AlgorithmType TypeOf(std::string_view word) {
  for (const TypeWord& entry : kTypes) {
    if (word.find(entry.word) != std::string_view::npos) return entry.type;
  }
  return AlgorithmType::kUnset;
}

uint8_t NumberAt(std::string_view text) {
  uint8_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::max<uint8_t>(number, 1);
}

// From the name of the key up to the end of its list or word.
std::string_view PartBehind(std::string_view text, std::string_view key, std::string_view end) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  return rest.substr(0, rest.find_first_of(end));
}

OperandPrecision PrecisionIn(std::string_view text) {
  if (text.find("HIGHEST") != std::string_view::npos) return OperandPrecision::kHighest;
  return text.find("HIGH") != std::string_view::npos ? OperandPrecision::kHigh : OperandPrecision::kDefault;
}

// A cuBLAS call keeps both in its configuration; quotes may be escaped.
MatmulPrecision FromGemmConfig(std::string_view config) {
  if (config.find("gemm_backend_config") == std::string_view::npos) return {};
  const size_t at = config.find("precision_config");
  if (at == std::string_view::npos) return {};
  const std::string_view precision = config.substr(at);
  const std::string_view object = precision.substr(0, precision.find('}'));
  MatmulPrecision found = AsDotAlgorithm(PartBehind(object, "algorithm", ",}"));
  found.operands = PrecisionIn(PartBehind(object, "operand_precision", "]"));
  return found;
}

}  // namespace

MatmulPrecision AsDotAlgorithm(std::string_view text) {
  const std::string name = Lower(text);
  const std::string_view lower(name);
  MatmulPrecision found;
  const std::string_view fields = PartBehind(lower, "lhs_precision_type", ",>");
  if (!fields.empty()) {
    found.algorithm = TypeOf(fields);
    const std::string_view count = PartBehind(lower, "num_primitive_operations", ",>");
    const size_t digit = count.find_first_of("0123456789");
    if (digit != std::string_view::npos) found.passes = NumberAt(count.substr(digit));
    return found;
  }
  const size_t dot = lower.find("dot_");
  if (dot == std::string_view::npos) return found;
  const std::string_view types = lower.substr(dot + 4);
  // "any_f8_any_f8_f32" and "f8_..."; else the first word is the left operand's type.
  found.algorithm = types.starts_with("any_f8") ? AlgorithmType::kF8 : TypeOf(types.substr(0, types.find('_')));
  const size_t times = types.rfind("_x");
  if (times != std::string_view::npos) found.passes = NumberAt(types.substr(times + 2));
  return found;
}

MatmulPrecision MatmulPrecisionOf(const Module& module, OpId op) {
  for (const std::string_view name : {"backend_config", "mhlo.backend_config"}) {
    const std::string_view* config = module.attribute(op, name);
    if (module.kind(op) != OpKind::kCustomCall || config == nullptr) continue;
    const MatmulPrecision found = FromGemmConfig(*config);
    if (found != MatmulPrecision{}) return found;
  }
  const std::string_view* algorithm = module.attribute(op, "algorithm");
  MatmulPrecision found = algorithm == nullptr ? MatmulPrecision{} : AsDotAlgorithm(*algorithm);
  for (const std::string_view name : {"precision_config", "precision"}) {
    const std::string_view* text = module.attribute(op, name);
    if (text != nullptr) found.operands = std::max(found.operands, PrecisionIn(*text));
  }
  return found;
}

}  // namespace hespas::ir
