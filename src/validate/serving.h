// Published measurements of inference servers (data/measured/serving.csv) against `hespas serve`.
//
// - Maximum load: all requests at once, time an output token and device. Static batches: the whole batch's latency.
#pragma once

#include "base/diagnostic.h"
#include "validate/measured_sets.h"

namespace hespas::validate {

inline constexpr const char* kServingSet = "serving";

// False where the table is missing or damaged.
bool AddServing(Groups& groups, const std::string& mode, Diagnostics& diagnostics);

}  // namespace hespas::validate
