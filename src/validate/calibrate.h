// `hespas calibrate`: a device file with its own constants from measured kernels, and a list of kernels to measure.
#pragma once

#include <optional>
#include <string>

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

// The parameter file with its shared constants refitted to kernels of several devices: a table of the form of
// data/measured/kernels.csv.gz with the column `gpu`, in the data folder's `measured` or by its path.
std::optional<std::string> CalibrateShared(const std::string& measurements, Diagnostics& diagnostics);

// Kernels worth measuring, a few dozen, as a table that the above reads once `latency_us` is filled in.
report::Table MeasurementPlan();

}  // namespace hespas::validate
