// What a run is set to: defaults < device file < configuration < HESPAS_* environment < options.
#pragma once

#include <string>

#include "cli/command.h"
#include "driver/pipeline/run.h"

namespace hespas::cli {

// Every option of every command can also be given as HESPAS_<OPTION>: --num-npus as HESPAS_NUM_NPUS.
void BindEnvironment(CLI::App& app);

bool OnCommandLine(const CLI::App& command, const CLI::Option* option);

// Where the value of an option that stopped the command came from, if not from the command line ("" then).
std::string EnvironmentHint(const CLI::App& command, const std::string& message);

// The figures of the device: --peak-flops, --memory-bandwidth, ...
void AddFigureOptions(CLI::App& command);
// Those that were given, the environment's before those of the command line.
Status ReadFigureOptions(const CLI::App& command, hardware::DeviceFigures& figures);

// --config, --print-config, and the figures.
void AddConfigurationOptions(CLI::App& command);

// Gives what the configuration says to the options that nobody gave, and collects the device's figures. False: there
// is nothing more to do, because the settings were printed or the configuration has errors.
bool ApplyConfiguration(CLI::App& command, driver::RunOptions& run, Console& console);

}  // namespace hespas::cli
