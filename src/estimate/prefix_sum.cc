#include "estimate/prefix_sum.h"

#include "base/units.h"
#include "ir/attributes/op_attributes.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingAdd;
using internal::SaturatingMultiply;

constexpr int64_t kPart = 16;  // XLA debug_options_flags.cc: xla_reduce_window_rewrite_base_length

bool IsOne(const ir::WindowDimension& w) { return w.size == 1 && w.padding_low == 0 && w.padding_high == 0; }

// Every window ends (or begins) at its element and holds all before (or behind) it.
bool IsWholeRow(const ir::WindowDimension& w, int64_t extent) {
  const bool forward = w.padding_low == extent - 1 && w.padding_high == 0;
  const bool backward = w.padding_low == 0 && w.padding_high == extent - 1;
  return w.size == extent && (forward || backward);
}

// The dimension that is summed along; -1 where the windows are others.
int64_t RowLength(const ir::Module& module, ir::OpId op) {
  const auto window = ir::WindowOf(module, op);
  const ir::Type& type = module.type(module.operands(op)[0]);
  if (!window || window->size() != type.dims.size()) return -1;
  int64_t row = -1;
  for (size_t i = 0; i < window->size(); ++i) {
    const ir::WindowDimension& w = (*window)[i];
    if (w.stride != 1 || w.base_dilation != 1 || w.window_dilation != 1) return -1;
    if (IsOne(w)) continue;
    if (row >= 0 || type.dims[i] == ir::kDynamic || !IsWholeRow(w, type.dims[i])) return -1;
    row = type.dims[i];
  }
  return row;
}

}  // namespace

std::optional<PrefixSum> PrefixSumOf(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) != ir::OpKind::kReduceWindow || module.op(op).operand_count == 0) return std::nullopt;
  int64_t row = RowLength(module, op);
  if (row <= kPart) return std::nullopt;
  const int64_t rows = module.type(module.operands(op)[0]).element_count() / row;
  PrefixSum sum{.kernels = 0};
  for (; row > kPart; row = (row + kPart - 1) / kPart) {
    // The parts' own sums, and each element with what lies before its part.
    const int64_t elements = SaturatingMultiply(rows, row);
    sum.applications = SaturatingAdd(sum.applications, SaturatingMultiply(elements, kPart));
    sum.kernels += 2;
  }
  sum.applications = SaturatingAdd(sum.applications, SaturatingMultiply(SaturatingMultiply(rows, row), row - 1));
  ++sum.kernels;
  return sum;
}

}  // namespace hespas::estimate
