// Work of custom calls: kernels, calls of libraries, and what a target's name says.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "estimate/calls/custom_kernel.h"
#include "estimate/cost_rules.h"
#include "ir/facts/library_call.h"

namespace hespas::estimate {
namespace {

using ir::OpSort;

// What a custom call is known to do, by a part of its target.
enum class CustomWork : uint8_t { kNothing, kConvolution, kMatrix, kMove };
struct CustomCallRow {
  std::string_view part;
  CustomWork work;
};
constexpr CustomCallRow kCustomCalls[] = {
    {"Sharding", CustomWork::kNothing},
    {"SPMDFullToShardShape", CustomWork::kNothing},
    {"SPMDShardToFullShape", CustomWork::kNothing},
    {"annotate_device_placement", CustomWork::kNothing},
    {"xla.sdy", CustomWork::kNothing},
    {"LayoutConstraint", CustomWork::kNothing},
    {"AllocateBuffer", CustomWork::kNothing},
    {"conv", CustomWork::kConvolution},
    {"gemm", CustomWork::kMatrix},
    {"matmul", CustomWork::kMatrix},
    {"TopK", CustomWork::kMove},
};

// The first result of a library call of the form (result, workspace), and the two matrices it multiplies.
int64_t LibraryMatrixFlops(const Shapes& s) {
  if (s.inputs() < 2 || s.outputs() < 1) return 0;
  const ir::Type* out = &s.out();
  if (out->kind == ir::TypeKind::kTuple && !out->nested.empty()) out = &s.module.types()[out->nested[0]];
  const double a = static_cast<double>(s.in_elements(0));
  const double b = static_cast<double>(s.in_elements(1));
  const double c = std::max(1.0, static_cast<double>(out->element_count()));
  return internal::SaturatingRound(2.0 * c * std::sqrt(a * b / c));
}

// GEMMs and convolutions of cuBLAS and cuDNN, from their configuration; their workspaces are memory, not traffic.
std::optional<OpCost> LibraryCost(const Shapes& s) {
  const auto call = ir::LibraryCallOf(s.module, s.op);
  if (!call || call->flops() <= 0 || s.outputs() == 0) return std::nullopt;
  const ir::Type& result = s.out();
  const bool tuple = result.kind == ir::TypeKind::kTuple && !result.nested.empty();
  int64_t bytes = tuple ? ir::ByteSize(s.module.types(), result.nested[0]) : s.out_bytes();
  for (size_t i = 0; i < s.inputs(); ++i) bytes = internal::SaturatingAdd(bytes, s.in_bytes(i));
  const int64_t real = IsComplex(s) ? kRealProducts : 1;
  return OpCost{.flops = Times(real, call->flops()), .bytes = bytes, .contraction = true};
}

}  // namespace

OpCost CustomCallCost(const Shapes& s) {
  if (const auto kernel = CustomKernelCost(s.module, s.op)) return *kernel;
  if (const auto library = LibraryCost(s)) return *library;
  if (const auto radix = RadixSortCost(s)) return *radix;
  const std::string_view* text = s.module.attribute(s.op, "call_target_name");
  const std::string_view target = text == nullptr ? std::string_view() : *text;
  for (const CustomCallRow& row : kCustomCalls) {
    if (target.find(row.part) == std::string_view::npos) continue;
    switch (row.work) {
      case CustomWork::kNothing:
        return {};
      case CustomWork::kConvolution: {
        const int64_t flops = ConvolutionFlops(s);
        return {.flops = flops > 0 ? flops : LibraryMatrixFlops(s), .bytes = s.all(), .contraction = true};
      }
      case CustomWork::kMatrix:
        return {.flops = LibraryMatrixFlops(s), .bytes = s.all(), .contraction = true};
      case CustomWork::kMove:
        return {.bytes = s.all()};
    }
  }
  switch (ir::Traits(ir::KindOf(ir::CalledOperation(s.module, s.op))).sort) {
    case OpSort::kElementwise:
      return {.flops = s.out_elements(), .bytes = s.all()};
    case OpSort::kSort:
      return {.bytes = s.all()};
    case OpSort::kContraction:
      return ContractionCost(s);
    default:
      return {.bytes = s.all(), .known = false, .unknown_target = target};
  }
}

}  // namespace hespas::estimate
