// XLA's ListScheduler (xla/hlo/transforms/simplifiers/hlo_memory_scheduler.cc): of what is ready, the op that frees
// most and makes least, then the one with most users, then the one that became ready last; single numbers at once.
#pragma once

#include <vector>

#include "optimise/schedule/memory_orders.h"

namespace hespas::optimise {

std::vector<uint32_t> ListOrder(const Dag& dag);

}  // namespace hespas::optimise
