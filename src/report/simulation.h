// Renders the result of a network simulation: JSON, a table, or the lines that ASTRA-sim prints.
#pragma once

#include <string>

#include "hardware/system.h"
#include "report/table.h"
#include "result/sim_result.h"

namespace hespas::report {

// {"npus": [{"id", "finish", "exposed", "wall", "gpu", "comm", "overlap"}, ...], "order": [...]} in ticks; absent keys
// are those that ASTRA-sim would not print. Roofline runs have "roofline" in each NPU.
std::string SimulationJson(const result::SimResult& result);

Table SimulationTable(const result::SimResult& result);

// `time` is the text between the first brackets, "2026-01-31 12:00:00.000".
std::string AstraSimLines(const result::SimResult& result, const hardware::System& system, const std::string& time);

}  // namespace hespas::report
