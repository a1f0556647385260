#include "ir/facts/library_call.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"

namespace hespas::ir {
namespace {

struct Target {
  std::string_view prefix;
  LibraryKind kind;
};

constexpr Target kTargets[] = {
    {"__cublas$gemm", LibraryKind::kGemm},
    {"__cublas$lt$matmul", LibraryKind::kGemm},
    {"__cudnn$conv", LibraryKind::kConvolution},
    {"__cudnn$fmha", LibraryKind::kAttention},
    {"__cudnn$norm", LibraryKind::kNorm},
    {"__gpu$xla.gpu.triton", LibraryKind::kTriton},
    {"__triton", LibraryKind::kTriton},
    {"triton_kernel_call", LibraryKind::kTriton},
    {"__cu", LibraryKind::kOther},
};

std::optional<LibraryKind> KindOfTarget(std::string_view name) {
  for (const Target& target : kTargets) {
    if (name.starts_with(target.prefix)) return target.kind;
  }
  return std::nullopt;
}

int64_t Multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

// The place behind `key` and what separates it from its value (`":`, ` = `).
size_t ValueOf(std::string_view config, std::string_view key) {
  const size_t at = config.find(key);
  if (at == std::string_view::npos) return at;
  return config.find_first_not_of("\" :=\n\t", at + key.size());
}

// The integers of a list of numbers or of quoted numbers.
std::vector<int64_t> ListOf(std::string_view config, std::string_view key) {
  std::vector<int64_t> out;
  size_t at = ValueOf(config, key);
  if (at == std::string_view::npos || config[at] != '[') return out;
  const size_t end = std::min(config.find(']', at), config.size());
  while (++at < end) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(config.data() + at, config.data() + end, value);
    if (error != std::errc()) continue;
    out.push_back(value);
    at = static_cast<size_t>(next - config.data());
  }
  return out;
}

std::string WordOf(std::string_view config, std::string_view key) {
  const size_t at = ValueOf(config, key);
  if (at == std::string_view::npos) return {};
  const size_t end = std::min(config.find_first_of("\",} \n", at), config.size());
  return std::string(config.substr(at, end - at));
}

// The product of the named dimensions, which are crossed out in `rest`; nothing where one does not exist.
std::optional<int64_t> TakeProduct(const Dimensions& dims, const std::vector<int64_t>& which, std::vector<bool>& rest) {
  int64_t product = 1;
  for (const int64_t d : which) {
    if (d < 0 || d >= static_cast<int64_t>(dims.size())) return std::nullopt;
    product = Multiply(product, std::max<int64_t>(dims[static_cast<size_t>(d)], 1));
    rest[static_cast<size_t>(d)] = false;
  }
  return product;
}

int64_t MatmulOf(const Dimensions& dims, const std::vector<bool>& kept) {
  int64_t product = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (kept[i] && dims[i] != kDynamic) product = Multiply(product, dims[i]);
  }
  return product;
}

std::string ConfigOf(const Module& module, OpId op) {
  for (const std::string_view name : {"backend_config", "mhlo.backend_config"}) {
    const std::string_view* text = module.attribute(op, name);
    if (text == nullptr) continue;
    if (std::string config = AsString(*text).value_or(std::string(*text)); !config.empty()) return config;
  }
  return {};
}

void DecodeGemm(const Module& module, OpId op, std::string_view config, LibraryCall& call) {
  const auto operands = module.operands(op);
  call.epilogue = WordOf(config, "epilogue");
  const std::string beta = WordOf(config, "\"beta\"");
  call.accumulates = std::strtod(beta.c_str(), nullptr) != 0;
  if (operands.size() < 2) return;
  const Dimensions& lhs = module.type(operands[0]).dims;
  const Dimensions& rhs = module.type(operands[1]).dims;
  std::vector<bool> lhs_free(lhs.size(), true);
  std::vector<bool> rhs_free(rhs.size(), true);
  const auto batch = TakeProduct(lhs, ListOf(config, "lhs_batch_dimensions"), lhs_free);
  const auto k = TakeProduct(lhs, ListOf(config, "lhs_contracting_dimensions"), lhs_free);
  const auto rhs_batch = TakeProduct(rhs, ListOf(config, "rhs_batch_dimensions"), rhs_free);
  const auto rhs_k = TakeProduct(rhs, ListOf(config, "rhs_contracting_dimensions"), rhs_free);
  if (!batch || !k || !rhs_batch || !rhs_k) return;
  call.batch = *batch;
  call.k = *k;
  call.m = MatmulOf(lhs, lhs_free);
  call.n = MatmulOf(rhs, rhs_free);
}

// The array that a call of the form (result, workspace) returns.
const Dimensions& MainResult(const Module& module, OpId op) {
  const Type& type = module.type(module.result(op));
  return type.kind == TypeKind::kTuple && !type.nested.empty() ? module.types()[type.nested[0]].dims : type.dims;
}

// Which arrays play input, kernel and output (XLA's cuDNN calls name the dimensions as the forward convolution does).
struct Roles {
  const Dimensions& input;
  const Dimensions& kernel;
  const Dimensions& output;
};

Roles RolesOf(const Module& module, OpId op, std::string_view target) {
  const auto operands = module.operands(op);
  const Dimensions& first = module.type(operands[0]).dims;
  const Dimensions& second = module.type(operands[1]).dims;
  const Dimensions& result = MainResult(module, op);
  if (target.starts_with("__cudnn$convBackwardInput")) return {result, second, first};
  if (target.starts_with("__cudnn$convBackwardFilter")) return {first, result, second};
  return {first, second, result};
}

int64_t At(const Dimensions& dims, int64_t index) {
  return index < 0 || index >= static_cast<int64_t>(dims.size()) ? 0 : dims[static_cast<size_t>(index)];
}

int64_t ProductAt(const Dimensions& dims, const Dimensions& which) {
  int64_t product = 1;
  for (const int64_t d : which) product = Multiply(product, At(dims, d));
  return product;
}

bool Agrees(const Roles& roles, const ConvolutionDimensions& numbers) {
  return At(roles.input, numbers.input_feature) == At(roles.kernel, numbers.kernel_input_feature) &&
         At(roles.output, numbers.output_feature) == At(roles.kernel, numbers.kernel_output_feature) &&
         At(roles.input, numbers.input_batch) == At(roles.output, numbers.output_batch);
}

// MLIR's custom_call has no place for labels: then cuDNN's own two orders are tried.
std::optional<ConvolutionDimensions> LabelsOf(const Module& module, OpId op, const Roles& roles) {
  if (auto given = ConvolutionDimensionsOf(module, op)) return given;
  for (const std::string_view labels : {"b01f_o01i->b01f", "bf01_oi01->bf01"}) {
    auto numbers = AsConvolutionDimensions(labels);
    if (numbers && roles.input.size() == 4 && roles.kernel.size() == 4 && Agrees(roles, *numbers)) return numbers;
  }
  return std::nullopt;
}

// Every output element sums over the kernel's spatial extent and its input features. The gradients do the same
// multiply-adds, and give the kernel, or the input, as their matrix.
void DecodeConvolution(const Module& module, OpId op, std::string_view target, LibraryCall& call) {
  if (module.operands(op).size() < 2 || module.results(op).empty()) return;
  const Roles roles = RolesOf(module, op, target);
  const auto numbers = LabelsOf(module, op, roles);
  if (!numbers) return;
  const int64_t window = ProductAt(roles.kernel, numbers->kernel_spatial);
  const int64_t in = At(roles.kernel, numbers->kernel_input_feature);
  const int64_t out = At(roles.output, numbers->output_feature);
  const int64_t batch = At(roles.output, numbers->output_batch);
  const int64_t places = Multiply(batch, ProductAt(roles.output, numbers->output_spatial));
  call.m = places;
  call.n = out;
  call.k = Multiply(window, in);
  if (target.starts_with("__cudnn$convBackwardFilter")) std::swap(call.m, call.k);
  if (!target.starts_with("__cudnn$convBackwardInput")) return;
  call.n = in;
  call.k = Multiply(window, out);
  // With strides each input place meets a part of the window.
  const int64_t input_places = Multiply(batch, ProductAt(roles.input, numbers->input_spatial));
  const int64_t work = Multiply(call.m, call.k);
  if (input_places <= 0 || work % input_places != 0) return;
  call.m = input_places;
  call.k = work / input_places;
}

}  // namespace

int64_t LibraryCall::flops() const {
  if (m == 0 || n == 0 || k == 0) return 0;
  return Multiply(2, Multiply(Multiply(batch, m), Multiply(n, k)));
}

std::optional<LibraryKind> LibraryKindOf(const Module& module, OpId op) {
  return module.kind(op) == OpKind::kCustomCall ? KindOfTarget(CallTarget(module, op)) : std::nullopt;
}

std::optional<LibraryCall> LibraryCallOf(const Module& module, OpId op) {
  const auto kind = LibraryKindOf(module, op);
  if (!kind) return std::nullopt;
  LibraryCall call{.kind = *kind};
  if (*kind == LibraryKind::kGemm) DecodeGemm(module, op, ConfigOf(module, op), call);
  if (*kind == LibraryKind::kConvolution) DecodeConvolution(module, op, CallTarget(module, op), call);
  return call;
}

std::string CallTarget(const Module& module, OpId op) {
  if (module.kind(op) != OpKind::kCustomCall) return {};
  const std::string_view* text = module.attribute(op, "call_target_name");
  if (text == nullptr) return {};
  return AsString(*text).value_or(std::string(AsSymbol(*text)));
}

std::string CalledOperation(const Module& module, OpId op) {
  constexpr std::string_view kDialect = "mhlo.";
  const std::string target = CallTarget(module, op);
  if (!target.starts_with(kDialect)) return {};
  const std::string_view name = std::string_view(target).substr(kDialect.size());
  const std::string called = "chlo." + std::string(name == "topk" ? "top_k" : name);
  return KindOf(called) == OpKind::kUnknown ? std::string() : called;
}

}  // namespace hespas::ir
