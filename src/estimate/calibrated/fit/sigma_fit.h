// Scales of a family's stated uncertainty, from measurements that its constants were fitted to.
//
// - Errors are Student's t of thirty degrees of freedom; one sigma is where it holds 71 % of them, two hold 96 %.
// - The likeliest scales of all errors together count: each part has its own, and a part that the measurements say
//   little of stays near what is stated. Needs the optimiser (minimise.h).
// - A fit's own errors are too small and those of fits that saw less are too large: their mean likelihood counts.
#pragma once

#include <array>
#include <vector>

namespace hespas::estimate::calibrated {

// Parts of a time whose uncertainties scale apart and add as squares: of collectives rate, latency and ramp.
using SigmaParts = std::array<double, 3>;

// Relative to the prediction.
struct Residual {
  double error = 0;
  SigmaParts sigma = {};  // as stated now; 0 for a part that there is not
};

// What to multiply each part with. `seen` by the fit on all measurements, `unseen` left out of the fit that predicts
// them; both must hold something.
SigmaParts SigmaScales(const std::vector<Residual>& seen, const std::vector<Residual>& unseen);

}  // namespace hespas::estimate::calibrated
