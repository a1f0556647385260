// How many tokens or samples a step works through, read off the arguments of main.
//
// - Samples: the leading dimensions of the largest argument that looks like images; else tokens: the largest integer
//   matrix.
// - The global batch is what distinct data the devices read: one device's count times the parts into which the
//   argument's sharding cuts it, and times the replicas whose data differ. Each device counts its part of that, so data
//   that several devices read (tensor parallelism, stages of a pipeline) count once.
// - Nothing where the program does not say how the argument is divided among several devices.
#pragma once

#include <optional>

#include "ir/module.h"
#include "result/run_result.h"

namespace hespas::report {

// `devices`: that run the program, where it does not say for how many it is.
std::optional<result::Throughput> ThroughputOf(const ir::Module& module, int64_t devices);

}  // namespace hespas::report
