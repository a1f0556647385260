// What the drop-in commands share: the prototype's options, the environment, where its log goes, exit statuses.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "driver/compat/configuration.h"
#include "driver/compat/log.h"

namespace hespas::cli {

struct DropIn {
  driver::compat::CommandLine command;
  std::string log_level = "info";
  std::string log_path;
  std::string compat;
};

using DropInBody = std::function<Status(const driver::compat::CommandLine&, const driver::compat::Log&, Diagnostics&)>;

// The positional configuration file and --print-config.
void AddConfiguration(CLI::App& app, DropIn& options);

// --device and the figures that replace its own.
void AddDeviceOptions(CLI::App& app, DropIn& options);

// --separator, --separator_policy and --separator_node_type.
void AddSeparatorOptions(CLI::App& app, DropIn& options);

// --log-level, --log-path and --compat.
void AddDropInOptions(CLI::App& app, DropIn& options);

// Parses (with the environment below the options), runs, prints what went wrong; the exit status.
int RunDropIn(CLI::App& app, int argc, char** argv, DropIn& options, const DropInBody& body);

// What the command of the prototype does that `program`, a path or a name as in argv[0], names; none if it names none.
std::optional<int> RunAsDropIn(std::string_view program, int argc, char** argv);

}  // namespace hespas::cli
