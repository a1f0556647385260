// No device is assumed in silence: a prediction is about a device that somebody named.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "driver/pipeline/run.h"

namespace hespas::cli {

// False, with the list of devices as an error, where `run` names none, nor its system: a cluster's line and most
// presets name theirs, which `run` takes over. Measuring estimators need none: they time this machine.
bool DeviceIsNamed(const CLI::App& command, driver::RunOptions& run, Console& console);

}  // namespace hespas::cli
