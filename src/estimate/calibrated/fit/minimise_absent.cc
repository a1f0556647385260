// Where NLopt is left out.
#include "estimate/calibrated/fit/minimise.h"

namespace hespas::estimate::calibrated {

bool HasOptimiser() { return false; }

Minimum Minimise(const std::function<double(const std::vector<double>&)>& f, const Box&,
                 const std::vector<double>& start, int) {
  return {.at = start, .value = f(start)};
}

}  // namespace hespas::estimate::calibrated
