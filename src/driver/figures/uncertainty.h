// Standard deviation of a step's time from those of its blocks.
//
// - Blocks of one family (matmuls; everything else) err together in part: the parameter file's `correlation` of their
//   variance is common. Repeats of one block err alike.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "driver/stages/estimate.h"

namespace hespas::driver {

// Standard deviation of a sum of times whose errors are correlated within a family and independent between families.
class CorrelatedSigma {
 public:
  // A time that occurs `uses` times, with the deviation of one.
  void Add(size_t family, double sigma, double uses = 1);
  // `correlation`: the common fraction of a family's variance.
  double Total(double correlation) const;

 private:
  struct Sum {
    double common = 0;   // of standard deviations
    double squares = 0;  // of the same
  };
  std::map<size_t, Sum> families_;
};

// Of each distinct block the family that it errs with; the same for all tables of these blocks.
std::vector<size_t> FamiliesOf(const Prepared& prepared, const graph::EstimateTable& table);
// Of all computation of a step, in seconds. Nothing where the estimator states no uncertainty.
std::optional<double> ComputeSigma(const Prepared& prepared, const std::vector<size_t>& families,
                                   const hardware::Device& device, const graph::EstimateTable& table);
// With that of `exposed` communication, which nothing hides.
Time StepSigma(const hardware::Device& device, double compute_sigma, Time exposed);

}  // namespace hespas::driver
