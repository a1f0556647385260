// From a global program to what each device runs, before anything else looks at it.
//
// - Work that is written for each device already (shard_map over all axes) is unwrapped here.
// - Anything else goes through XLA's partitioner: python/export/partition_program.py in an environment that has JAX,
// which
//   the first call makes. Results are kept by the content of the program.
#pragma once

#include <string>

#include "base/diagnostic.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNotPartitioned{
    "E0986",
    "The program is global: its shapes are those of the whole, and shardings say how to divide them, but no "
    "partitioner has "
    "applied them. `hespas run` lets XLA's partitioner do so where Python 3.11 and JAX are there or can be installed. "
    "Without them, estimate the partitioned program of `hespas export`, or use `hespas shard` on a machine that has "
    "them.",
    Outcome::kToolFailed};

inline constexpr DiagnosticKind kPartitionedHere{
    "W0986",
    "The program is global: its shapes are those of the whole, and shardings say how to divide them. What each device "
    "runs "
    "was made of it here, by XLA's partitioner, and that is what the answer is about. --no-partition forbids it."};

// With `allowed` false (--no-partition) a program that needs the partitioner is an error.
Result<ir::Module> Partitioned(ir::Module module, bool allowed, Diagnostics& diagnostics);

}  // namespace hespas::driver
