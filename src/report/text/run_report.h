// Renders a RunResult: as one JSON object (result.json, `--format json`), or as a summary that fits a screen.
#pragma once

#include <string>

#include "report/text/table.h"
#include "result/run_result.h"

namespace hespas::report {

inline constexpr int kRunSchemaVersion = 1;

std::string ToJson(const result::RunResult& result, int indent = 2);
// `colour`: warnings in red, for a terminal.
std::string Summary(const result::RunResult& result, bool colour = false);
// One row with the figures of `Summary`, for csv, md and jsonl.
Table AsTable(const result::RunResult& result);

}  // namespace hespas::report
