// Gathers what each rank executes into a TraceGraph whose ranks share programs.
//
// - Programs that differ in the numbers of groups and peers alone become one, with arguments for each rank; where all
//   ranks of a class have the same numbers, these stay in the program.
// - Within one rank different places never represent the same number, so that counting by place counts by number.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/text/hash.h"
#include "trace/trace_graph.h"

namespace hespas::trace {

// Numbers of one rank -> those of another that are in the same places; numbers that are not named stay.
struct Renaming {
  std::map<uint32_t, uint32_t> groups;
  std::map<int32_t, int32_t> peers;
};

class RankClasses {
 public:
  // The next rank executes `program`, which holds the numbers themselves.
  void Add(Program program);
  // The next rank executes what `rank` does, with other numbers. False, and nothing is added, where two places would
  // get the same one.
  bool AddLike(uint32_t rank, const Renaming& renaming = {});

  // Programs are numbered by their first rank. Leaves this empty.
  TraceGraph Take();

 private:
  TraceGraph trace_;
  std::unordered_map<Hash128, std::vector<uint32_t>> known_;
};

}  // namespace hespas::trace
