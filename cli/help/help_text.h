// Helps as wide as the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hespas::cli {

// Columns of the terminal that stdout is; 0: it is none, or too narrow to write for.
size_t TerminalColumns();

// Lines longer than `columns` (0: any length) go on below their description; commands to copy stay whole.
std::string Wrapped(std::string_view help, size_t columns);

}  // namespace hespas::cli
