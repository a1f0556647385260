#include "estimate/calibrated/fit/fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "estimate/calibrated/fit/minimise.h"
#include "estimate/calibrated/fit/ranges.h"
#include "estimate/calibrated/fit/sigma_fit.h"

namespace hespas::estimate::calibrated {
namespace {

constexpr size_t kFewest = 8;
constexpr size_t kFolds = 6;
constexpr double kFar = 3;  // spreads from which a constant's distance counts no longer by its square

// A constant of the device file, the range it may take, and how far devices lie apart in it (logarithm, one sigma):
// lanes keep to their datasheet's peak within a few percent, launches and fabrics differ widely.
struct FitParameter {
  std::string_view key;
  double low;
  double high;
  double spread;
};

// Constants that come in steps are tried one by one.
struct Steps {
  std::string_view key;  // empty: none
  std::vector<double> values;
  double cost = 0;  // log-likelihood that a step away from the device's own must gain
};

struct FamilyParameters {
  std::string_view family;
  std::vector<FitParameter> free_parameters;
  Steps steps;
};

const std::vector<FitParameter> kGemmParameters = {
    {"launch_us", 0.5, 30, 0.5}, {"sm_fraction", 0.3, 2.5, 0.5}, {"l2_bytes_per_clock", 4, 300, 0.5}};
const Steps kGemmSteps = {"split_limit", {8, 24, 96, 400}, 0};
const FamilyParameters kKernelFamilies[] = {
    {"gemm", kGemmParameters, kGemmSteps},
    {"tf32", kGemmParameters, kGemmSteps},  // the library's kernels for TF32 are others
    {"linear",
     {{"sustained_fraction", 0.3, 1.4, 0.03}, {"memory_fraction", 0.2, 1.1, 0.15}, {"pj_per_flop", 1, 60, 0.05}},
     {}},
    {"bmm",
     {{"sustained_fraction", 0.3, 1.4, 0.03}, {"memory_fraction", 0.2, 1.1, 0.15}, {"pj_per_flop", 1, 60, 0.05}},
     {"smallest_tile", {32, 64, 128}, 3}},
    {"elementwise",
     {{"launch_us", 0.5, 30, 0.5}, {"memory_fraction", 0.3, 1.1, 0.15}, {"l2_bytes_per_clock", 4, 120, 0.5}},
     {}},
};
const std::vector<FitParameter> kCollectiveParameters = {
    {"launch_us", 0.1, 100, 0.5}, {"hop_us", 0.01, 30, 0.5}, {"link_fraction", 0.2, 1.1, 0.5}, {"ramp", 0.01, 3, 0.5}};
constexpr std::string_view kCollectiveNames[kCollectiveOps] = {"all-reduce", "all-gather", "reduce-scatter",
                                                               "all-to-all", "collective-permute"};

std::string Key(std::string_view family, std::string_view name) { return fmt::format("{}.{}", family, name); }

struct Predicted {
  double us = 0;
  SigmaParts sigma = {};  // relative
};

// One family's measurements, whatever they measure.
struct Problem {
  FamilyParameters family;
  std::vector<double> start;
  double step = 0;  // the device's own, of constants that come in steps
  std::vector<double> measured;
  std::vector<std::pair<std::string, double>> sigmas;  // of each part: calibration key, and as the device has it now
  // The chosen measurements on a device.
  std::function<std::vector<Predicted>(const hardware::Device&, const std::vector<size_t>&)> predict;
};

hardware::Device With(const hardware::Device& device, const FamilyParameters& family, const std::vector<double>& logs,
                      std::optional<double> step) {
  hardware::Device changed = device;
  for (size_t i = 0; i < family.free_parameters.size(); ++i) {
    changed.calibration[Key(family.family, family.free_parameters[i].key)] = std::exp(logs[i]);
  }
  if (step) changed.calibration[Key(family.family, family.steps.key)] = *step;
  return changed;
}

double MeanError(const Problem& problem, const hardware::Device& device, const std::vector<size_t>& chosen) {
  const auto times = problem.predict(device, chosen);
  double sum = 0;
  for (size_t i = 0; i < chosen.size(); ++i) sum += std::abs(times[i].us / problem.measured[chosen[i]] - 1);
  return sum / static_cast<double>(chosen.size());
}

// Minus the logarithm of a constant's prior density at `distance` spreads from the shared value: normal, with tails
// that let a device be quite different where its measurements say so.
double Unlikely(double distance) {
  const double far = std::abs(distance);
  return far < kFar ? far * far / 2 : kFar * far - kFar * kFar / 2;
}

// Minus the logarithm of the posterior density a measurement: errors are Laplace's with a scale of their own.
double Objective(const Problem& problem, const hardware::Device& device, const std::vector<size_t>& chosen,
                 const std::vector<double>& logs) {
  const auto times = problem.predict(device, chosen);
  double sum = 0;
  for (size_t i = 0; i < chosen.size(); ++i) {
    sum += SmoothError(times[i].us / problem.measured[chosen[i]]);
  }
  double prior = 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    prior += Unlikely((logs[i] - problem.start[i]) / problem.family.free_parameters[i].spread);
  }
  const auto count = static_cast<double>(chosen.size());
  return std::log(sum / count) + prior / count;
}

struct Fitted {
  hardware::Device device;
  double value = 0;
};

Fitted FitStep(const Problem& problem, const hardware::Device& base, const std::vector<size_t>& chosen,
               std::optional<double> step) {
  Box box;
  for (const FitParameter& free_parameter : problem.family.free_parameters) {
    box.low.push_back(std::log(free_parameter.low));
    box.high.push_back(std::log(free_parameter.high));
  }
  const auto objective = [&](const std::vector<double>& logs) {
    return Objective(problem, With(base, problem.family, logs, step), chosen, logs);
  };
  std::optional<Minimum> best;
  for (const double shift : {0.0, -0.6, 0.4}) {  // the shared values, and two other basins
    std::vector<double> start = problem.start;
    for (size_t i = 0; i < start.size(); ++i) start[i] = std::clamp(start[i] + shift, box.low[i], box.high[i]);
    const Minimum minimum = Minimise(objective, box, start);
    if (!best || minimum.value < best->value) best = minimum;
  }
  return {.device = With(base, problem.family, best->at, step), .value = best->value};
}

Fitted FitChosen(const Problem& problem, const hardware::Device& base, const std::vector<size_t>& chosen) {
  if (problem.family.steps.key.empty()) return FitStep(problem, base, chosen, std::nullopt);
  Fitted best = FitStep(problem, base, chosen, problem.step);
  best.value -= problem.family.steps.cost / static_cast<double>(chosen.size());
  for (const double step : problem.family.steps.values) {
    Fitted fitted = FitStep(problem, base, chosen, step);
    if (fitted.value < best.value) best = std::move(fitted);
  }
  return best;
}

std::vector<Residual> Residuals(const Problem& problem, const hardware::Device& device,
                                const std::vector<size_t>& chosen) {
  const auto times = problem.predict(device, chosen);
  std::vector<Residual> residuals;
  for (size_t i = 0; i < chosen.size(); ++i) {
    residuals.push_back({.error = std::abs(1 - problem.measured[chosen[i]] / times[i].us), .sigma = times[i].sigma});
  }
  return residuals;
}

struct Unseen {
  std::vector<Residual> residuals;
  double mean_error = 0;  // of the measured times
};

Unseen CrossValidate(const Problem& problem, const hardware::Device& base) {
  Unseen all;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    std::vector<size_t> seen;
    std::vector<size_t> unseen;
    for (size_t i = 0; i < problem.measured.size(); ++i) (i % kFolds == fold ? unseen : seen).push_back(i);
    if (unseen.empty()) continue;
    const Fitted fitted = FitChosen(problem, base, seen);
    const auto residuals = Residuals(problem, fitted.device, unseen);
    all.residuals.insert(all.residuals.end(), residuals.begin(), residuals.end());
    all.mean_error += MeanError(problem, fitted.device, unseen) * static_cast<double>(unseen.size());
  }
  all.mean_error /= static_cast<double>(problem.measured.size());
  return all;
}

FamilyFit Solve(const Problem& problem, const hardware::Device& base) {
  std::vector<size_t> all(problem.measured.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = i;
  const Fitted fitted = FitChosen(problem, base, all);
  FamilyFit fit{.family = std::string(problem.family.family), .measurements = all.size()};
  for (const FitParameter& free_parameter : problem.family.free_parameters) {
    const std::string key = Key(fit.family, free_parameter.key);
    fit.constants[key] = fitted.device.calibration.at(key);
  }
  if (!problem.family.steps.key.empty()) {
    const std::string key = Key(fit.family, problem.family.steps.key);
    fit.constants[key] = fitted.device.calibration.at(key);
  }
  fit.error_before = MeanError(problem, base, all);
  fit.error_after = MeanError(problem, fitted.device, all);
  const Unseen unseen = CrossValidate(problem, base);
  fit.error_cross_validated = unseen.mean_error;
  const auto scales = SigmaScales(Residuals(problem, fitted.device, all), unseen.residuals);
  for (size_t part = 0; part < problem.sigmas.size(); ++part) {
    fit.sigmas[problem.sigmas[part].first] = problem.sigmas[part].second * scales[part];
  }
  return fit;
}

// The family's constants as the device has them now, as logarithms.
std::vector<double> StartOf(const FamilyParameters& family, const std::vector<double>& values) {
  std::vector<double> logs;
  for (size_t i = 0; i < family.free_parameters.size(); ++i) {
    logs.push_back(std::log(std::clamp(values[i], family.free_parameters[i].low, family.free_parameters[i].high)));
  }
  return logs;
}

std::vector<double> CurrentValues(const Parameters& own, const Machine& machine, std::string_view family) {
  if (family == "gemm" || family == "tf32") {
    const GemmConstants& gemm = family == "gemm" ? own.gemm : own.tf32;
    return {gemm.launch_us, gemm.sm_fraction, gemm.l2_bytes_per_clock};
  }
  if (family == "elementwise") {
    return {own.memory.launch_us, SustainedMemoryRate(machine, own.memory) / machine.memory_rate,
            own.memory.l2_bytes_per_clock};
  }
  const LaneConstants& lanes = family == "bmm" ? own.batched : own.linear;
  return {lanes.sustained_fraction, lanes.memory_fraction, lanes.pj_per_flop};
}

double CurrentStep(const Parameters& own, std::string_view family) {
  if (family == "bmm") return own.batched.smallest_tile;
  return family == "gemm" ? own.gemm.split_limit : own.tf32.split_limit;
}

SigmaParts RelativeSigmas(const KernelTime& time) { return {time.sigma_us / time.us, 0, 0}; }

SigmaParts RelativeSigmas(const CollectiveTime& time) {
  return {time.wire_sigma_us / time.us, time.latency_sigma_us / time.us, time.ramp_sigma_us / time.us};
}

// Whose constants a measured kernel tells.
std::string_view FittedFamily(const KernelSpec& kernel, const Machine& machine) {
  const std::string_view family = FamilyOnMachine(kernel, machine);
  return family == FamilyName(Family::kGemm) && kernel.type == Datatype::kTf32 ? "tf32" : family;
}

template <class Model, class Spec>
std::vector<Predicted> PredictAll(const Model& model, const std::vector<Spec>& specs,
                                  const std::vector<size_t>& chosen) {
  std::vector<Predicted> all;
  all.reserve(chosen.size());
  for (const size_t i : chosen) {
    const auto time = model.Time(specs[i]);
    all.push_back({.us = time.us, .sigma = RelativeSigmas(time)});
  }
  return all;
}

std::optional<Problem> KernelProblem(const FamilyParameters& family, const hardware::Device& device,
                                     const Parameters& parameters, const std::vector<MeasuredKernel>& kernels) {
  const Machine machine = MakeMachine(device);
  std::vector<KernelSpec> specs;
  Problem problem{.family = family};
  for (const MeasuredKernel& kernel : kernels) {
    if (!(kernel.us > 0) || FittedFamily(kernel.kernel, machine) != family.family) continue;
    specs.push_back(kernel.kernel);
    problem.measured.push_back(kernel.us);
  }
  if (specs.empty()) return std::nullopt;
  const Parameters own = ForDevice(parameters, device);
  problem.start = StartOf(family, CurrentValues(own, machine, family.family));
  problem.step = CurrentStep(own, family.family);
  problem.sigmas = {{Key(family.family, "sigma"), KernelModel(device, parameters).FamilySigma(specs.front())}};
  problem.predict = [specs = std::move(specs), &parameters](const hardware::Device& changed,
                                                            const std::vector<size_t>& chosen) {
    const KernelModel model(changed, parameters);
    return PredictAll(model, specs, chosen);
  };
  return problem;
}

std::optional<Problem> CollectiveProblem(size_t op, const hardware::Device& device, const Parameters& parameters,
                                         const std::vector<MeasuredCollective>& collectives) {
  std::vector<CollectiveSpec> specs;
  Problem problem{.family = {.family = kCollectiveNames[op], .free_parameters = kCollectiveParameters, .steps = {}}};
  for (const MeasuredCollective& measured : collectives) {
    if (!(measured.us > 0) || static_cast<size_t>(measured.collective.op) != op || measured.collective.ranks < 2)
      continue;
    specs.push_back(measured.collective);
    problem.measured.push_back(measured.us);
  }
  if (specs.empty()) return std::nullopt;
  const Parameters all = ForDevice(parameters, device);
  const CollectiveConstants& own = all.collectives[op];
  problem.start = StartOf(problem.family, {own.launch_us, own.hop_us, own.link_fraction, own.ramp});
  problem.sigmas = {{Key(problem.family.family, "sigma"), all.collective_sigma[op]},
                    {Key(problem.family.family, "latency_sigma"), all.collective_latency_sigma[op]},
                    {Key(problem.family.family, "ramp_sigma"), all.collective_ramp_sigma[op]}};
  problem.predict = [specs = std::move(specs), &parameters](const hardware::Device& changed,
                                                            const std::vector<size_t>& chosen) {
    const CollectiveModel model(changed, parameters);
    return PredictAll(model, specs, chosen);
  };
  return problem;
}

}  // namespace

Result<std::vector<FamilyFit>> FitDevice(const hardware::Device& device, const Parameters& parameters,
                                         const std::vector<MeasuredKernel>& kernels,
                                         const std::vector<MeasuredCollective>& collectives) {
  if (!HasOptimiser()) return MakeError(kNoOptimiser, "this build cannot fit constants");
  std::vector<std::optional<Problem>> problems;
  for (const FamilyParameters& family : kKernelFamilies) {
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
      few += fmt::format("{}{} of `{}`", few.empty() ? "" : ", ", problem->measured.size(), problem->family.family);
      continue;
    }
    // A device that states its sigma: what follows from its residuals replaces what is guessed from its power.
    hardware::Device stated = device;
    stated.calibration.insert(problem->sigmas.begin(), problem->sigmas.end());
    fits.push_back(Solve(*problem, stated));
  }
  if (!fits.empty()) return fits;
  return MakeError(kTooFewMeasurements, few.empty() ? "no kernel that the model can fit" : "only " + few);
}

}  // namespace hespas::estimate::calibrated
