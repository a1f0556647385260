// When one rank may be simulated in the place of many: equal programs, equal positions, no contention.
#pragma once

#include <string>

#include "simulate/simulate.h"
#include "simulate/symmetry/equivalent_ranks.h"

namespace hespas::simulate {

// Why the ranks cannot be taken for equal; empty if they can, and then `classes` are theirs. The run itself may
// still find a tie that ranks break differently (EventEngine::asymmetric).
std::string WhyAsymmetric(const trace::TraceGraph& trace, const hardware::System& system,
                          const SimulateOptions& options, EquivalentRanks& classes);

}  // namespace hespas::simulate
