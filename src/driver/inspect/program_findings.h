// What a run of a well-formed program would have to assume: said by `hespas check`, with the remedy.
#pragma once

#include "base/diagnostic.h"
#include "ir/module.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kGlobalProgram{
    "W0933",
    "The program is global: its shapes are those of the whole, and shardings say how to divide them, but no "
    "partitioner "
    "has applied them. `hespas run` has XLA's partitioner do so (Python 3.11 and JAX are needed, and installed outside "
    "the tree where they are missing); `hespas export` writes the partitioned program."};

// Custom calls without a cost, shardings that nobody has applied, dynamic dimensions, loops of unknown length: as
// warnings, one for each kind and name.
void ReportFindings(const ir::Module& module, Diagnostics& diagnostics);

}  // namespace hespas::driver
