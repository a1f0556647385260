// Rows of a table of kernels that the field model answers: matmuls with `timing` = graph, fp8_block and nvfp4,
// attention, and layers of experts.
#pragma once

#include <optional>
#include <vector>

#include "base/text/csv_text.h"
#include "estimate/field/attention.h"

namespace hespas::estimate::field {

// One a row; nothing where the row is another model's.
std::vector<std::optional<Time>> TimesOfRows(const CsvTable& table, const Chip& chip, const Constants& constants);

}  // namespace hespas::estimate::field
