// Work of ops whose kernels may pass over their data several times: reductions, sorts, factorisations, transforms.
#include <algorithm>
#include <cmath>

#include "estimate/calls/custom_kernel.h"
#include "estimate/cost_rules.h"
#include "estimate/prefix_sum.h"
#include "estimate/radix_sort.h"
#include "ir/attributes/op_attributes.h"

namespace hespas::estimate {
namespace {

using ir::OpKind;

int64_t WindowSize(const Shapes& s) {
  int64_t size = 1;
  const auto window = ir::WindowOf(s.module, s.op);
  if (window) {
    for (const ir::WindowDimension& w : *window) size = Times(size, w.size);
  }
  return size;
}

// Applications of the body of a reduction: every input element but the first of each output, for each operand pair.
int64_t ReductionFlops(const Shapes& s) {
  const auto pairs = static_cast<int64_t>(std::max<size_t>(s.inputs() / 2, 1));
  switch (s.module.kind(s.op)) {
    case OpKind::kReduce:
      return Times(pairs, std::max<int64_t>(s.in_elements(0) - s.out_elements(), 0));
    case OpKind::kReduceWindow:
      if (const auto prefix = PrefixSumOf(s.module, s.op)) return Times(pairs, prefix->applications);
      return Times(pairs, Times(std::max<int64_t>(WindowSize(s) - 1, 0), s.out_elements()));
    case OpKind::kSelectAndScatter:
      return Times(WindowSize(s), s.in_elements(1));
    case OpKind::kBatchNormGrad:
      return Times(10, s.in_elements(0));
    default:  // batch_norm_training: mean, variance, normalise
      return Times(8, s.in_elements(0));
  }
}

int64_t OtherFlops(const Shapes& s) {
  const ir::Type& type = s.inputs() > 0 ? s.in(0) : s.out();
  const int64_t last = DimensionOr(type, static_cast<int64_t>(type.dims.size()) - 1, 1);
  switch (s.module.kind(s.op)) {
    case OpKind::kCholesky:  // n^3 / 3 for each matrix
      return Times(s.in_elements(0), last) / 3;
    case OpKind::kTriangularSolve:  // n^2 for each right-hand side
      return Times(s.out_elements(), last);
    case OpKind::kFft: {  // 5 N log2 N (Cooley and Tukey 1965) over the transformed dimensions
      const auto length = ir::IntegersAttribute(s.module, s.op, "fft_length");
      double n = 1;
      if (length) {
        for (const int64_t l : *length) n *= static_cast<double>(std::max<int64_t>(l, 1));
      }
      return internal::SaturatingRound(5.0 * static_cast<double>(std::max(s.in_elements(0), s.out_elements())) *
                                       std::log2(std::max(n, 2.0)));
    }
    default:
      return 0;
  }
}

}  // namespace

// A prefix sum's parts are written and read once more.
OpCost ReductionCost(const Shapes& s) {
  OpCost cost{.flops = ReductionFlops(s), .bytes = s.all()};
  if (const auto prefix = PrefixSumOf(s.module, s.op)) {
    cost.bytes = Times(2, cost.bytes);
    cost.steps = static_cast<double>(prefix->kernels);
  }
  return cost;
}

std::optional<OpCost> RadixSortCost(const Shapes& s) {
  const auto sort = RadixSortOf(s.module, s.op);
  if (!sort) return std::nullopt;
  return OpCost{.bytes = internal::SaturatingRound(sort->bytes), .steps = static_cast<double>(sort->kernels - 1)};
}

// A stage of a bitonic network reads and writes all; as many as fit run in one kernel, on what lies in shared memory.
OpCost SortCost(const Shapes& s) {
  if (s.module.kind(s.op) == OpKind::kTopK) return {.bytes = s.all()};
  if (const auto radix = RadixSortCost(s)) return *radix;
  const int64_t kernels = BitonicKernels(s.module, s.op);
  return {.bytes = Times(kernels, Times(2, s.all_in())), .steps = static_cast<double>(kernels - 1)};
}

// A dimension that a thread block's shared memory holds is transformed in one pass over all data, a longer one in two.
OpCost OtherCost(const Shapes& s) {
  OpCost cost{.flops = OtherFlops(s), .bytes = s.all(), .steps = FactorisationSteps(s.module, s.op)};
  if (s.module.kind(s.op) != OpKind::kFft) return cost;
  constexpr int64_t kHeld = 8192;  // complex numbers of 8 bytes: 64 KiB, an assumption
  int64_t passes = 0;
  if (const auto lengths = ir::IntegersAttribute(s.module, s.op, "fft_length")) {
    for (const int64_t length : *lengths) passes += length > kHeld ? 2 : 1;
  }
  cost.bytes = Times(std::max<int64_t>(1, passes), cost.bytes);
  cost.steps = static_cast<double>(std::max<int64_t>(1, passes) - 1);
  return cost;
}

}  // namespace hespas::estimate
