// How many tokens or samples a step works through, read off the arguments of main.
//
// - Samples: the leading dimensions of the largest argument that looks like images; else tokens: the largest
//   integer matrix. A sharding that copies the argument to several devices divides the count among them.
#pragma once

#include <optional>

#include "ir/module.h"
#include "result/run_result.h"

namespace hespas::report {

std::optional<result::Throughput> ThroughputOf(const ir::Module& module);

}  // namespace hespas::report
