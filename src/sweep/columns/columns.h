// The columns of a sweep's table that hold results: their names, and their values for one run.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "result/run_result.h"
#include "sweep/columns/json.h"

namespace hespas::sweep {

// What a run of a sweep is worth knowing besides its figures.
struct Economy {
  double tokens = 0;                     // of a whole run; 0: not asked
  std::map<std::string, double> prices;  // of a device and hour, by device; "*" for the others
  std::optional<double> PriceOf(const std::string& device) const;
};

// Names of results that conditions may use: every column, and times, sizes and energies without their unit's suffix.
std::vector<std::string> ResultNames();
// The column of such a name.
std::optional<std::string> ColumnCalled(const std::string& name);

// Adds all columns in order; null where a run has no value, and everywhere without a result.
void AddColumns(const result::RunResult* result, const Economy& economy, Json& row);

}  // namespace hespas::sweep
