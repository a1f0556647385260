// Collectives between hosts (data/measured/multi_node.csv) as the calibrated model of the network prices them.
#pragma once

#include "base/diagnostic.h"
#include "validate/measured_sets.h"

namespace hespas::validate {

inline constexpr const char* kMultiNodeSet = "multi-node";

// A row's column `system` is a cluster in one line. False where the table is missing or damaged.
bool AddMultiNode(Groups& groups, const std::string& mode, Diagnostics& diagnostics);

}  // namespace hespas::validate
