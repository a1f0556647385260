// The levels of a group where links are slow or lost. All members of a collective wait for the slowest link.
//
// - A lost adapter's traffic takes the host's other ones, a lost link's of a mesh a third device; a ring without a link
//   is a line. A part of a ring that does not use a link does not wait for it.
#pragma once

#include <span>
#include <vector>

#include "hardware/links/link_faults.h"
#include "network/levels.h"

namespace hespas::network {

void ApplyFaults(const std::vector<hardware::LinkFault>& faults, std::span<const uint32_t> members,
                 const hardware::System& system, std::vector<Level>& levels);

}  // namespace hespas::network
