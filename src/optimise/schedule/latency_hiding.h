// XLA's latency-hiding scheduler (latency_hiding_scheduler.cc) with the settings of its GPU compiler: an order in which
// computation runs between the start and the end of each collective.
//
// - Backwards from the end, on a clock of its own. One collective is under way at a time.
// - With XLA's ticks a custom call or a loop fusion takes 1000, a convolution 5000, a collective 5000 from start to
//   done, everything else one.
// - While more than the limit is held, the given order (of least memory) decides instead.
// - n log n in ops.
#pragma once

#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

#include "ir/op_kind.h"
#include "optimise/schedule/memory_orders.h"

namespace hespas::optimise {

enum class Role : uint8_t { kWork, kStart, kDone, kNothing };

Role RoleOf(ir::OpKind kind);
// `fusion_kind`: the attribute of that name; null where there is none.
int64_t TicksOf(ir::OpKind kind, const std::string_view* fusion_kind);

struct HidingInput {
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  const Dag& dag;
  const std::vector<uint32_t>& order;   // of least memory; decides between equals
  std::vector<Role> roles = {};         // by op
  std::vector<int64_t> costs = {};      // ticks, by op
  std::vector<int64_t> latencies = {};  // ticks of a collective, by its done; XLA's where empty
  int64_t least = 1;                    // ticks from an op to its consumer
  std::vector<bool> in_tuple = {};  // by op: results are elements of a tuple in XLA, `least` away from their consumers
  int64_t memory_limit = kNoLimit;  // bytes of buffers at once

  int64_t CollectiveLatency(uint32_t done) const {
    constexpr int64_t kTicks = 5000;
    return latencies.empty() ? kTicks : latencies[done];
  }
};

struct Hidden {
  std::vector<uint32_t> order;
  int64_t most_within = 0;                       // bytes, of what was held within the limit when an op was chosen
  int64_t least_beyond = HidingInput::kNoLimit;  // where the limit was exceeded
};

Hidden HideLatency(const HidingInput& input);

}  // namespace hespas::optimise
