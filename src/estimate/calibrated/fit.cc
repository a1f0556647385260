#include "estimate/calibrated/fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "estimate/calibrated/minimise.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr size_t kFewest = 8;
constexpr size_t kFolds = 6;
constexpr double kPull = 0.004;      // of a constant towards its shared value, per squared e-fold
constexpr double kSmoothing = 0.01;  // relative errors below this count quadratically

// A constant of the device file and the range it may take.
struct Knob {
  std::string_view key;
  double low;
  double high;
};

// Constants that come in steps are tried one by one.
struct Steps {
  std::string_view key;  // empty: none
  std::vector<double> values;
};

struct FamilyKnobs {
  std::string_view family;
  std::vector<Knob> knobs;
  Steps steps;
};

const FamilyKnobs kKernelFamilies[] = {
    {"gemm",
     {{"launch_us", 0.5, 30}, {"sm_fraction", 0.3, 2.5}, {"l2_bytes_per_clock", 4, 300}},
     {"split_limit", {8, 24, 96, 400}}},
    {"linear", {{"sustained_fraction", 0.3, 1.4}, {"memory_fraction", 0.2, 1.1}, {"pj_per_flop", 1, 60}}, {}},
    {"bmm",
     {{"sustained_fraction", 0.3, 1.4}, {"memory_fraction", 0.2, 1.1}, {"pj_per_flop", 1, 60}},
     {"smallest_tile", {32, 64, 128}}},
    {"elementwise", {{"launch_us", 0.5, 30}, {"memory_fraction", 0.3, 1.1}, {"l2_bytes_per_clock", 4, 120}}, {}},
};
const std::vector<Knob> kCollectiveKnobs = {
    {"launch_us", 0.1, 100}, {"hop_us", 0.01, 30}, {"link_fraction", 0.2, 1.1}, {"ramp", 0.01, 3}};
constexpr std::string_view kCollectiveNames[kCollectiveOps] = {"all-reduce", "all-gather", "reduce-scatter",
                                                               "all-to-all", "collective-permute"};

std::string Key(std::string_view family, std::string_view name) { return fmt::format("{}.{}", family, name); }

// One family's measurements, whatever they measure.
struct Problem {
  FamilyKnobs knobs;
  std::vector<double> start;
  std::vector<double> measured;
  // The times of the chosen measurements on a device.
  std::function<std::vector<double>(const hardware::Device&, const std::vector<size_t>&)> predict;
};

hardware::Device With(const hardware::Device& device, const FamilyKnobs& family, const std::vector<double>& logs,
                      std::optional<double> step) {
  hardware::Device changed = device;
  for (size_t i = 0; i < family.knobs.size(); ++i) {
    changed.calibration[Key(family.family, family.knobs[i].key)] = std::exp(logs[i]);
  }
  if (step) changed.calibration[Key(family.family, family.steps.key)] = *step;
  return changed;
}

double MeanError(const Problem& problem, const hardware::Device& device, const std::vector<size_t>& chosen) {
  const auto times = problem.predict(device, chosen);
  double sum = 0;
  for (size_t i = 0; i < chosen.size(); ++i) sum += std::abs(times[i] / problem.measured[chosen[i]] - 1);
  return sum / static_cast<double>(chosen.size());
}

double Objective(const Problem& problem, const hardware::Device& device, const std::vector<size_t>& chosen,
                 const std::vector<double>& logs) {
  const auto times = problem.predict(device, chosen);
  double sum = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    sum += std::hypot(std::log(times[i] / problem.measured[chosen[i]]), kSmoothing);
  }
  double pull = 0;
  for (size_t i = 0; i < logs.size(); ++i) pull += std::pow(logs[i] - problem.start[i], 2);
  return sum / static_cast<double>(chosen.size()) + kPull * pull;
}

struct Fitted {
  hardware::Device device;
  double value = 0;
};

Fitted FitStep(const Problem& problem, const hardware::Device& base, const std::vector<size_t>& chosen,
               std::optional<double> step) {
  Box box;
  for (const Knob& knob : problem.knobs.knobs) {
    box.low.push_back(std::log(knob.low));
    box.high.push_back(std::log(knob.high));
  }
  const auto objective = [&](const std::vector<double>& logs) {
    return Objective(problem, With(base, problem.knobs, logs, step), chosen, logs);
  };
  std::optional<Minimum> best;
  for (const double shift : {0.0, -0.6, 0.4}) {  // the shared values, and two other basins
    std::vector<double> start = problem.start;
    for (size_t i = 0; i < start.size(); ++i) start[i] = std::clamp(start[i] + shift, box.low[i], box.high[i]);
    const Minimum minimum = Minimise(objective, box, start);
    if (!best || minimum.value < best->value) best = minimum;
  }
  return {.device = With(base, problem.knobs, best->at, step), .value = best->value};
}

Fitted FitChosen(const Problem& problem, const hardware::Device& base, const std::vector<size_t>& chosen) {
  if (problem.knobs.steps.key.empty()) return FitStep(problem, base, chosen, std::nullopt);
  std::optional<Fitted> best;
  for (const double step : problem.knobs.steps.values) {
    Fitted fitted = FitStep(problem, base, chosen, step);
    if (!best || fitted.value < best->value) best = std::move(fitted);
  }
  return *std::move(best);
}

// Errors of each measurement by a fit that did not see it.
std::vector<double> CrossValidate(const Problem& problem, const hardware::Device& base) {
  std::vector<double> errors;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<size_t> seen;
    std::vector<size_t> unseen;
    for (size_t i = 0; i < problem.measured.size(); ++i) (i % kFolds == fold ? unseen : seen).push_back(i);
    if (unseen.empty()) continue;
    const Fitted fitted = FitChosen(problem, base, seen);
    const auto times = problem.predict(fitted.device, unseen);
    for (size_t i = 0; i < unseen.size(); ++i) errors.push_back(std::abs(times[i] / problem.measured[unseen[i]] - 1));
  }
  return errors;
}

FamilyFit Solve(const Problem& problem, const hardware::Device& base) {
  std::vector<size_t> all(problem.measured.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const Fitted fitted = FitChosen(problem, base, all);
  FamilyFit fit{.family = std::string(problem.knobs.family), .measurements = all.size()};
  for (const Knob& knob : problem.knobs.knobs) {
    const std::string key = Key(fit.family, knob.key);
    fit.constants[key] = fitted.device.calibration.at(key);
  }
  if (!problem.knobs.steps.key.empty()) {
    const std::string key = Key(fit.family, problem.knobs.steps.key);
    fit.constants[key] = fitted.device.calibration.at(key);
  }
  fit.error_before = MeanError(problem, base, all);
  fit.error_after = MeanError(problem, fitted.device, all);
  std::vector<double> errors = CrossValidate(problem, base);
  for (const double error : errors) fit.error_cross_validated += error / static_cast<double>(errors.size());
  std::sort(errors.begin(), errors.end());
  fit.sigma = errors[std::min(errors.size() - 1, errors.size() * 2 / 3)];
  return fit;
}

// The family's constants as the device has them now, as logarithms.
std::vector<double> StartOf(const FamilyKnobs& family, const std::vector<double>& values) {
  std::vector<double> logs;
  for (size_t i = 0; i < family.knobs.size(); ++i) {
    logs.push_back(std::log(std::clamp(values[i], family.knobs[i].low, family.knobs[i].high)));
  }
  return logs;
}

std::vector<double> CurrentValues(const Parameters& own, const Machine& machine, std::string_view family) {
  if (family == "gemm") return {own.gemm.launch_us, own.gemm.sm_fraction, own.gemm.l2_bytes_per_clock};
  if (family == "elementwise") {
    return {own.memory.launch_us, machine.gddr ? own.memory.gddr_fraction : own.memory.hbm_fraction,
            own.memory.l2_bytes_per_clock};
  }
  const LaneConstants& lanes = family == "bmm" ? own.batched : own.linear;
  return {lanes.sustained_fraction, lanes.memory_fraction, lanes.pj_per_flop};
}

std::optional<Problem> KernelProblem(const FamilyKnobs& family, const hardware::Device& device,
                                     const Parameters& parameters, const std::vector<MeasuredKernel>& kernels) {
  const Machine machine = MakeMachine(device);
  std::vector<KernelSpec> specs;
  Problem problem{.knobs = family};
  for (const MeasuredKernel& kernel : kernels) {
    if (!(kernel.us > 0) || FamilyOnMachine(kernel.kernel, machine) != family.family) continue;
    specs.push_back(kernel.kernel);
    problem.measured.push_back(kernel.us);
  }
  if (specs.empty()) return std::nullopt;
  problem.start = StartOf(family, CurrentValues(ForDevice(parameters, device), machine, family.family));
  problem.predict = [specs = std::move(specs), &parameters](const hardware::Device& changed,
                                                            const std::vector<size_t>& chosen) {
    const KernelModel model(changed, parameters);
    std::vector<double> times;
    times.reserve(chosen.size());
    for (const size_t i : chosen) times.push_back(model.Time(specs[i]).us);
    return times;
  };
  return problem;
}

std::optional<Problem> CollectiveProblem(size_t op, const hardware::Device& device, const Parameters& parameters,
                                         const std::vector<MeasuredCollective>& collectives) {
  std::vector<CollectiveSpec> specs;
  Problem problem{.knobs = {.family = kCollectiveNames[op], .knobs = kCollectiveKnobs, .steps = {}}};
  for (const MeasuredCollective& measured : collectives) {
    if (!(measured.us > 0) || static_cast<size_t>(measured.collective.op) != op || measured.collective.ranks < 2)
      continue;
    specs.push_back(measured.collective);
    problem.measured.push_back(measured.us);
  }
  if (specs.empty()) return std::nullopt;
  const CollectiveConstants own = ForDevice(parameters, device).collectives[op];
  problem.start = StartOf(problem.knobs, {own.launch_us, own.hop_us, own.link_fraction, own.ramp});
  problem.predict = [specs = std::move(specs), &parameters](const hardware::Device& changed,
                                                            const std::vector<size_t>& chosen) {
    const CollectiveModel model(changed, parameters);
    std::vector<double> times;
    times.reserve(chosen.size());
    for (const size_t i : chosen) times.push_back(model.Time(specs[i]).us);
    return times;
  };
  return problem;
}

}  // namespace

Result<std::vector<FamilyFit>> FitDevice(const hardware::Device& device, const Parameters& parameters,
                                         const std::vector<MeasuredKernel>& kernels,
                                         const std::vector<MeasuredCollective>& collectives) {
  if (!HasOptimiser()) return MakeError(kNoOptimiser, "this build cannot fit constants");
  std::vector<std::optional<Problem>> problems;
  for (const FamilyKnobs& family : kKernelFamilies) {
    problems.push_back(KernelProblem(family, device, parameters, kernels));
  }
  for (size_t op = 0; op < kCollectiveOps; ++op) {
    problems.push_back(CollectiveProblem(op, device, parameters, collectives));
  }
  std::vector<FamilyFit> fits;
  std::string few;
  for (const auto& problem : problems) {
    if (!problem) continue;
    if (problem->measured.size() < kFewest) {
      few += fmt::format("{}{} of `{}`", few.empty() ? "" : ", ", problem->measured.size(), problem->knobs.family);
      continue;
    }
    fits.push_back(Solve(*problem, device));
  }
  if (!fits.empty()) return fits;
  return MakeError(kTooFewMeasurements, few.empty() ? "no kernel that the model can fit" : "only " + few);
}

}  // namespace hespas::estimate::calibrated
