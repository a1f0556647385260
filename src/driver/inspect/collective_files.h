// Custom collectives as files: `hespas collective convert` and `hespas collective show`.
#pragma once

#include <string>

#include "base/result.h"
#include "base/units.h"
#include "report/text/table.h"

namespace hespas::driver {

// Converts an MSCCL-IR or TACOS schedule to PREFIX.<rank>.et; the number of ranks.
Result<size_t> ConvertCollective(const std::string& file, Bytes size, const std::string& prefix);

// The schedule of an XML file, or of the .et files with the prefix `file`, a line a node.
Result<report::Table> CollectiveSchedule(const std::string& file, Bytes size);

}  // namespace hespas::driver
