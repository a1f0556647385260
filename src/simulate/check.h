// Whether trace, system and options fit together before a simulation begins.
#pragma once

#include <string>

#include "simulate/simulate.h"

namespace hespas::simulate {

// `file` states the groups; empty: their traces.
Status CheckGroups(const trace::TraceGraph& trace, uint64_t npus, const std::string& file = {});

Status CheckInputs(const trace::TraceGraph& trace, const hardware::System& system, const SimulateOptions& options);

}  // namespace hespas::simulate
