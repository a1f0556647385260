// Communicator groups over which all ranks do the same: at one place in the program every rank uses a group, these
// groups are equally large and hold each rank once, and a message k places on in its group takes every rank as long.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "hardware/system.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

struct GroupFamily {
  std::vector<const std::vector<uint32_t>*> group_of;  // by rank
  std::vector<uint32_t> position;                      // of each rank in its group
  std::vector<uint32_t> class_of_steps;                // by places: equal where messages take equally long; 0: all do
  uint32_t size() const { return static_cast<uint32_t>(group_of[0]->size()); }
};

struct GroupFamilies {
  std::vector<GroupFamily> families;
  std::map<uint32_t, uint32_t> family_of;  // group of rank 0 -> index
};

// Finds the families of all groups smaller than all ranks. The answer says why there are none: programs that differ
// in more than the numbers of their groups, or groups that are not alike. Empty: found.
std::string FindFamilies(const trace::TraceGraph& trace, const hardware::System& system, GroupFamilies& out);

}  // namespace hespas::simulate
