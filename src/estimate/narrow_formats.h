// Which of the field model's formats a device multiplies narrow activations in.
#pragma once

#include <optional>
#include <string_view>

#include "estimate/field/chip.h"
#include "hardware/device.h"

namespace hespas::estimate {

// "fp8": one scale for all; "mxfp8" and "nvfp4": 8- and 4-bit floats with a scale for each 32 and 16. Nothing where the
// device has no matrix rate for them, and for other names.
std::optional<field::Format> NarrowFormatOn(const hardware::Device& device, std::string_view activations);

}  // namespace hespas::estimate
