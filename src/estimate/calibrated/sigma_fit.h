// Scales of a family's stated uncertainty, from a few measurements that its constants were fitted to.
//
// - Two thirds of the errors fall within one sigma and nine tenths within two, whichever asks for more.
// - A fit's own errors are too small and those of fits that saw less are too large: the geometric mean counts.
#pragma once

#include <array>
#include <vector>

namespace hespas::estimate::calibrated {

// Parts of a time whose uncertainties scale apart and add as squares: of collectives rate and latency.
using SigmaParts = std::array<double, 2>;

// Relative to the prediction.
struct Residual {
  double error = 0;
  SigmaParts sigma = {};  // as stated now; 0 for a part that there is not
};

// What to multiply each part with. `seen` by the fit on all measurements, `unseen` left out of the fit that predicts
// them; both must hold something.
SigmaParts SigmaScales(const std::vector<Residual>& seen, const std::vector<Residual>& unseen);

}  // namespace hespas::estimate::calibrated
