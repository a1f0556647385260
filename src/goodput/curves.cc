#include "goodput/curves.h"

#include <algorithm>
#include <cmath>

namespace hespas::goodput {
namespace {

constexpr int64_t kRuns = 60;       // of each point
constexpr double kWorth = 2.0 / 3;  // of the time, that twice the devices must not exceed to be worth their price

Result<CurvePoint> At(const Plan& plan, double at, uint64_t seed) {
  const auto runs = Simulate(plan, {.runs = kRuns, .seed = seed});
  if (!runs) return runs.error();
  return CurvePoint{.at = at, .closed = Expected(plan).wall, .simulated = MeanWall(*runs)};
}

}  // namespace

Result<Curves> CurvesOf(const Answer& answer) {
  Curves out;
  for (const double factor : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0}) {
    Plan plan = answer.plan;
    plan.failures.rate /= factor;
    const Checkpoint& c = plan.checkpoint;
    plan.checkpoint.interval = std::max({BestInterval(plan), c.stall * 1.01, c.lag * 1.01});
    if (!Check(plan) || Expected(plan).efficiency < 0.01) continue;  // off the chart
    const auto point = At(plan, plan.mtbf(), answer.options.seed);
    if (!point) return point.error();
    out.mtbf.push_back(*point);
  }
  for (const double factor : {0.125, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0}) {
    Plan plan = answer.plan;
    plan.checkpoint.interval *= factor;
    if (!Check(plan) || Expected(plan).efficiency < 0.01) continue;
    const auto point = At(plan, plan.checkpoint.interval, answer.options.seed);
    if (!point) return point.error();
    out.interval.push_back(*point);
  }
  return out;
}

std::vector<int64_t> AroundDevices(int64_t devices) {
  std::vector<int64_t> out;
  for (int64_t n = std::max<int64_t>(devices / 8, 1); n <= devices * 2; n *= 2) out.push_back(n);
  return out;
}

std::vector<ScalePoint> Scale(const Answer& answer, const driver::RunOptions& run,
                              const std::vector<int64_t>& devices) {
  std::vector<ScalePoint> out;
  for (const int64_t count : devices) {
    Diagnostics ignored;
    driver::RunOptions options = run;
    options.program.assumptions.devices = count;
    options.system.num_npus = 0;
    options.progress = nullptr;
    const auto step = count == answer.step.devices ? std::optional(answer.step) : StepOf(options, ignored);
    if (!step) continue;
    Options own = answer.options;
    own.runs = kRuns;
    if (!own.batch.empty())
      own.batch =
          std::to_string(answer.step.batch * static_cast<double>(count) / static_cast<double>(answer.step.devices));
    auto point = Estimate(*step, own);
    if (point) out.push_back({count, *std::move(point)});
  }
  return out;
}

int64_t Knee(const std::vector<ScalePoint>& points) {
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    const double doubled =
        std::log2(static_cast<double>(points[i + 1].devices) / static_cast<double>(points[i].devices));
    const double saved = 1 - points[i + 1].answer.wall.p50 / points[i].answer.wall.p50;
    if (saved < 1 - std::pow(kWorth, doubled)) return points[i].devices;
  }
  return 0;
}

}  // namespace hespas::goodput
