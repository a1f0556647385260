// `hespas export`, `hespas shard`, `hespas plan`, `hespas experiment`, and `hespas sweep` with --on or --search, end in
// the Python programs of the same names that ship beside the data.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace hespas::cli {

bool IsPythonCommand(std::string_view command, std::span<char*> arguments);

// Becomes that program; returns the exit status where there is nothing to become.
int PythonCommand(const std::string& command, const std::vector<std::string>& arguments, Console& console);

}  // namespace hespas::cli
