// Real programs on one device (data/measured/program_steps.csv): steps as XLA compiled and ran them, predicted from the
// programs as JAX lowered them (data/programs).
#pragma once

#include "base/diagnostic.h"
#include "validate/measured_sets.h"

namespace hespas::validate {

inline constexpr const char* kProgramSet = "programs";

// A group for each column `kind`. False where the table or a program is missing or damaged.
bool AddProgramSteps(Groups& groups, const std::string& mode, Diagnostics& diagnostics);

}  // namespace hespas::validate
