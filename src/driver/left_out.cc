#include "driver/left_out.h"

#include <algorithm>
#include <memory>
#include <random>

#include "driver/measured_tables.h"
#include "driver/step_times.h"
#include "estimate/calibrated/fit.h"
#include "estimate/calibrated/machine.h"
#include "estimate/calibrated/shared_fit.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

namespace calibrated = estimate::calibrated;

constexpr const char* kZeroShot = "zero-shot";
constexpr const char* kCalibrated = "calibrated";
constexpr size_t kDrawn = 24;
constexpr unsigned kDraws = 4;

bool Wanted(const std::string& wanted, std::string_view set) { return wanted.empty() || wanted == set; }

using DeviceModels = std::map<std::string, DeviceModel>;

// Shared constants of each device from the kernels of all others.
std::optional<DeviceModels> ZeroShotModels(Progress* progress, Diagnostics& diagnostics) {
  const auto measured = MeasuredKernels("kernels.csv.gz", diagnostics);
  const auto& parameters = calibrated::DefaultParameters();
  if (!measured || !parameters) return std::nullopt;
  DeviceModels models;
  if (progress != nullptr) progress->Begin("fit without a device", measured->size());
  for (const calibrated::DeviceKernels& left : *measured) {
    if (progress != nullptr) progress->Done(models.size());
    std::vector<calibrated::DeviceKernels> others;
    std::copy_if(measured->begin(), measured->end(), std::back_inserter(others),
                 [&](const auto& other) { return other.device.name != left.device.name; });
    models.emplace(left.device.name,
                   DeviceModel{.figures = left.device, .parameters = calibrated::FitAllShared(*parameters, others)});
  }
  return models;
}

// Devices whose collectives were measured behind a switch: each is predicted with the mean of the others' constants.
constexpr const char* kSwitched[] = {"H100_80GB", "GB200_192GB"};

calibrated::Parameters CollectivesOfOthers(const std::string& left, const calibrated::Parameters& shared,
                                           Diagnostics& diagnostics) {
  calibrated::Parameters mean = shared;
  for (size_t op = 0; op < calibrated::kCollectiveOps; ++op) {
    calibrated::CollectiveConstants sum;
    double others = 0;
    for (const char* name : kSwitched) {
      const auto device = name == left ? std::nullopt : hardware::LoadDevice(name, diagnostics);
      if (!device) continue;
      const calibrated::CollectiveConstants own = calibrated::ForDevice(shared, *device).collectives[op];
      sum.launch_us += own.launch_us;
      sum.hop_us += own.hop_us;
      sum.link_fraction += own.link_fraction;
      sum.ramp += own.ramp;
      ++others;
    }
    mean.collectives[op].launch_us = sum.launch_us / others;
    mean.collectives[op].hop_us = sum.hop_us / others;
    mean.collectives[op].link_fraction = sum.link_fraction / others;
    mean.collectives[op].ramp = sum.ramp / others;
  }
  return mean;
}

ModelOf WithoutOwn(Diagnostics& diagnostics) {
  return [&diagnostics](const std::string& preset) -> std::optional<DeviceModel> {
    const auto device = hardware::LoadDevice(preset, diagnostics);
    const auto& parameters = calibrated::DefaultParameters();
    if (!device || !parameters) return std::nullopt;
    return DeviceModel{.figures = WithoutOwnConstants(*device),
                       .parameters = CollectivesOfOthers(preset, *parameters, diagnostics)};
  };
}

template <class Row>
void Shuffle(std::vector<Row>& rows, unsigned seed) {
  std::mt19937 random(seed);
  for (size_t i = rows.size(); i > 1; --i) std::swap(rows[i - 1], rows[random() % i]);
}

// Drawn rows first.
template <class Row, class Key>
std::map<Key, std::vector<Row>> Drawn(const std::vector<Row>& rows, unsigned seed, Key (*key)(const Row&)) {
  std::map<Key, std::vector<Row>> parts;
  for (const Row& row : rows) parts[key(row)].push_back(row);
  for (auto& [name, part] : parts) Shuffle(part, seed);
  return parts;
}

using Family = std::pair<std::string, std::string>;  // device and family

Family FamilyOfRow(const KernelRow& row) {
  return {row.device, row.set == "gemm" ? row.op : std::string(calibrated::FamilyName(FamilyOf(row.kernel)))};
}

Family OpOfRow(const CollectiveRow& row) { return {row.device, std::to_string(static_cast<int>(row.collective.op))}; }

void PutIn(hardware::Device& device, const std::vector<calibrated::FamilyFit>& fits) {
  for (const calibrated::FamilyFit& fit : fits) {
    for (const auto& [constant, value] : fit.constants) device.calibration[constant] = value;
    for (const auto& [sigma, value] : fit.sigmas) device.calibration[sigma] = value;
  }
}

// Fits what was drawn into `models` and compares the rest.
void CalibrateKernels(const std::vector<KernelRow>& rows, unsigned seed, DeviceModels& models, Groups& groups) {
  for (const auto& [family, part] : Drawn(rows, seed, FamilyOfRow)) {
    const auto model = models.find(family.first);
    if (model == models.end() || part.size() <= kDrawn) continue;
    std::vector<calibrated::MeasuredKernel> drawn;
    for (size_t i = 0; i < kDrawn; ++i) drawn.push_back({.kernel = part[i].kernel, .us = part[i].us});
    const auto fits = calibrated::FitDevice(model->second.figures, model->second.parameters, drawn, {});
    if (!fits) continue;  // a family without constants of a device's own
    PutIn(model->second.figures, *fits);
    const calibrated::KernelModel fitted(model->second.figures, model->second.parameters);
    for (size_t i = kDrawn; i < part.size(); ++i) {
      groups[{part[i].set, kCalibrated, part[i].device, part[i].op}].push_back(Compare(part[i], fitted));
    }
  }
}

void CalibrateCollectives(const std::vector<CollectiveRow>& rows, unsigned seed, const ModelOf& model_of,
                          Groups& groups) {
  for (const auto& [op, part] : Drawn(rows, seed, OpOfRow)) {
    auto model = model_of(op.first);
    if (!model || part.size() <= kDrawn) continue;
    std::vector<calibrated::MeasuredCollective> drawn;
    for (size_t i = 0; i < kDrawn; ++i) drawn.push_back({.collective = part[i].collective, .us = part[i].us});
    const auto fits = calibrated::FitDevice(model->figures, model->parameters, {}, drawn);
    if (!fits) continue;
    PutIn(model->figures, *fits);
    const calibrated::CollectiveModel fitted(model->figures, model->parameters);
    for (size_t i = kDrawn; i < part.size(); ++i) {
      groups[{"collectives", kCalibrated, part[i].device, part[i].size}].push_back(Compare(part[i], fitted));
    }
  }
}

ModelOf Among(const DeviceModels& models) {
  return [&models](const std::string& preset) -> std::optional<DeviceModel> {
    const auto found = models.find(preset);
    return found == models.end() ? std::nullopt : std::optional(found->second);
  };
}

// The test split's rows of a device, or all where it has none.
std::vector<KernelRow> TestRows(const std::vector<KernelRow>& rows) {
  std::map<std::string, bool> tested;
  for (const KernelRow& row : rows) tested[row.device] |= row.set == "kernels";
  std::vector<KernelRow> chosen;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(chosen),
               [&](const KernelRow& row) { return !tested[row.device] || row.set == "kernels"; });
  return chosen;
}

bool AddZeroShot(Groups& groups, const std::string& set, const DeviceModels& models,
                 const std::vector<KernelRow>& kernels, Diagnostics& diagnostics) {
  if (Wanted(set, "kernels")) AddRows(groups, kZeroShot, kernels, Among(models));
  if (Wanted(set, "models") && !AddModels(groups, kZeroShot, Among(models), diagnostics)) return false;
  if (Wanted(set, "collectives")) {
    const auto rows = ReadCollectiveRows(diagnostics);
    if (!rows) return false;
    AddRows(groups, kZeroShot, *rows, WithoutOwn(diagnostics));
  }
  return !Wanted(set, "step-times") || AddStepTimesLeftOut(groups, diagnostics);
}

bool AddCalibrated(Groups& groups, const std::string& set, const DeviceModels& zero_shot,
                   const std::vector<KernelRow>& kernels, Diagnostics& diagnostics) {
  const auto gemms = Wanted(set, "gemm") ? ReadGemmRows(diagnostics) : std::nullopt;
  const auto collectives = Wanted(set, "collectives") ? ReadCollectiveRows(diagnostics) : std::nullopt;
  if (diagnostics.has_errors()) return false;
  const ModelOf without_own = WithoutOwn(diagnostics);
  Groups unwanted;
  for (unsigned seed = 1; seed <= kDraws; ++seed) {
    if (!zero_shot.empty()) {
      DeviceModels models = zero_shot;
      CalibrateKernels(TestRows(kernels), seed, models, Wanted(set, "kernels") ? groups : unwanted);
      if (Wanted(set, "models") && !AddModels(groups, kCalibrated, Among(models), diagnostics)) return false;
    }
    if (gemms) {
      DeviceModels models;
      for (const KernelRow& row : *gemms) {
        if (models.contains(row.device)) continue;
        if (auto model = without_own(row.device)) models.emplace(row.device, *std::move(model));
      }
      CalibrateKernels(*gemms, seed, models, groups);
    }
    if (collectives) CalibrateCollectives(*collectives, seed, without_own, groups);
  }
  return true;
}

}  // namespace

bool AddLeftOut(Groups& groups, const ValidateOptions& options, Diagnostics& diagnostics) {
  const std::string& set = options.set;
  DeviceModels models;
  std::vector<KernelRow> kernels;
  if (Wanted(set, "kernels") || Wanted(set, "models")) {
    auto zero_shot = ZeroShotModels(options.progress, diagnostics);
    auto rows = ReadKernelRows(diagnostics);
    if (!zero_shot || !rows) return false;
    models = *std::move(zero_shot);
    kernels = *std::move(rows);
  }
  return AddZeroShot(groups, set, models, kernels, diagnostics) &&
         AddCalibrated(groups, set, models, kernels, diagnostics);
}

}  // namespace hespas::driver
