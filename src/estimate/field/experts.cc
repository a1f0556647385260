#include "estimate/field/experts.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hespas::estimate::field {
namespace {

constexpr double kRowBytes = 2;
constexpr double kMostExperts = 65536;
// AIConfigurator, collector/helper.py, `power_law_logits_v3`: loads are drawn from a power law between one and this
// part of the tokens, and scaled to their sum.
constexpr double kLargestLoad = 0.8;

// Expected maximum of `count` standard normal numbers (Blom, 1958), by bisection of the normal distribution.
double ExpectedMaximum(double count) {
  if (!(count > 1)) return 0;
  const double below = (count - 0.375) / (count + 0.25);
  double low = 0, high = 10;
  for (int i = 0; i < 40; ++i) {
    const double middle = (low + high) / 2;
    (1 - std::erfc(middle / std::sqrt(2.0)) / 2 < below ? low : high) = middle;
  }
  return low;
}

// Quantiles of the power law, one an expert, with their sum scaled to all rows.
std::vector<double> PowerLawLoads(const ExpertLayer& layer) {
  const double power = 1 - layer.exponent;
  const double top = std::pow(std::max(1.5, kLargestLoad * layer.tokens), power) - 1;
  std::vector<double> loads(static_cast<size_t>(std::min(layer.experts, kMostExperts)));
  double sum = 0;
  for (size_t i = 0; i < loads.size(); ++i) {
    const double quantile = (static_cast<double>(i) + 0.5) / static_cast<double>(loads.size());
    loads[i] = std::pow(top * quantile + 1, 1 / power);
    sum += loads[i];
  }
  for (double& load : loads) load *= layer.tokens * layer.chosen / sum;
  return loads;
}

double Extent(double x) { return std::isfinite(x) ? std::clamp(x, 1.0, 1e9) : 1.0; }

}  // namespace

ExpertLoad LoadOf(const ExpertLayer& layer) {
  const double own = std::max(1.0, std::floor(layer.experts / layer.ranks));
  const double mean = layer.tokens * layer.chosen / layer.ranks;
  if (!(layer.exponent > 0) || layer.exponent == 1) return {mean, std::clamp(std::round(mean), 1.0, own)};
  const std::vector<double> loads = PowerLawLoads(layer);
  const double average = mean * layer.ranks / static_cast<double>(loads.size());
  double variance = 0;
  for (const double load : loads) variance += (load - average) * (load - average) / static_cast<double>(loads.size());
  const double spread = std::sqrt(variance * own * (1 - own / static_cast<double>(loads.size())));
  const double busiest = std::min(mean + spread * ExpectedMaximum(layer.ranks), mean * layer.ranks);
  ExpertLoad load{0, 0};
  for (const double each : loads) {
    const double rows = std::min(each * busiest / mean, layer.tokens);
    load.rows += rows / layer.ranks;
    load.touched += std::min(rows, 1.0) / layer.ranks;
  }
  load.touched = std::clamp(load.touched, 1.0, own);
  return load;
}

double PassesUs(const Chip& chip, const Constants& constants, double rows, double hidden, double inner) {
  const ExpertConstants& own = constants.experts;
  const double bytes = rows * kRowBytes * (own.token_passes * hidden + own.inner_passes * inner);
  return own.start_clocks / chip.clock + bytes / (chip.bandwidth * constants.matmul.memory_fraction);
}

Time TimeOf(const Chip& chip, const Constants& constants, const ExpertLayer& row) {
  ExpertLayer layer = row;
  for (double* value :
       {&layer.tokens, &layer.hidden, &layer.inner, &layer.chosen, &layer.experts, &layer.tensor, &layer.ranks}) {
    *value = Extent(*value);
  }
  const ExpertConstants& own = constants.experts;
  const ExpertLoad load = LoadOf(layer);
  const double inner = std::max(1.0, layer.inner / layer.tensor);
  Matmul up{
      .format = layer.format, .m = load.rows / load.touched, .n = inner * (layer.gated ? 2 : 1), .k = layer.hidden};
  up.groups = load.touched;
  up.experts = true;
  up.weight_bytes = layer.weight_bytes;
  up.in_step = true;
  up.weights_between = load.touched * layer.hidden * inner * (layer.gated ? 3 : 2);
  Matmul down = up;
  down.n = layer.hidden;
  down.k = inner;
  const double us = TimeOf(chip, constants, up).us + TimeOf(chip, constants, down).us +
                    PassesUs(chip, constants, load.rows, layer.hidden, inner);
  return {.us = us, .sigma_us = us * own.sigma};
}

}  // namespace hespas::estimate::field
