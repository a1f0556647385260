#include "estimate/calibrated/fit/ranges.h"

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/fit/minimise.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr double kPull = 1e-4;  // per squared e-fold

std::vector<double> Exponentials(std::vector<double> logs) {
  std::transform(logs.begin(), logs.end(), logs.begin(), [](double log) { return std::exp(log); });
  return logs;
}

}  // namespace

std::vector<double> LeastError(const std::vector<Range>& ranges,
                               const std::function<double(const std::vector<double>&)>& error, int evaluations) {
  Box box;
  std::vector<double> start;
  for (const Range& range : ranges) {
    box.low.push_back(std::log(range.low));
    box.high.push_back(std::log(range.high));
    start.push_back(range.start > 0 ? std::log(range.start) : (box.low.back() + box.high.back()) / 2);
  }
  const auto objective = [&](const std::vector<double>& logs) {
    double pull = 0;
    for (size_t i = 0; i < logs.size(); ++i) pull += std::pow(logs[i] - start[i], 2);
    return error(Exponentials(logs)) + kPull * pull;
  };
  return Exponentials(Minimise(objective, box, start, evaluations).at);
}

}  // namespace hespas::estimate::calibrated
