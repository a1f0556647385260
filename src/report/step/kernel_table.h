// Where the time of a step goes, kernel by kernel, under names that a user of the framework knows.
#pragma once

#include <vector>

#include "report/step/step_view.h"
#include "result/run_result.h"

namespace hespas::report {

// Kernels of all blocks and, of rank `rank`, its communication; costliest first. Kernels with equal content in the same
// scope of different layers are one row (kernel_name.h). Bytes of communication are those of the network.
std::vector<result::KernelSummary> KernelTable(const StepView& step, uint32_t rank);

}  // namespace hespas::report
