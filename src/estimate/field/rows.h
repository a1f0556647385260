// Rows of a table of kernels that the field model answers: matmuls with `timing` = graph, fp8_block and nvfp4,
// attention, layers of experts, and their all-to-all (`op` = dispatch or combine).
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "base/diagnostic.h"
#include "base/text/csv_text.h"
#include "estimate/field/attention.h"
#include "estimate/field/experts/experts.h"
#include "hardware/device.h"

namespace hespas::estimate::field {

inline constexpr DiagnosticKind kBadDispatchRow{
    "E0566",
    "A row of `dispatch` or `combine` has a cell that says nothing: `mode` is normal or low-latency, and `sms`, the "
    "multiprocessors that normal kernels copy with, is a number of at least 1."};

// Reports each cell of an all-to-all's row that TimesOfRows could only guess.
bool CheckDispatchRows(const CsvTable& table, const std::string& file, Diagnostics& diagnostics);

using Call = std::variant<Matmul, AttentionCall, ExpertLayer>;

// One a row; nothing where the row is none of these.
std::vector<std::optional<Call>> CallsOfRows(const CsvTable& table, const Constants& constants);

// One a row; nothing where the row is another model's.
std::vector<std::optional<Time>> TimesOfRows(const CsvTable& table, const hardware::Device& device,
                                             const Constants& constants);

}  // namespace hespas::estimate::field
