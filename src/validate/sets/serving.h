// Published measurements of inference servers (data/measured/serving.csv.gz) against `hespas serve`.
//
// - Maximum load: all requests at once, time an output token and device. Static batches: the whole batch's latency.
// - Rows of 2023 and 2024 and those that leave something out are groups of their own; `all` pools the others with them.
#pragma once

#include "base/diagnostic.h"
#include "validate/measured_sets.h"

namespace hespas::validate {

inline constexpr const char* kServingSet = "serving";

// False where the table is missing or damaged.
bool AddServing(Groups& groups, const std::string& mode, Diagnostics& diagnostics);

}  // namespace hespas::validate
