// Whole training steps: the pipeline's answer against measured ones, from the plain exports in data/workloads.
#include "validate/sets/step_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "driver/pipeline/run.h"
#include "hardware/presets.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace fs = std::filesystem;

constexpr double kShortest = 0.1;                 // s; shorter ones are mostly rounding
constexpr double kRoundingSigma = 0.01 / 3.4641;  // s; measured steps are rounded to 0.01 s

// The program of a row: SIZE-4dev or MODEL_train_step_..., as exported for as many devices as the system has.
std::optional<std::string> ProgramOf(const fs::path& folder, const std::string& workload, bool tpu) {
  const std::string names[] = {fmt::format("{}-{}dev.mlir", workload, tpu ? 8 : 4),
                               fmt::format("{}_train_step_4_devices_1024_batch.mlir", workload)};
  for (const std::string& name : names) {
    for (const char* packed : {".zst", ".gz", ""}) {
      std::error_code unused;
      if (fs::exists(folder / (name + packed), unused)) return (folder / (name + packed)).string();
    }
  }
  return std::nullopt;
}

std::string DeviceOf(const std::string& system) {
  std::string device = system;
  for (const char* suffix : {"_4GPU", "_8GPU", "_4_2"}) {
    if (const size_t at = device.rfind(suffix); at != std::string::npos) device.resize(at);
  }
  return device;
}

std::string ClassOf(const std::string& workload) { return workload.substr(0, workload.find_first_of("-0123456789")); }

double Predict(const StepRow& row, std::optional<double> issue_fraction, double* sigma, Diagnostics& diagnostics) {
  driver::RunOptions options{
      .program = {.path = row.program}, .device = {.name = row.device}, .system = {.name = row.system}};
  if (issue_fraction) options.device.constants["elementwise.issue_fraction"] = *issue_fraction;
  const auto result = driver::Run(options, diagnostics);
  if (!result) return 0;
  if (sigma != nullptr) *sigma = result->step_time_sigma ? result->step_time_sigma->seconds() : 0;
  return result->step_time.seconds();
}

bool IsFitted(const StepRow& row) {
  return row.group == "llama" && row.system.ends_with("GPU") && row.seconds >= kShortest;
}

// The issue rate of fused kernels that brings the mean signed error of `rows` to zero: steps shrink as it grows.
double FitIssueFraction(const std::vector<StepRow>& rows, Diagnostics& diagnostics) {
  double low = 0.1;
  double high = 0.8;
  constexpr int kHalvings = 6;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = std::sqrt(low * high);
    double bias = 0;
    for (const StepRow& row : rows) bias += Predict(row, middle, nullptr, diagnostics) / row.seconds - 1;
    (bias > 0 ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

void Add(Groups& groups, const std::string& mode, const StepRow& row, std::optional<double> issue_fraction,
         Diagnostics& diagnostics) {
  double sigma = 0;
  const double seconds = Predict(row, issue_fraction, &sigma, diagnostics);
  // Rows that rounding dominates stand apart.
  const std::string op = row.seconds >= kShortest || row.group != "llama" ? row.group : row.group + " below 0.10 s";
  groups[{"step-times", mode, row.device, op}].push_back(
      {.measured = 1e6 * row.seconds, .predicted = 1e6 * seconds, .sigma = 1e6 * std::hypot(sigma, kRoundingSigma)});
}

}  // namespace

std::optional<std::vector<StepRow>> ReadStepRows(Diagnostics& diagnostics) {
  const auto table = LoadMeasured("step_times.csv", diagnostics);
  const auto folder = hardware::DataFolder();
  if (!table || !folder) return std::nullopt;
  std::vector<StepRow> rows;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    const std::string system = CellText(*table, row, "system");
    const std::string workload = CellText(*table, row, "workload");
    const auto program = ProgramOf(*folder / "workloads", workload, system.starts_with("TPU"));
    if (!program) {
      diagnostics.Warning(kNoStepProgram, fmt::format("no program of `{}` for `{}`", workload, system));
      continue;
    }
    rows.push_back({.system = system,
                    .device = DeviceOf(system),
                    .workload = workload,
                    .group = ClassOf(workload),
                    .program = *program,
                    .seconds = CellNumber(*table, row, "step_time_s")});
  }
  return rows;
}

bool AddStepTimes(Groups& groups, const std::string& mode, Diagnostics& diagnostics) {
  const auto rows = ReadStepRows(diagnostics);
  if (!rows) return false;
  for (const StepRow& row : *rows) Add(groups, mode, row, std::nullopt, diagnostics);
  return !diagnostics.has_errors();
}

bool AddStepTimesHeldOut(Groups& groups, Diagnostics& diagnostics) {
  auto rows = ReadStepRows(diagnostics);
  if (!rows) return false;
  std::erase_if(*rows, [](const StepRow& row) { return !IsFitted(row); });
  const auto without = [&](const std::string& mode, std::string StepRow::*key) {
    std::set<std::string> values;
    for (const StepRow& row : *rows) values.insert(row.*key);
    for (const std::string& left : values) {
      std::vector<StepRow> others;
      std::copy_if(rows->begin(), rows->end(), std::back_inserter(others),
                   [&](const StepRow& row) { return row.*key != left; });
      if (others.empty()) continue;
      const double fitted = FitIssueFraction(others, diagnostics);
      for (const StepRow& row : *rows) {
        if (row.*key == left) Add(groups, mode, row, fitted, diagnostics);
      }
    }
  };
  without("zero-shot", &StepRow::device);
  without("size held out", &StepRow::workload);
  return !diagnostics.has_errors();
}

}  // namespace hespas::validate
