#include "goodput/power/node_power.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hespas::goodput {
namespace {

constexpr double kProcessors = 2;
constexpr double kLeastClock = 0.1;  // of the maximum: what drivers let a clock fall to

// Power of logic at a clock, over that at the maximum.
double LogicPower(double clock, double floor) { return clock * std::pow(std::max(clock, floor), 2); }

}  // namespace

double NodePower(const Settings& settings, double device_w) {
  const double devices = settings[Setting::kDevicesPerNode];
  const double parts = devices * (device_w + settings[Setting::kNicPower] + settings[Setting::kSwitchPower]) +
                       kProcessors * settings[Setting::kCpuPower] * settings[Setting::kCpuLoad] +
                       settings[Setting::kMemoryPower] + settings[Setting::kOtherPower];
  return parts / (1 - settings[Setting::kFanFraction]) / settings[Setting::kSupplyEfficiency];
}

Result<Capped> UnderCap(const DeviceLoad& load, double cap_w, double voltage_floor) {
  if (!(load.tdp_w > 0))
    return MakeError(kBadPowerCap, "the device file has no TDP", {}, "add `tdp`, or leave out --power-cap");
  if (!(cap_w > load.idle_w) || !(cap_w <= load.tdp_w))
    return MakeError(
        kBadPowerCap, fmt::format("the power cap is {:.4g} W", cap_w), {},
        fmt::format("it lies above the idle power, {:.4g} W, and up to the TDP, {:.4g} W", load.idle_w, load.tdp_w));
  if (load.watts <= cap_w) return Capped{.watts = load.watts};
  const double range = load.watts - load.idle_w;
  const auto watts = [&](double clock) { return load.idle_w + range * LogicPower(clock, voltage_floor); };
  if (watts(kLeastClock) > cap_w)
    return MakeError(kBadPowerCap, fmt::format("no clock keeps {:.4g} W", cap_w), {},
                     fmt::format("at a tenth of its clock the device draws {:.4g} W", watts(kLeastClock)));
  double low = kLeastClock;
  double high = 1;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (watts(middle) > cap_w ? high : low) = middle;
  }
  return Capped{.clock = low, .time = 1 + load.arithmetic * (1 / low - 1), .watts = watts(low)};
}

}  // namespace hespas::goodput
