// Power of a node from its parts, and of a device under a power cap.
//
// - Node: devices, processors, memory, network ports, switches, drives; fans take a fraction of what the supplies
//   deliver, and the supplies lose some. No part of the rule knows a device or system by name.
// - Cap: power of logic goes with f V^2. The voltage follows the clock down to a floor, so power goes with the cube of
//   the clock above it and in proportion below. Computation slows with the clock; memory and links keep theirs.
#pragma once

#include "goodput/settings.h"

namespace hespas::goodput {

// One step of one device.
struct DeviceLoad {
  double watts = 0;  // mean over the step
  double idle_w = 0;
  double tdp_w = 0;
  double arithmetic = 0;  // fraction of the step that waits for arithmetic
};

// Watts at the node's plug while each device draws `device_w`.
double NodePower(const Settings& settings, double device_w);

struct Capped {
  double clock = 1;  // of the maximum
  double time = 1;   // of a step, over that without a cap
  double watts = 0;  // of a device
};

inline constexpr DiagnosticKind kBadPowerCap{
    "E0875",
    "A power cap lies between a device's idle power and its TDP; below that no clock keeps it. It needs a device file "
    "with a TDP.",
    Outcome::kUsage};

Result<Capped> UnderCap(const DeviceLoad& load, double cap_w, double voltage_floor);

}  // namespace hespas::goodput
