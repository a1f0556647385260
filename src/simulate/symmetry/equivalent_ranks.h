// Equivalence classes of ranks that do the same at the same ticks, so that one rank of each class is simulated.
//
// - Ranks of a class run one program but for the numbers of their groups and peers, are equally fast, and find in every
//   place (next to them in a dimension or group, or as the peer of a message) a rank of one class at one distance.
// - The classes are the coarsest such division, found by colour refinement.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hardware/system.h"
#include "simulate/simulate.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

// Communicator groups that take each other's place.
struct GroupFamily {
  std::vector<const std::vector<uint32_t>*> group_of;  // by rank; nullptr: the rank is in none of them
  std::vector<uint32_t> position;                      // of each rank in its group
  std::vector<uint32_t> class_of_steps;                // by places: equal where messages take equally long; 0: all do
  uint32_t size = 0;                                   // of each group
  uint32_t number = 0;                                 // of one group, in the place of the numbers of all
};

// A message of a first rank of a class, as the first rank of the receiver's class gets it.
struct Peering {
  uint32_t origin = 0;
  uint32_t target = 0;
  uint32_t link = 0;  // into links
};

struct EquivalentRanks {
  std::vector<uint32_t> class_of;              // by rank
  std::vector<std::vector<uint32_t>> members;  // of each class, ascending; the first is simulated
  std::vector<GroupFamily> families;
  std::map<uint32_t, uint32_t> family_of;                  // group of a first rank -> index
  std::vector<std::vector<uint32_t>> links;                // whom each rank of a class sends to, by rank
  std::map<std::pair<uint32_t, uint32_t>, Peering> sends;  // by first rank and its peer

  uint32_t first(uint32_t rank) const { return members[class_of[rank]][0]; }
};

// Why there is nothing to gain from classes; empty: found.
std::string FindClasses(const trace::TraceGraph& trace, const hardware::System& system, const SimulateOptions& options,
                        EquivalentRanks& out);

}  // namespace hespas::simulate
