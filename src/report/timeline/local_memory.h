// The memory of one NPU over time, from the tensors that its nodes read and write: Chrome's trace format.
//
// - A tensor lives from the start of the node that writes it first (from the beginning where none does) to the end of
//   the last node that reads or writes it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "result/sim_result.h"

namespace hespas::report {

struct TensorUse {
  std::string name;
  uint64_t bytes = 0;
  bool written = false;
  result::NodeInterval by;
};

struct LocalMemory {
  std::string json;   // reads, writes, lifetimes and a counter in MiB
  uint64_t peak = 0;  // bytes
};

// All uses are of `rank`; ticks are nanoseconds.
LocalMemory TraceLocalMemory(uint32_t rank, std::span<const TensorUse> uses);

}  // namespace hespas::report
