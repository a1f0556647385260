// Fits a device's own constants to measured kernels and collectives, family by family.
//
// - The most probable constants: Laplace errors of unknown scale, and each constant about its shared value as devices
//   are, so that a few kernels suffice and odd ones among them do little harm.
// - The error of cross-validation is what a device file promises; constants come from all measurements.
// - Deterministic: equal measurements give equal constants.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "estimate/calibrated/collective.h"
#include "estimate/calibrated/model.h"

namespace hespas::estimate::calibrated {

inline constexpr DiagnosticKind kTooFewMeasurements{
    "E0563",
    "A family of ops needs at least eight measured kernels to fit the constants of a device. `hespas calibrate --plan` "
    "lists kernels worth measuring."};
inline constexpr DiagnosticKind kNoOptimiser{
    "E0564", "This build has no optimiser library. Install libnlopt-dev and build again to fit constants.",
    Outcome::kUnsupported};

struct MeasuredKernel {
  KernelSpec kernel;
  double us = 0;
};

struct MeasuredCollective {
  CollectiveSpec collective;
  double us = 0;
};

struct FamilyFit {
  std::string family;  // "gemm", "all-reduce", ...
  size_t measurements = 0;
  std::map<std::string, double> constants;  // by calibration key
  double error_before = 0;                  // mean relative error with the device as it was
  double error_after = 0;
  double error_cross_validated = 0;
  std::map<std::string, double> sigmas;  // by calibration key (sigma_fit.h)
};

// Families with too few measurements are left out; an error where none is left.
Result<std::vector<FamilyFit>> FitDevice(const hardware::Device& device, const Parameters& parameters,
                                         const std::vector<MeasuredKernel>& kernels,
                                         const std::vector<MeasuredCollective>& collectives);

}  // namespace hespas::estimate::calibrated
