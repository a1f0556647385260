// Figures of a device that something other than its file gives: a configuration, the environment, an option.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hardware/device.h"

namespace hespas::hardware {

inline constexpr DiagnosticKind kUnknownFigure{
    "E0808",
    "Only these figures of a device can be given beside its file: peak_flops, memory_bandwidth, "
    "per_datatype_flops.<datatype>, tdp and hbm_power_ratio.",
    Outcome::kUsage};

struct DeviceFigure {
  std::string name;  // as in a device file: "memory_bandwidth", "per_datatype_flops.bf16"
  double value = 0;  // in base units
  std::string origin;
};
using DeviceFigures = std::vector<DeviceFigure>;

// Reads "312 TFLOP/s" or a plain number for the figure of that name.
Result<DeviceFigure> ParseFigure(std::string name, std::string_view text, std::string origin);

// Replaces the device's figures, the later ones of a name winning; `Device::sources` then names their origins.
void ApplyFigures(const DeviceFigures& figures, Device& device);

}  // namespace hespas::hardware
