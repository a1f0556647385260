// `hespas export` ends in the Python program that ships beside the data.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace hespas::cli {

// Becomes that program; returns the exit status where there is nothing to become.
int Export(const std::vector<std::string>& arguments, Console& console);

}  // namespace hespas::cli
