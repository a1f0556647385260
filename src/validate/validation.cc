#include "validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "hardware/presets.h"
#include "validate/bounds.h"
#include "validate/held_out.h"
#include "validate/measured_sets.h"
#include "validate/sets/field_kernels.h"
#include "validate/sets/multi_node.h"
#include "validate/sets/program_steps.h"
#include "validate/sets/serving.h"
#include "validate/sets/step_times.h"
#include "validate/sets/stream_collectives.h"

namespace hespas::validate {
namespace {

using Field = double Comparison::*;

double Median(std::vector<double> values) {
  const size_t middle = values.size() / 2;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle), values.end());
  const double upper = values[middle];
  if (values.size() % 2 == 1) return upper;
  return (upper + *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle))) / 2;
}

std::optional<ErrorSummary> ErrorsIfGiven(const std::vector<Comparison>& rows, Field prediction) {
  const bool given = std::all_of(rows.begin(), rows.end(), [&](const Comparison& row) { return row.*prediction > 0; });
  return given ? std::optional(Errors(rows, prediction)) : std::nullopt;
}

void Uncertainty(const std::vector<Comparison>& rows, AccuracyRow& summary) {
  for (const Comparison& row : rows) {
    const double error = std::abs(row.predicted - row.measured);
    summary.within_one_sigma += error <= row.sigma ? 1 : 0;
    summary.within_two_sigma += error <= 2 * row.sigma ? 1 : 0;
    if (!(row.sigma > 0 && row.predicted > 0)) continue;
    const double relative = row.sigma / row.predicted;
    const double deviation = std::log(row.measured / row.predicted) / relative;
    summary.log_likelihood -= deviation * deviation / 2 + std::log(relative * std::sqrt(2 * std::numbers::pi));
    summary.width += 2 * relative;
  }
  const auto count = static_cast<double>(rows.size());
  for (double* value :
       {&summary.within_one_sigma, &summary.within_two_sigma, &summary.log_likelihood, &summary.width}) {
    *value /= count;
  }
}

std::string Percent(double fraction) { return fmt::format("{:.2f}", 100 * fraction); }

std::string MeanOf(const std::optional<ErrorSummary>& summary) { return summary ? Percent(summary->mean) : ""; }

// Nothing for a set without uncertainties.
std::array<std::string, 4> UncertaintyCells(const AccuracyRow& row) {
  if (!(row.width > 0)) return {};
  return {Percent(row.within_one_sigma), Percent(row.within_two_sigma), Percent(row.width),
          fmt::format("{:.2f}", row.log_likelihood)};
}

std::optional<DeviceModel> Shipped(const std::string& preset, Diagnostics& diagnostics) {
  auto device = hardware::LoadDevice(preset, diagnostics);
  const auto& parameters = estimate::calibrated::DefaultParameters();
  if (!parameters) diagnostics.Report(parameters.error());
  if (!device || !parameters) return std::nullopt;
  return DeviceModel{.figures = *std::move(device), .parameters = *parameters};
}

bool AddShipped(Groups& groups, const std::string& set, Diagnostics& diagnostics) {
  const auto wanted = [&](std::string_view name) { return set.empty() || set == name; };
  const ModelOf shipped = [&](const std::string& preset) { return Shipped(preset, diagnostics); };
  constexpr const char* kMode = "shipped";
  for (auto* read : {wanted("gemm") ? &ReadGemmRows : nullptr, wanted("kernels") ? &ReadKernelRows : nullptr}) {
    if (read == nullptr) continue;
    const auto rows = read(diagnostics);
    if (!rows) return false;
    AddRows(groups, kMode, *rows, shipped);
  }
  if (wanted("collectives")) {
    const auto rows = ReadCollectiveRows(diagnostics);
    if (!rows) return false;
    AddRows(groups, kMode, *rows, shipped);
    if (!AddStreamCollectives(groups, false, diagnostics)) return false;
  }
  if (wanted(kMultiNodeSet) && !AddMultiNode(groups, kMode, diagnostics)) return false;
  if (wanted("field") && !AddFieldKernels(groups, diagnostics)) return false;
  if (wanted("models") && !AddModels(groups, kMode, shipped, diagnostics)) return false;
  if (wanted("gemm") && !AddPublishedErrors(groups, kMode, shipped, diagnostics)) return false;
  if (set == kServingSet && !AddServing(groups, kMode, diagnostics)) return false;  // half a minute: only by name
  if (wanted(kProgramSet) && !AddProgramSteps(groups, kMode, diagnostics)) return false;
  return !wanted("step-times") || AddStepTimes(groups, kMode, diagnostics);
}

}  // namespace

ErrorSummary Errors(const std::vector<Comparison>& rows, Field prediction) {
  ErrorSummary summary;
  std::vector<double> sizes;
  for (const Comparison& row : rows) {
    const double error = row.*prediction / row.measured - 1;
    sizes.push_back(std::abs(error));
    summary.mean += std::abs(error);
    summary.bias += error;
  }
  const auto count = static_cast<double>(rows.size());
  summary.mean /= count;
  summary.bias /= count;
  summary.median = Median(std::move(sizes));
  return summary;
}

AccuracyRow SummaryOf(const std::vector<Comparison>& rows) {
  AccuracyRow summary{.count = rows.size()};
  if (rows.empty()) return summary;
  summary.model = Errors(rows, &Comparison::predicted);
  const auto answered =
      std::count_if(rows.begin(), rows.end(), [](const Comparison& row) { return row.predicted > 0; });
  summary.answered = static_cast<double>(answered) / static_cast<double>(rows.size());
  summary.roofline = ErrorsIfGiven(rows, &Comparison::roofline);
  summary.roofline_constant = ErrorsIfGiven(rows, &Comparison::roofline_constant);
  summary.published = ErrorsIfGiven(rows, &Comparison::published);
  Uncertainty(rows, summary);
  return summary;
}

std::optional<Validation> Validate(const ValidateOptions& options, Diagnostics& diagnostics) {
  Groups groups;
  bool done = AddShipped(groups, options.set, diagnostics);
  if (options.held_out) done = done && AddHeldOut(groups, options, diagnostics);
  if (!done || diagnostics.has_errors()) return std::nullopt;
  Validation validation;
  for (const auto& [key, comparisons] : groups) {
    AccuracyRow row = SummaryOf(comparisons);
    row.set = key.set;
    row.mode = key.mode;
    row.device = key.device;
    row.op = key.op;
    validation.rows.push_back(std::move(row));
  }
  Diagnostics unheld;
  const auto bounds = CheckBounds(groups, options.hold ? diagnostics : unheld);
  if (bounds) {
    validation.bounds = BoundTable(*bounds);
    validation.modes = ModeTable(*bounds);
  }
  return validation;
}

report::Table AccuracyTable(const std::vector<AccuracyRow>& rows) {
  using report::Align;
  report::Table table;
  table.columns = {{"set"},
                   {"mode"},
                   {"device"},
                   {"op"},
                   {"rows", Align::kRight},
                   {"mean error %", Align::kRight},
                   {"median %", Align::kRight},
                   {"bias %", Align::kRight},
                   {"within 1 sigma %", Align::kRight},
                   {"within 2 sigma %", Align::kRight},
                   {"interval %", Align::kRight},
                   {"log likelihood", Align::kRight},
                   {"roofline %", Align::kRight},
                   {"roofline + constant %", Align::kRight},
                   {"published %", Align::kRight}};
  // All rows of the other sets have an answer.
  const bool counts = std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.set == kServingSet; });
  if (counts) table.columns.push_back({"answered %", Align::kRight});
  for (const AccuracyRow& row : rows) {
    std::vector<std::string> cells = {row.set,
                                      row.mode,
                                      row.device,
                                      row.op,
                                      fmt::format("{}", row.count),
                                      Percent(row.model.mean),
                                      Percent(row.model.median),
                                      Percent(row.model.bias)};
    const auto uncertainty = UncertaintyCells(row);
    cells.insert(cells.end(), uncertainty.begin(), uncertainty.end());
    cells.insert(cells.end(), {MeanOf(row.roofline), MeanOf(row.roofline_constant), MeanOf(row.published)});
    if (counts) cells.push_back(Percent(row.answered));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace hespas::validate
