// What `hespas` alone and `-h` say: a guide, and of a command its example with the options that matter.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace hespas::cli {

// A screen on how to begin.
std::string Guide();

// Of all commands where `command` is the app itself.
std::string ShortHelp(const CLI::App& app, const CLI::App& command);

}  // namespace hespas::cli
