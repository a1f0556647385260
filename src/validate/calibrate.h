// `hespas calibrate`: a device file with its own constants from measured kernels, and a list of kernels to measure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "report/text/table.h"

namespace hespas::validate {

struct Calibration {
  std::string device_file;  // JSON: the base device with its constants, uncertainties and where they come from
  report::Table errors;     // by family: before, after and cross-validated
};

// `measurements`: a kernel or collective table with `latency_us` (or `t_us`); rows of both kinds may be mixed.
std::optional<Calibration> Calibrate(const std::string& measurements, const std::string& device,
                                     Diagnostics& diagnostics);

inline constexpr DiagnosticKind kNothingToLeaveOut{
    "E0569", "Shared constants are fitted without a device that no table has rows of, or that all rows are of."};

struct SharedCalibration {
  std::map<std::string, std::string> files;  // JSON by name: calibrated.json, field.json, whichever the rows tell of
  report::Table errors;                      // by family and device, of the device left out or of all
};

// The files of shared constants, refitted to kernels of several devices: tables with the column `gpu` (as
// data/measured/kernels.csv.gz), `key` (collectives.csv) or `device` (field_kernels.csv.gz, or its source's tables of
// one kind), in the data folder's `measured` or by their paths. `left_out`: a device whose rows are not fitted, or
// nothing.
std::optional<SharedCalibration> CalibrateShared(const std::vector<std::string>& tables, const std::string& left_out,
                                                 Diagnostics& diagnostics);

// Kernels worth measuring, a few dozen, as a table that the above reads once `latency_us` is filled in.
report::Table MeasurementPlan();

}  // namespace hespas::validate
