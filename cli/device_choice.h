// No device is assumed in silence: a prediction is about a device that somebody named.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "driver/pipeline/run.h"

namespace hespas::cli {

// False, with the list of devices as an error, where `run` names none. Measuring estimators need none: they time this
// machine.
bool DeviceIsNamed(const CLI::App& command, const driver::RunOptions& run, Console& console);

}  // namespace hespas::cli
