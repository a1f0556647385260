// The accuracy suite: the calibrated model against published measurements, beside simpler models.
//
// - data/measured holds the measurements; which preset represents which measured device is one table in the source.
// - No row is dropped: a row without a prediction counts as an error of 100 %.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/progress.h"
#include "report/text/table.h"

namespace hespas::validate {

// One measurement with what each model says, in microseconds; 0 where a model says nothing.
struct Comparison {
  double measured = 0;
  double predicted = 0;
  double sigma = 0;
  double roofline = 0;
  double roofline_constant = 0;  // roofline and one launch or dispatch constant
  double published = 0;          // by others, where the data has it
};

// Relative errors of one model over the measurements of one group; fractions, not percent.
struct ErrorSummary {
  double mean = 0;    // of |predicted / measured - 1|
  double median = 0;  // of the same
  double bias = 0;    // mean of predicted / measured - 1
};

struct AccuracyRow {
  std::string set;     // "gemm", "kernels", "collectives", "nodes", "models", "step-times"
  std::string mode;    // "shipped" constants, "zero-shot" or "calibrated" (held_out.h)
  std::string device;  // preset
  std::string op;      // or size class
  size_t count = 0;
  double answered = 1;  // fraction of the rows that have a prediction
  ErrorSummary model;
  std::optional<ErrorSummary> roofline;
  std::optional<ErrorSummary> roofline_constant;
  std::optional<ErrorSummary> published;
  double within_one_sigma = 0;  // fraction of the measurements
  double within_two_sigma = 0;
  double log_likelihood = 0;  // mean, of ln(measured) under the stated relative sigma
  double width = 0;           // mean relative width of the one-sigma interval
};

struct ValidateOptions {
  std::string set;               // one of the sets' names, or empty for all
  bool held_out = false;         // also zero-shot and calibrated
  bool hold = false;             // a missed bound is an error
  Progress* progress = nullptr;  // of fits
};

struct Validation {
  std::vector<AccuracyRow> rows;
  report::Table bounds;  // those that were compared
  report::Table modes;   // the same, modes beside each other
};

// With `hold` a missed bound is an error.
std::optional<Validation> Validate(const ValidateOptions& options, Diagnostics& diagnostics);

ErrorSummary Errors(const std::vector<Comparison>& rows, double Comparison::*prediction);

// All but the key.
AccuracyRow SummaryOf(const std::vector<Comparison>& rows);

report::Table AccuracyTable(const std::vector<AccuracyRow>& rows);

}  // namespace hespas::validate
