#include "goodput/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "goodput/make_plan.h"

namespace hespas::goodput {
namespace {

Spread SpreadOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto count = static_cast<double>(values.size());
  const auto at = [&](double fraction) {  // nearest rank
    return values[std::min(values.size() - 1, static_cast<size_t>(fraction * count))];
  };
  Spread out{.p5 = at(0.05), .p50 = at(0.5), .p95 = at(0.95)};
  for (const double value : values) out.mean += value / count;
  for (const double value : values) out.sigma += (value - out.mean) * (value - out.mean) / count;
  out.sigma = std::sqrt(out.sigma);
  return out;
}

template <class Figure>
Spread Of(const std::vector<SimulatedRun>& runs, Figure figure) {
  std::vector<double> values;
  values.reserve(runs.size());
  for (const SimulatedRun& run : runs) values.push_back(figure(run));
  return SpreadOf(std::move(values));
}

Result<std::optional<Power>> PowerOf(const Answer& answer) {
  const double cap = answer.settings[Setting::kPowerCap];
  const DeviceLoad& load = answer.step.load;
  if (!(load.tdp_w > 0) && cap == 0) return std::optional<Power>();
  auto capped = cap > 0 ? UnderCap(load, cap, answer.settings[Setting::kVoltageFloor])
                        : Result<Capped>(Capped{.watts = load.watts});
  if (!capped) return capped.error();
  const double pause = load.idle_w + answer.settings[Setting::kIdleFraction] * (load.tdp_w - load.idle_w);
  return std::optional(Power{.device_w = capped->watts,
                             .node_w = NodePower(answer.settings, capped->watts),
                             .pause_w = NodePower(answer.settings, std::min(pause, capped->watts)),
                             .clock = capped->clock,
                             .step = capped->time});
}

// Joules at the grid: all nodes train or pause together; spare ones pause all the time.
double EnergyOf(const Answer& answer, const SimulatedRun& run) {
  const auto nodes = static_cast<double>(answer.plan.pool.nodes);
  const auto spares = static_cast<double>(answer.plan.pool.spares);
  const double training = run.seconds.training();
  const double pausing = run.seconds.wall() - training;
  const double watts = nodes * (answer.power->node_w * training + answer.power->pause_w * pausing) +
                       spares * answer.power->pause_w * run.seconds.wall();
  return watts * answer.settings[Setting::kPue];
}

void AddWaterfall(const std::vector<SimulatedRun>& runs, Answer& out) {
  const auto mean = [&](auto figure) {
    double sum = 0;
    for (const SimulatedRun& run : runs) sum += figure(run);
    return sum / static_cast<double>(runs.size());
  };
  const double work = mean([](const auto& r) { return r.seconds.work; });
  // What one step takes longer than predicted, in the order in which it is added.
  const double stretch = work / out.straggling / (1 + out.settings[Setting::kDataStall]);
  const double ideal = stretch / (out.power ? out.power->step : 1);
  const double stalls = work / out.straggling - stretch;
  out.waterfall = {{"training", ideal},
                   {"power cap", stretch - ideal},
                   {"data stalls", stalls},
                   {"stragglers", work - work / out.straggling},
                   {"slow nodes", mean([](const auto& r) { return r.seconds.slow; })},
                   {"missing nodes", mean([](const auto& r) { return r.seconds.shrunk; })},
                   {"evaluation", mean([](const auto& r) { return r.seconds.evaluation; })},
                   {"checkpoints", mean([](const auto& r) { return r.seconds.checkpoint; })},
                   {"lost work", mean([](const auto& r) { return r.seconds.lost; })},
                   {"detection", mean([](const auto& r) { return r.seconds.detection; })},
                   {"restart", mean([](const auto& r) { return r.seconds.restart; })},
                   {"waiting for a node", mean([](const auto& r) { return r.seconds.waiting; })},
                   {"start", mean([](const auto& r) { return r.seconds.start; })}};
}

void AddFigures(const std::vector<SimulatedRun>& runs, Answer& out) {
  const Settings& settings = out.settings;
  out.wall = Of(runs, [](const auto& r) { return r.seconds.wall(); });
  out.goodput = Of(runs, [&](const auto& r) { return out.ideal * r.work_scale / r.seconds.wall(); });
  out.tokens_per_day = Of(runs, [&](const auto& r) { return out.options.tokens / r.seconds.wall() * kDay; });
  out.failures = Of(runs, [](const auto& r) { return static_cast<double>(r.failures); });
  if (out.power) {
    out.energy = Of(runs, [&](const auto& r) { return EnergyOf(out, r); });
    out.carbon =
        Of(runs, [&](const auto& r) { return EnergyOf(out, r) / kKilowattHour * settings[Setting::kGrid] / 1000; });
  }
  const double electricity = out.energy ? settings[Setting::kElectricityPrice] : 0;
  if (out.step.price || electricity > 0) {
    const double devices =
        static_cast<double>(out.plan.pool.nodes + out.plan.pool.spares) * settings[Setting::kDevicesPerNode];
    out.cost = Of(runs, [&](const auto& r) {
      const double energy = electricity > 0 ? EnergyOf(out, r) / kKilowattHour * electricity : 0;
      return energy + (out.step.price ? CostOf(*out.step.price, devices * r.seconds.wall()) : 0);
    });
  }
  AddWaterfall(runs, out);
}

// What nobody told, and no published figure fills.
std::vector<std::string> Unknown(const Answer& answer) {
  std::vector<std::string> out;
  for (const SettingInfo& info : kSettings) {
    if (answer.settings.At(info.setting).kind == "unknown") out.emplace_back(info.name);
  }
  if (!answer.step.price) out.emplace_back("price");
  return out;
}

}  // namespace

double LargestNormal(int64_t count) {
  // Integral of the distribution of the largest: mean = integral of 1 - F^n above 0, less that of F^n below.
  constexpr double kEnd = 9;
  constexpr double kStep = 0.002;
  double mean = 0;
  for (double x = kStep / 2; x < kEnd; x += kStep) {
    const auto n = static_cast<double>(count);
    const auto power = [&](double z) { return std::pow(std::erfc(-z / std::sqrt(2.0)) / 2, n); };
    mean += kStep * (1 - power(x) - power(-x));
  }
  return mean;
}

Result<Answer> Estimate(const Step& step, const Options& options) {
  auto settings = SettingsOf(step, options);
  if (!settings) return settings.error();
  Answer out{.step = step, .options = options, .settings = *std::move(settings)};
  auto power = PowerOf(out);
  if (!power) return power.error();
  out.power = *power;
  if (Status made = MakePlan(out); !made) return made.error();
  const SimulationOptions simulation{
      .runs = options.runs, .seed = options.seed, .work_sigma = step.sigma, .rate_sigma = RateSigma(out)};
  const auto runs = Simulate(out.plan, simulation);
  if (!runs) return runs.error();
  out.closed_form = Expected(out.plan);
  AddFigures(*runs, out);
  out.unknown = Unknown(out);
  return out;
}

}  // namespace hespas::goodput
