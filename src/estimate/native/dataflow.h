// What stays in place in a systolic array.
#pragma once

#include <cstdint>

namespace hespas::estimate::native {

enum class Dataflow : uint8_t { kWeightStationary, kOutputStationary };

}  // namespace hespas::estimate::native
