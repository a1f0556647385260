#include "estimate/calls/block_scaled_dot.h"

#include <algorithm>

#include "base/units.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingMultiply;
using ir::ElementKind;

constexpr size_t kOperands = 4;  // both sides, then the scales of both
constexpr double kBitsOfByte = 8;

// Of one of the last dimensions; 1 where it is missing or dynamic.
double Extent(const ir::Type& type, size_t from_last) {
  if (type.dims.size() <= from_last) return 1;
  return static_cast<double>(std::max<int64_t>(1, type.dims[type.dims.size() - 1 - from_last]));
}

struct Side {
  const ir::Type& values;
  const ir::Type& scales;

  double block() const { return Extent(values, 0) / Extent(scales, 0); }
};

// XLA block_scaling_matcher.cc, BlockScaledDotOps::IsSupported.
bool IsNvFp4(const Side& side) {
  constexpr double kBlock = 16;
  return side.values.element.kind == ElementKind::kF4E2M1FN && side.scales.element.kind == ElementKind::kF8E4M3FN &&
         side.block() == kBlock;
}

bool IsMxFp8(const Side& side) {
  constexpr double kBlock = 32;
  const ElementKind kind = side.values.element.kind;
  return (kind == ElementKind::kF8E4M3FN || kind == ElementKind::kF8E5M2) &&
         side.scales.element.kind == ElementKind::kF8E8M0FNU && side.block() == kBlock;
}

std::string_view FormatOf(const Side& lhs, const Side& rhs) {
  if (IsNvFp4(lhs) && IsNvFp4(rhs)) return "nvfp4";
  // block_scaling_rewriter.cc, IsCudnnSupported: no kernel for two sides of E5M2.
  const bool wide = lhs.values.element.kind == ElementKind::kF8E5M2 && rhs.values.element.kind == ElementKind::kF8E5M2;
  return IsMxFp8(lhs) && IsMxFp8(rhs) && !wide ? "mxfp8" : "";
}

bool IsTarget(std::string_view target) {
  return target.find("block_scaled_dot") != std::string_view::npos ||
         target.find("blockScaledDot") != std::string_view::npos;
}

}  // namespace

std::optional<BlockScaledDot> BlockScaledDotOf(const ir::Module& module, ir::OpId op, std::string_view target) {
  if (!IsTarget(target) || module.op(op).operand_count < kOperands || module.op(op).result_count == 0)
    return std::nullopt;
  const auto operand = [&](size_t i) -> const ir::Type& { return module.type(module.operands(op)[i]); };
  const Side lhs{operand(0), operand(2)}, rhs{operand(1), operand(3)};
  const ir::Type* out = &module.type(module.result(op));
  if (out->kind == ir::TypeKind::kTuple && !out->nested.empty()) out = &module.types()[out->nested[0]];
  if (lhs.values.dims.empty() || lhs.values.dims.back() == ir::kDynamic) return std::nullopt;
  const auto bits = [](const ir::Type& type) { return static_cast<double>(ir::ElementBits(type.element)); };
  return BlockScaledDot{
      .flops = SaturatingMultiply(2, SaturatingMultiply(out->element_count(), lhs.values.dims.back())),
      .batch = Extent(lhs.values, 2),
      .m = Extent(lhs.values, 1),
      .n = Extent(rhs.values, 1),
      .k = Extent(lhs.values, 0),
      .format = FormatOf(lhs, rhs),
      .weight_bytes = (bits(rhs.values) + bits(rhs.scales) / rhs.block()) / kBitsOfByte};
}

}  // namespace hespas::estimate
