// Whether trace, system and options fit together before a simulation begins.
#pragma once

#include "simulate/simulate.h"

namespace hespas::simulate {

Status CheckInputs(const trace::TraceGraph& trace, const hardware::System& system, const SimulateOptions& options);

}  // namespace hespas::simulate
