// Sums over all elements before each one (cumsum, cumprod, ...), which programs write as windows as long as the row.
//
// - XLA's ReduceWindowRewriter sums parts of 16 elements, their last elements in the same way, and adds these: of an
//   element about 16 operations, not as many as the row is long.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace hespas::estimate {

struct PrefixSum {
  int64_t applications = 0;  // of the body
  int64_t kernels = 1;       // that follow each other
};

// Nothing where `op` is no reduce_window over whole rows of more than 16 elements.
std::optional<PrefixSum> PrefixSumOf(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
