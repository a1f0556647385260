// Results of a program have buffers of their own from the start; until they are written, others may lie in them, the
// largest first (XLA's buffer assignment).
#pragma once

#include <vector>

#include "assemble/memory/liveness.h"

namespace hespas::assemble::memory {

// Drops the intervals that lie in a result's buffer; results are held from the start.
void ShareResults(std::vector<Interval>& intervals);

}  // namespace hespas::assemble::memory
