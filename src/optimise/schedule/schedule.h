// The order in which a GPU runs a region.
#pragma once

#include <vector>

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

// The region's order where collectives made one worth keeping, otherwise XLA's order of least memory, which the region
// itself does not take.
std::vector<NodeId> ExpectedOrder(const Dataflow& flow);

}  // namespace hespas::optimise
