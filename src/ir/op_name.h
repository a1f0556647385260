// The name by which an op is reported: VHLO ops of portable artifacts under the names of what they represent.
#pragma once

#include <string>

#include "ir/module.h"

namespace hespas::ir {

// "vhlo.add_v1" is "stablehlo.add", "vhlo.func_v1" "func.func", "vhlo.call_v1" "func.call"; "vhlo.return_v1" is
// "func.return" right inside a function and "stablehlo.return" elsewhere. Other names stay as they are.
std::string StableName(const Module& module, OpId op);

}  // namespace hespas::ir
