// CUDA's compute capability of a device: 90 for "sm_90", 0 of other makers' devices.
#pragma once

#include "hardware/device.h"

namespace hespas::hardware {

int ComputeCapability(const Device& device);

}  // namespace hespas::hardware
