// The order in which XLA's GPU compiler would run a block whose ops are not scheduled yet.
//
// - That of least memory of its DefaultMemoryScheduler's; beside it stand those that its latency-hiding scheduler may
//   make of it. Which one it makes depends on single kernels: the one that holds most counts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "ir/module.h"
#include "memory/liveness.h"
#include "optimise/schedule/latency_hiding.h"

namespace hespas::memory {

inline constexpr int64_t kNoLimit = optimise::HidingInput::kNoLimit;

struct BlockToOrder {
  ir::BlockId block;
  const BufferSizes& sizes;
  bool plans_by_model = false;  // as BufferPolicy says
  int64_t limit = kNoLimit;     // bytes that XLA's scheduler lets temporaries take
  bool own_counts = false;      // the order in which the ops stand is one that XLA may find
};

struct Ordered {
  std::vector<ir::OpId> order;  // all ops but the terminator
  Liveness liveness;            // in that order
};

using AnalyseOrder = std::function<Liveness(const std::vector<ir::OpId>&)>;

Ordered OrderOf(const ir::Module& module, const BlockToOrder& what, const AnalyseOrder& analyse);

// The ops of a block as they are, but its terminator.
std::vector<ir::OpId> OwnOrder(const ir::Module& module, ir::BlockId block);

}  // namespace hespas::memory
