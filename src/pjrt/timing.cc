#include "pjrt/timing.h"

#include <algorithm>
#include <cmath>

namespace hespas::pjrt {
namespace {

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

Timing RobustMean(std::vector<double> seconds) {
  if (seconds.empty()) return {};
  const int repeats = static_cast<int>(seconds.size());
  const double median = Median(seconds);
  std::vector<double> distances;
  distances.reserve(seconds.size());
  for (const double value : seconds) distances.push_back(std::abs(value - median));
  constexpr double kToStandardDeviation = 1.4826;  // of a normal distribution
  const double far = 3 * kToStandardDeviation * Median(distances);
  std::erase_if(seconds, [&](double value) { return std::abs(value - median) > far; });
  const auto count = static_cast<double>(seconds.size());
  double sum = 0, squares = 0;
  for (const double value : seconds) sum += value;
  const double mean = sum / count;
  for (const double value : seconds) squares += (value - mean) * (value - mean);
  const double deviation = count > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return {.seconds = mean, .half_width = 1.96 * deviation / std::sqrt(count), .repeats = repeats};
}

Result<Timing> Repeat(const Effort& effort, const std::function<Result<Repetition>()>& once) {
  std::vector<double> seconds;
  double spent = 0;
  Timing timing;
  while (true) {
    const auto taken = once();
    if (!taken) return taken.error();
    seconds.push_back(taken->seconds);
    spent += taken->spent_s;
    const int count = static_cast<int>(seconds.size());
    if (count >= effort.most || (spent >= effort.limit_s && count > 1)) return RobustMean(std::move(seconds));
    if (count < effort.least) continue;
    timing = RobustMean(seconds);
    if (timing.half_width <= effort.relative_half_width * timing.seconds) return timing;
  }
}

}  // namespace hespas::pjrt
