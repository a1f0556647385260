#pragma once

#include <string>

#include "cli/command.h"
#include "report/text/table.h"

namespace hespas::cli {

// A table in any of the five formats (json: an array of objects).
std::string RenderTable(const report::Table& table, Format format);

}  // namespace hespas::cli
