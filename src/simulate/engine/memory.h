// Remote memory: one access at a time in each unit, first come first served (spec astra-sim sections 1.4, 8.4).
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/engine/core.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

class RemoteMemoryUnits {
 public:
  explicit RemoteMemoryUnits(Core& core);

  // Node `index` of `rank` accesses `bytes`; an agenda action tells its end. `id` names the node in messages.
  void Access(uint32_t rank, uint32_t index, uint64_t bytes, uint64_t id);
  void Free(uint32_t unit);

 private:
  struct Request {
    uint32_t rank = 0;
    uint32_t index = 0;
    uint64_t bytes = 0;
  };
  struct Unit {
    bool busy = false;
    std::deque<Request> waiting;
  };

  uint64_t Ticks(uint64_t bytes) const;
  void Begin(uint32_t unit, const Request& request);

  Core& core_;
  std::vector<Unit> units_;
};

}  // namespace hespas::simulate
