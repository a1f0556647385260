// Tables of kernels inside CUDA graphs, by device: what the field model's constants are fitted to.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "estimate/field/fit.h"

namespace hespas::validate {

// None where the table has no column `device` or no `latency_us`. Without a column `op` all rows are attention
// (`phase`), layers of experts (`inter`) or matmuls; without a column `timing` all are inside graphs.
std::optional<std::vector<estimate::field::DeviceCalls>> MeasuredCalls(const std::string& file,
                                                                       Diagnostics& diagnostics);

}  // namespace hespas::validate
