// Renders the result of a network simulation: JSON or tables. ASTRA-sim's lines: astra_sim_lines.h.
#pragma once

#include <string>

#include "report/text/table.h"
#include "result/sim_result.h"

namespace hespas::report {

// {"npus": [{"id", "finish", "exposed", "wall", "gpu", "comm", "overlap"}, ...], "order": [...]} in ticks; absent keys
// are those that ASTRA-sim would not print. Roofline runs have "roofline" in each NPU.
std::string SimulationJson(const result::SimResult& result);

Table SimulationTable(const result::SimResult& result);
// Empty unless the run recorded them (SimulateOptions::record_links, explain).
Table LinkTable(const result::SimResult& result);
Table CollectiveTable(const result::SimResult& result);
Table PathTable(const result::SimResult& result);

// The averages of roofline runs, with their keys in JSON and their names in ASTRA-sim's lines.
struct RooflineFigure {
  const char* key;
  const char* label;
  const char* unit;
  double result::RooflineAverages::*member;
};

inline constexpr RooflineFigure kRooflineFigures[] = {
    {"compute_bound_percentage", "Compute bound percentage", "%", &result::RooflineAverages::compute_bound},
    {"average_compute_utilization", "Average compute utilization", "%", &result::RooflineAverages::compute_utilisation},
    {"average_memory_utilization", "Average memory utilization", "%", &result::RooflineAverages::memory_utilisation},
    {"average_operation_intensity", "Average operation intensity", "", &result::RooflineAverages::operation_intensity}};

}  // namespace hespas::report
