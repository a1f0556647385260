#include "estimate/calibrated/kernel.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace hespas::estimate::calibrated {
namespace {

constexpr std::array<DatatypeEntry, kDatatypes> kTypes = {{{"f64", Datatype::kF64, 8},
                                                           {"f32", Datatype::kF32, 4},
                                                           {"tf32", Datatype::kTf32, 4},
                                                           {"f16", Datatype::kF16, 2},
                                                           {"bf16", Datatype::kBf16, 2},
                                                           {"f8E4M3FN", Datatype::kF8, 1},
                                                           {"f4E2M1FN", Datatype::kF4, 0.5},
                                                           {"i8", Datatype::kI8, 1},
                                                           {"i16", Datatype::kI16, 2},
                                                           {"i32", Datatype::kI32, 4},
                                                           {"i64", Datatype::kI64, 8},
                                                           {"i1", Datatype::kI1, 1}}};

// Weights: instructions an element of a kernel of its own; all of them stay below the memory time.
constexpr Operation kOperations[] = {
    {"gemm", "matmul", Shape::kGemm},
    {"bmm", "batched_matmul", Shape::kBatchedGemm},
    {"linear", "dense", Shape::kLinear},
    {"conv", "convolution", Shape::kConvolution},
    {"add", "add_tensors", Shape::kElementwise, 3, {1}},
    {"addu", "add_scalar", Shape::kElementwise, 2, {1}},
    {"sub", "subtract", Shape::kElementwise, 3, {1}},
    {"subu", "subtract_scalar", Shape::kElementwise, 2, {1}},
    {"mul", "multiply", Shape::kElementwise, 3, {1}},
    {"mulu", "multiply_scalar", Shape::kElementwise, 2, {1}},
    {"div", "divide", Shape::kElementwise, 3, {2, 0.25}},
    {"divu", "divide_scalar", Shape::kElementwise, 2, {2, 0.25}},
    {"pow", "power", Shape::kElementwise, 3, {4, 1}},
    {"powu", "power_scalar", Shape::kElementwise, 2, {4, 1}},
    {"max", "maximum", Shape::kElementwise, 3, {1}},
    {"min", "minimum", Shape::kElementwise, 3, {1}},
    {"relu", "rectify", Shape::kElementwise, 2, {1}},
    {"gelu", "gaussian_error_linear_unit", Shape::kElementwise, 2, {4, 1}},
    {"tanh", "hyperbolic_tangent", Shape::kElementwise, 2, {4, 1}},
    {"exp", "exponential", Shape::kElementwise, 2, {2, 1}},
    {"log", "logarithm", Shape::kElementwise, 2, {2, 1}},
    {"sqrt", "square_root", Shape::kElementwise, 2, {4, 1}},
    {"rsqrt", "reciprocal_square_root", Shape::kElementwise, 2, {2, 1}},
    {"sigmoid", "logistic", Shape::kElementwise, 2, {4, 1}},
    {"silu", "swish", Shape::kElementwise, 2, {4, 1}},
    {"neg", "negate", Shape::kElementwise, 2, {1}},
    {"copy", "contiguous", Shape::kElementwise, 2, {1}},
    {"convert", "cast", Shape::kElementwise, 2, {1.5}},
    {"transpose", "permute", Shape::kElementwise, 2, {1}},
    {"where", "select", Shape::kElementwise, 3.25, {1}},
    {"fill", "broadcast", Shape::kElementwise, 1, {1}},
    {"softmax", "soft_max", Shape::kSoftmax, 2, {4, 1}},
    {"ln", "layer_norm", Shape::kNorm, 2, {4, 1}},
    {"layernorm", "layer_normalization", Shape::kNorm, 2, {4, 1}},
    {"rmsnorm", "rms_norm", Shape::kNorm, 2, {2, 1}},
    {"reduce", "sum", Shape::kElementwise, 1, {1.5}},
    {"embedding", "gather", Shape::kElementwise, 2, {4}},
};

struct Spelling {
  std::string_view name;
  Datatype type;
};
constexpr Spelling kSpellings[] = {{"half", Datatype::kF16},  {"float", Datatype::kF32}, {"double", Datatype::kF64},
                                   {"bool", Datatype::kI1},   {"pred", Datatype::kI1},   {"e4m3", Datatype::kF8},
                                   {"e4m3fn", Datatype::kF8}, {"e5m2", Datatype::kF8}};
// Words before a width, and the letters that StableHLO writes.
struct Kind {
  std::string_view word, letters;
};
constexpr Kind kKinds[] = {{"f", "f"},   {"fp", "f"},      {"float", "f"}, {"bf", "bf"}, {"bfloat", "bf"},
                           {"tf", "tf"}, {"tfloat", "tf"}, {"i", "i"},     {"s", "i"},   {"u", "i"},
                           {"si", "i"},  {"ui", "i"},      {"int", "i"},   {"uint", "i"}};

// In lower case, without what separates words.
std::string Letters(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c))) {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

graph::Term Part(std::string_view name, double us) { return {name, Time::Seconds(us * 1e-6)}; }

}  // namespace

const DatatypeEntry& Entry(Datatype type) { return kTypes[static_cast<size_t>(type)]; }

std::optional<Datatype> ParseDatatype(std::string_view name) {
  const std::string spelt = Letters(name);
  for (const Spelling& spelling : kSpellings) {
    if (spelt == spelling.name) return spelling.type;
  }
  // "float16", "fp16", "s8", "si8", "uint8": kind and width; the formats of narrow floats ("E4M3FN") cost the same.
  const size_t digits = std::min(spelt.size(), spelt.find_first_of("0123456789"));
  const std::string_view kind = std::string_view(spelt).substr(0, digits);
  const std::string_view rest = std::string_view(spelt).substr(digits);
  for (const auto& [word, letters] : kKinds) {
    if (kind != word) continue;
    for (const DatatypeEntry& entry : kTypes) {
      if (entry.name.starts_with(letters) && entry.name.substr(letters.size()) == rest) return entry.type;
    }
    const std::string_view width = rest.substr(0, rest.find('e'));
    if (letters == "f" && (width == "8" || width == "6")) return Datatype::kF8;
    if (letters == "f" && width == "4") return Datatype::kF4;
  }
  return std::nullopt;
}

const Operation* FindOperation(std::string_view name) {
  const std::string spelt = Letters(name);
  for (const Operation& operation : kOperations) {
    if (spelt == operation.name || spelt == Letters(operation.alias)) return &operation;
  }
  return nullptr;
}

Family FamilyOf(const KernelSpec& kernel) {
  switch (kernel.shape) {
    case Shape::kGemm:
      return Family::kGemm;
    case Shape::kLinear:
      return Family::kLinear;
    case Shape::kBatchedGemm:
      return Family::kBatchedGemm;
    case Shape::kConvolution:
      return Family::kConvolution;
    case Shape::kElementwise:
      return Family::kElementwise;
    case Shape::kSoftmax:
    case Shape::kNorm:
      return Family::kRows;
    case Shape::kTraffic:
      return Family::kOther;
  }
  return Family::kOther;
}

graph::Estimate ToEstimate(const KernelTime& time) {
  return {.time = Time::Seconds(time.us * 1e-6),
          .sigma = Time::Seconds(time.sigma_us * 1e-6),
          .flops = Flops(internal::SaturatingRound(time.flops)),
          .bytes = Bytes(internal::SaturatingRound(time.bytes)),
          .bound = time.bound,
          .terms = {Part("launch", time.launch_us), Part("arithmetic", time.compute_us), Part("L2", time.l2_us),
                    Part("memory", time.memory_us), Part("store of results", time.store_us)},
          .source = "calibrated"};
}

}  // namespace hespas::estimate::calibrated
