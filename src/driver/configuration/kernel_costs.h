// Costs of custom kernels that the user gives by name: `--cost NAME=flops:2e12,bytes:300MB` or a JSON file
// {"NAME": {"flops": 2e12, "bytes": "300MB", "transcendentals": 0}}.
//
// - NAME is a custom call's target or its kernel's own name. Kept as an attribute of the calls concerned.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kBadKernelCost{
    "E0947",
    "The cost of a kernel is NAME=flops:NUMBER,bytes:QUANTITY,transcendentals:NUMBER with at least one of the three, "
    "or a JSON file that holds an object of these for each name.",
    Outcome::kUsage};

// A name that no custom call has is warned of.
Status ApplyKernelCosts(const std::vector<std::string>& costs, ir::Module& module, Diagnostics& diagnostics);

}  // namespace hespas::driver
