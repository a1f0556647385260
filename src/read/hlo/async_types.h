// Types of asynchronous starts and dones.
#pragma once

#include <string_view>
#include <vector>

#include "read/hlo/text/shape.h"

namespace hespas::read::hlo {

// What the op behind a start yields once it is done; the start's own shape also holds operands and contexts. `op` is
// the opcode without its half: "all-gather".
std::vector<ir::TypeId> ResultOfStart(const ShapeTable& shapes, ShapeId start, std::string_view op);

// !mhlo.async_bundle<tuple<operands>, result>
ir::TypeId BundleType(ir::TypeTable& types, const std::vector<ir::TypeId>& operands,
                      const std::vector<ir::TypeId>& results);

}  // namespace hespas::read::hlo
