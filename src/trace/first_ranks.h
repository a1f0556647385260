// Which rank stands for a program that several execute.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace_graph.h"

namespace hespas::trace {

// Of each program, the first rank that executes it, among so many; 0 where none does.
inline std::vector<uint32_t> FirstRanks(const TraceGraph& traces, uint32_t ranks) {
  std::vector<uint32_t> first(traces.programs.size(), 0);
  for (uint32_t rank = ranks; rank-- > 0;) first[traces.program_of_rank[rank]] = rank;
  return first;
}

}  // namespace hespas::trace
