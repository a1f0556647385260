// Why a simulation came to rest with unfinished NPUs: which node waits for what, and the cycle of waiting if there is
// one.
#pragma once

#include "simulate/astra_sim/network.h"
#include "simulate/engine/core.h"
#include "simulate/engine/workload.h"

namespace hespas::simulate {

Error ExplainDeadlock(const Core& core, const Network& network, Workload& workload);

}  // namespace hespas::simulate
