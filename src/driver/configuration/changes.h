// What-if changes of a device or a network: `--set device.memory_bandwidth=2x`.
//
// - KEY=VALUE; a value that ends in `x` multiplies, any other replaces (a number or a text with its unit).
// - `system.bandwidth[1]=50GB/s` changes one dimension, counted from the innermost, 0; without an index all of them.
// - `device.peak_flops` and `device.launch_time` represent all rates and all launch costs of the device.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/text/unit_text.h"
#include "hardware/device.h"
#include "hardware/system.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kBadChange{"E0970",
                                           "A change of the device or network (--set KEY=VALUE) names no figure that "
                                           "can be changed, or gives no number. A value "
                                           "that ends in x multiplies: device.memory_bandwidth=2x.",
                                           Outcome::kUsage};

// The keys in the order in which documents list them, without `device.calibration.NAME`.
std::vector<std::string> ChangeKeys();

// A figure as it is: its value in base units, and how it is written.
struct Figure {
  Unit unit = Unit::kNumber;
  double value = 0;
};
// Of KEY or KEY[DIMENSION]. Fails where there is no such figure, where the device or network does not have it (`system`
// may be nullptr), and where dimensions without an index differ.
Result<Figure> ReadFigure(const std::string& key, const hardware::Device& device, const hardware::System* system);

// Each applies what concerns its noun; all changes must be good.
Status ChangeDevice(const std::vector<std::string>& changes, hardware::Device& device);
Status ChangeSystem(const std::vector<std::string>& changes, hardware::System& system);

}  // namespace hespas::driver
