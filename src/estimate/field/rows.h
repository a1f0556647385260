// Rows of a table of kernels that the field model answers: matmuls with `timing` = graph, fp8_block and nvfp4,
// attention, layers of experts, and their all-to-all (`op` = dispatch or combine).
#pragma once

#include <optional>
#include <vector>

#include "base/text/csv_text.h"
#include "estimate/field/attention.h"
#include "hardware/device.h"

namespace hespas::estimate::field {

// One a row; nothing where the row is another model's.
std::vector<std::optional<Time>> TimesOfRows(const CsvTable& table, const hardware::Device& device,
                                             const Constants& constants);

}  // namespace hespas::estimate::field
