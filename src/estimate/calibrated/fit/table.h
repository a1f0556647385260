// Tables of single kernels and single collectives with the model's prediction for each row.
//
// - Rows keep order and number; a row whose op, type or extents have no rule gets no prediction and one warning a kind.
// - Columns are those of the measured sets: op, dtype, b, m, n, k; ci, co, ks, hw, stride, pad; dispatch_us.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/text/csv_text.h"
#include "estimate/calibrated/collective.h"
#include "estimate/calibrated/model.h"

namespace hespas::estimate::calibrated {

inline constexpr DiagnosticKind kNoPrediction{
    "W0561",
    "A row of a kernel or collective table names an operation or datatype that the calibrated model has no rule for, "
    "or lacks a size; its prediction stays empty."};
inline constexpr DiagnosticKind kMissingColumn{"E0562",
                                               "A kernel or collective table lacks a column it cannot do without."};

struct Prediction {
  double us = 0;
  double sigma_us = 0;
  std::optional<double> cycles = {};  // of cycle models
  bool exact = false;                 // a closed form: printed to the last digit
};

using Predictions = std::vector<std::optional<Prediction>>;

// The kernels of a table; nothing where a row describes none.
Result<std::vector<std::optional<KernelSpec>>> ReadKernels(const CsvTable& table, const std::string& file,
                                                           Diagnostics& diagnostics);

Result<Predictions> PredictKernels(const CsvTable& table, const std::string& file, const KernelModel& model,
                                   Diagnostics& diagnostics);

Result<Predictions> PredictCollectives(const CsvTable& table, const std::string& file, const CollectiveModel& model,
                                       Diagnostics& diagnostics);

// The collectives of a table; nothing where a row describes none.
Result<std::vector<std::optional<CollectiveSpec>>> ReadCollectives(const CsvTable& table, const std::string& file,
                                                                   Diagnostics& diagnostics);

// Columns `predicted_us` and `sigma_us` appended, and `predicted_cycles` where a prediction counts them.
void AddPredictions(CsvTable& table, const Predictions& predictions);

}  // namespace hespas::estimate::calibrated
