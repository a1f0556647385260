// A whole program, measured on the devices of this machine: what predictions are held against.
#pragma once

#include <chrono>
#include <string>

#include "estimate/profile/block_profiler.h"
#include "estimate/profile/profile_options.h"
#include "ir/module.h"

namespace hespas::estimate {

struct MeasuredProgram {
  Measured time;
  std::string platform;  // "cpu, 4 devices"
};

// Runs `main` with all its communication on as many devices as the program is partitioned for, by a PJRT plugin. Each
// gets the same arguments. In processor time the figure is a device's share.
Result<MeasuredProgram> MeasureWhole(const ir::Module& module, int devices, const ProfileOptions& options,
                                     std::chrono::milliseconds limit);

}  // namespace hespas::estimate
