// Heap packing: how much memory temporaries take at fixed addresses (XLA's heap of temporaries).
//
// - Each buffer is placed into the smallest gap among those alive at the same time that holds it (XLA's
//   GlobalDecreasingSizeBestFitHeap), the largest first, or those that live longest: the smaller heap counts. Buffers
//   of less than a ten-thousandth of the peak leave no gaps that count.
#pragma once

#include <cstdint>
#include <span>

#include "memory/liveness.h"

namespace hespas::memory {

// Bytes by which the packed heap exceeds the largest sum of live temporaries; 0 where they pack without gaps.
int64_t FragmentationOf(std::span<const Interval> intervals);

}  // namespace hespas::memory
