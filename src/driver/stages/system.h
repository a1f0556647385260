// The system of a run: the one that is named, or one node of the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "hardware/device.h"
#include "hardware/system.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNeedsSystem{
    "E0905",
    "The program communicates, but no network was named and none ships for that device and number of NPUs. Name one "
    "with --system, or leave the network out with --network-backend none.",
    Outcome::kUsage};

inline constexpr char kAutoSystem[] = "auto";

struct SystemOptions {
  std::string name = kAutoSystem;  // a preset, a folder, a file or JSON text; auto: one node of the device
  uint32_t num_npus = 0;           // 0: what the program implies
};

// The preset that joins `npus` such devices in one node; empty: none does.
std::string NodePresetOf(const std::string& device, size_t npus);
// What the device's own interconnect joins; of more devices the vendor's reference network (hardware/cluster.h).
std::optional<hardware::System> NodeOfDevice(const hardware::Device& device, size_t npus, Diagnostics& diagnostics);
// One node of `npus` such devices: the preset of that name, else what the device's own interconnect joins.
std::optional<hardware::System> SystemOfDevice(const hardware::Device& device, size_t npus, Diagnostics& diagnostics);

}  // namespace hespas::driver
