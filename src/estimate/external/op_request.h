// One operation as external models are asked about it: its shapes, types, attributes and work, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "ir/module.h"

namespace hespas::estimate {

// Keys: op ("dot_general"), operands and results [{shape, dtype}], attributes (texts), flops, bytes, and matmul {b, m,
// n, k} or convolution {input, kernel, output, strides, padding, dilations, groups} (in NCHW and OIHW order) where it
// is one.
nlohmann::json OpRequest(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
