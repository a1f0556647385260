// Predictions for tables of single kernels and single collectives (`hespas estimate --kernels`, `--collectives`).
#pragma once

#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "report/table.h"

namespace hespas::driver {

// The CSV file's columns and rows, with `predicted_us` and `sigma_us` appended.
std::optional<report::Table> EstimateKernelTable(const std::string& file, const std::string& device,
                                                 Diagnostics& diagnostics);
// `system`: a system's name, file or folder; it names its device, whose links count.
std::optional<report::Table> EstimateCollectiveTable(const std::string& file, const std::string& system,
                                                     Diagnostics& diagnostics);

}  // namespace hespas::driver
