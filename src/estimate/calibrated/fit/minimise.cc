#include "estimate/calibrated/fit/minimise.h"

#include <nlopt.h>

#include <memory>

namespace hespas::estimate::calibrated {

namespace {

constexpr double kTolerance = 1e-4;

struct Call {
  const std::function<double(const std::vector<double>&)>& f;
  std::vector<double> at;
};

double Evaluate(unsigned n, const double* x, double* /*gradient*/, void* data) {
  Call& call = *static_cast<Call*>(data);
  call.at.assign(x, x + n);
  return call.f(call.at);
}

}  // namespace

bool HasOptimiser() { return true; }

Minimum Minimise(const std::function<double(const std::vector<double>&)>& f, const Box& box,
                 const std::vector<double>& start, int evaluations) {
  Call call{.f = f, .at = start};
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> optimiser(
      nlopt_create(NLOPT_LN_SBPLX, static_cast<unsigned>(start.size())), nlopt_destroy);
  nlopt_set_lower_bounds(optimiser.get(), box.low.data());
  nlopt_set_upper_bounds(optimiser.get(), box.high.data());
  nlopt_set_min_objective(optimiser.get(), Evaluate, &call);
  nlopt_set_maxeval(optimiser.get(), evaluations);
  nlopt_set_xtol_rel(optimiser.get(), kTolerance);
  Minimum minimum{.at = start, .value = f(start)};
  std::vector<double> at = start;
  double value = minimum.value;
  const auto status = nlopt_optimize(optimiser.get(), at.data(), &value);
  if (status > 0 && value < minimum.value) minimum = {.at = at, .value = value};
  return minimum;
}

}  // namespace hespas::estimate::calibrated
