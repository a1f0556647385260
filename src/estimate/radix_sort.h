// Sorts as XLA's GPU compiler runs them: by CUB's radix sort where that is faster, else by a bitonic network.
//
// - One row: a histogram of all digits of 8 bits, then for each digit a pass that reads and writes keys and values once
//   (CUB's onesweep).
// - Several rows: a thread block sorts a row in digits of 6 and 5 bits; each pass reads the keys twice (CUB's
//   DispatchSegmentedRadixSort).
#pragma once

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace hespas::estimate {

struct RadixSort {
  double bytes = 0;
  double instructions = 0;  // on lanes
  int64_t kernels = 1;      // that follow each other
};

// Of a sort that XLA gives to CUB, or a call of it; nothing where `op` is another.
std::optional<RadixSort> RadixSortOf(const ir::Module& module, ir::OpId op);

// Kernels of XLA's own sort.
int64_t BitonicKernels(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
