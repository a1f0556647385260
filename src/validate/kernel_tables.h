// Predictions for tables of single kernels and single collectives (`hespas estimate --kernels`, `--collectives`).
#pragma once

#include <optional>
#include <string>

#include "base/diagnostic.h"
#include "estimate/native/dataflow.h"
#include "report/text/table.h"

namespace hespas::validate {

inline constexpr DiagnosticKind kNoTableModel{
    "E0571", "Tables of single kernels are costed by the models that know single kernels.", Outcome::kUsage};

struct TableModel {
  std::string estimator = "calibrated";  // or roofline, systolic, scalesim, genz
  estimate::native::Dataflow dataflow = estimate::native::Dataflow::kWeightStationary;  // of scalesim
};

// The CSV file's columns and rows, with `predicted_us` and `sigma_us` appended, and `predicted_cycles` by cycle models.
// Kernels that multiply no matrices are left to the calibrated model.
std::optional<report::Table> EstimateKernelTable(const std::string& file, const std::string& device,
                                                 const TableModel& model, Diagnostics& diagnostics);
// `system`: a system's name, file or folder; it names its device, whose links count. Models: calibrated or genz.
std::optional<report::Table> EstimateCollectiveTable(const std::string& file, const std::string& system,
                                                     const TableModel& model, Diagnostics& diagnostics);

}  // namespace hespas::validate
