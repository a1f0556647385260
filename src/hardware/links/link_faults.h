// Links that are slow or lost: `--slow-link 5@1=0.5`, `--fail-link 0-1`.
//
// - RANK@DIM is what joins a rank to dimension DIM: its adapter or port of a switch; on a ring the link to the next
//   neighbour. A-B is the link of two devices that a ring or a mesh joins.
// - A lost link that leaves a rank without a way to the others is an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "hardware/links/link_graph.h"
#include "hardware/system.h"

namespace hespas::hardware {

inline constexpr DiagnosticKind kBadLinkFault{
    "E0824",
    "--slow-link and --fail-link name a link as RANK@DIMENSION (an adapter, a port of a switch) or A-B (two neighbours "
    "of a ring or mesh); --slow-link adds =FACTOR, on its bandwidth, between 0 and 1. A lost link must leave a way.",
    Outcome::kUsage};

struct LinkFault {
  uint32_t rank = 0;
  std::optional<uint32_t> peer;  // of a ring or mesh
  size_t dimension = 0;
  double factor = 0;  // on the bandwidth; 0: lost
};

struct LinkTexts {
  std::vector<std::string> slow, failed;
  bool empty() const { return slow.empty() && failed.empty(); }
};

Result<std::vector<LinkFault>> ParseLinkFaults(const LinkTexts& texts, const System& system);

// The links of the system's dimensions with those that are slow or lost, for engines that route.
LinkGraph LinkGraphWith(const std::vector<LinkFault>& faults, const System& system);

// Ranks from one place of a dimension to the next.
uint64_t StrideOf(const System& system, size_t dimension);

}  // namespace hespas::hardware
