#include "driver/stages/cost/power_limit.h"

#include <algorithm>
#include <cmath>

#include "base/text/hash.h"

namespace hespas::driver {
namespace {

// Watts that matrix units draw at full rate, for each TFLOP/s of bf16 and nanometre of the process. The one figure that
// is fitted to published steps: those of NVIDIA devices in data/published/rows.csv (docs/published.md).
constexpr double kWattsPerTeraflopAndNanometre = 0.30;

// What the matrix units take of an estimate's time before the limit; 0 where arithmetic runs on other units, or the
// time was measured.
Time MatrixTime(const hardware::Device& device, const graph::Estimate& estimate) {
  if (estimate.bound == graph::Bound::kMeasured) return {};
  const auto term = std::find_if(estimate.terms.begin(), estimate.terms.end(),
                                 [](const graph::Term& t) { return t.name == graph::kComputeTerm; });
  if (term == estimate.terms.end() || term->time <= estimate.limited) return {};
  const Time unlimited = term->time - estimate.limited;
  const double rate = static_cast<double>(estimate.flops.value) / unlimited.seconds();
  return rate > device.VectorRateFor("f32").value ? std::min(unlimited, estimate.time) : Time();
}

class AtLowerClock : public estimate::Estimator {
 public:
  AtLowerClock(const estimate::Estimator& base, const hardware::Device& device, double clock)
      : base_(base), device_(device), clock_(clock) {}

  std::string_view name() const override { return base_.name(); }
  graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, estimate::Notes& notes) const override {
    return AtClock(device_, clock_, base_.EstimateOp(module, op, notes));
  }
  graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block,
                                estimate::Notes& notes) const override {
    return AtClock(device_, clock_, base_.EstimateBlock(module, block, notes));
  }
  Hash128 key() const override {
    return Combine(base_.key(), static_cast<uint64_t>(std::llround(clock_ * (uint64_t{1} << 40))));
  }

 private:
  const estimate::Estimator& base_;
  const hardware::Device& device_;
  double clock_;
};

}  // namespace

std::optional<double> MatrixPower(const hardware::Device& device) {
  if (!device.tdp_w || !device.process_nm || !device.Knows("bf16")) return std::nullopt;
  const double teraflops = device.MatrixRateFor("bf16").value * 1e-12;
  return kWattsPerTeraflopAndNanometre * teraflops * *device.process_nm / *device.tdp_w;
}

double ClockUnderPowerLimit(const hardware::Device& device, const graph::BlockGraph& graph,
                            const graph::EstimateTable& table) {
  const std::optional<double> power = MatrixPower(device);
  if (!power) return 1;
  const std::vector<int64_t> uses = graph::Uses(graph, table);
  double matrix = 0;
  double all = 0;
  for (size_t i = 0; i < table.unique.size(); ++i) {
    matrix += static_cast<double>(uses[i]) * MatrixTime(device, table.unique[i]).seconds();
    all += static_cast<double>(uses[i]) * table.unique[i].time.seconds();
  }
  if (matrix <= 0 || *power * matrix + kOtherShare * (all - matrix) <= all) return 1;
  // With x = 1 / clock: matrix x of time at power / x^2, and the rest as it is, come to the limit.
  const double spare = (1 - kOtherShare) * (all - matrix);
  const double slower = (std::sqrt(spare * spare + 4 * matrix * matrix * *power) - spare) / (2 * matrix);
  return 1 / std::max(1.0, slower);
}

graph::Estimate AtClock(const hardware::Device& device, double clock, graph::Estimate estimate) {
  const Time matrix = MatrixTime(device, estimate);
  if (matrix.value <= 0 || clock >= 1) return estimate;
  const auto moving = std::find_if(estimate.terms.begin(), estimate.terms.end(),
                                   [](const graph::Term& t) { return t.name == graph::kMemoryTerm; });
  const Time memory = moving == estimate.terms.end() ? Time() : moving->time;
  const Time slower = estimate.limited + Time::Seconds(matrix.seconds() / clock);
  const Time added = std::max(slower, memory) - std::max(estimate.limited + matrix, memory);
  const double ratio = (estimate.time + added).seconds() / estimate.time.seconds();
  estimate.sigma = Time::Seconds(estimate.sigma.seconds() * ratio);
  estimate.time = estimate.time + added;
  for (graph::Term& term : estimate.terms) {
    if (term.name == graph::kComputeTerm) term.time = slower;
  }
  return estimate;
}

std::unique_ptr<estimate::Estimator> EstimatorAtClock(const estimate::Estimator& base, const hardware::Device& device,
                                                      double clock) {
  return std::make_unique<AtLowerClock>(base, device, clock);
}

}  // namespace hespas::driver
