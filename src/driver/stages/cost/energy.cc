#include "driver/stages/cost/energy.h"

#include <algorithm>

namespace hespas::driver {
namespace {

constexpr double kIdleShare = 0.1;  // of the TDP, where the device file names no idle power
// Fractions of the range between idle and TDP (docs/goodput.md gives the derivation):
constexpr double kActiveShare = 0.15;  // clocks and leakage while any kernel runs: an estimate, no vendor states it
constexpr double kMemoryShare = 0.35;  // full memory traffic, where the file names no hbm_power_ratio: 4 pJ a bit in
                                       // HBM (O'Connor et al., MICRO 2017), as much again to bring it to the lanes
constexpr double kLinkShare = 0.2;  // full traffic of all links: 0.05 for their lanes, the rest for the memory that is
                                    // read twice and written once for each byte sent
// Arithmetic draws the rest, so that a kernel which computes all the time and keeps half of the memory's bandwidth
// reaches the TDP: large matmuls are limited by it.
double ArithmeticShare(const Power& power) { return 1 - kActiveShare - power.memory_share / 2; }

}  // namespace

std::optional<Power> PowerOf(const hardware::Device& device) {
  if (!device.tdp_w) return std::nullopt;
  const double idle = std::min(device.idle_w.value_or(kIdleShare * *device.tdp_w), *device.tdp_w);
  return Power{.idle_w = idle,
               .range_w = *device.tdp_w - idle,
               .memory_share = device.hbm_power_ratio.value_or(kMemoryShare),
               .link_share = kLinkShare};
}

double EnergyOf(const Power& power, const graph::Estimate& estimate) {
  double arithmetic = 0;
  double traffic = 0;
  for (const graph::Term& term : estimate.terms) {
    if (term.name == graph::kComputeTerm) arithmetic += term.time.seconds();
    if (term.name == graph::kMemoryTerm) traffic += term.time.seconds();
  }
  const double seconds = estimate.time.seconds();
  const double busy =
      kActiveShare * seconds + ArithmeticShare(power) * std::min(arithmetic, seconds) + power.memory_share * traffic;
  return power.idle_w * seconds + power.range_w * std::min(seconds, busy);
}

std::optional<report::PowerFigures> PowerFiguresOf(const hardware::Device& device, const graph::EstimateTable& table) {
  const auto power = PowerOf(device);
  if (!power) return std::nullopt;
  report::PowerFigures out{.idle_w = power->idle_w,
                           .link_w = power->range_w * power->link_share,
                           .most_w = power->idle_w + power->range_w,
                           .of_structure = {}};
  for (const graph::Estimate& estimate : table.unique) {
    const double seconds = estimate.time.seconds();
    out.of_structure.push_back(seconds > 0 ? EnergyOf(*power, estimate) / seconds : power->idle_w);
  }
  return out;
}

double StepEnergy(const Power& power, double compute_j, const result::RunResult& result) {
  const double waiting = std::max(0.0, result.step_time.seconds() - result.compute_time.seconds());
  return compute_j + power.idle_w * waiting + power.range_w * power.link_share * result.communication_time.seconds();
}

}  // namespace hespas::driver
