#include "validate/held_out.h"

#include <algorithm>
#include <memory>
#include <random>

#include "estimate/calibrated/fit/fit.h"
#include "estimate/calibrated/fit/shared_fit.h"
#include "estimate/calibrated/machine.h"
#include "hardware/presets.h"
#include "validate/measured_tables.h"
#include "validate/sets/step_times.h"
#include "validate/sets/stream_collectives.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

constexpr const char* kZeroShot = "zero-shot";
constexpr const char* kCalibrated = "calibrated";
constexpr size_t kDrawn = 24;
constexpr unsigned kDraws = 4;

bool Wanted(const ValidateOptions& options, std::string_view set) { return options.set.empty() || options.set == set; }

using DeviceModels = std::map<std::string, DeviceModel>;

// Each measured device with the shared constants that `fit` finds in what was measured of all others.
template <class Measured, class Fit>
DeviceModels HeldOut(const std::vector<Measured>& measured, const Fit& fit) {
  DeviceModels models;
  for (const Measured& left : measured) {
    std::vector<Measured> others;
    std::copy_if(measured.begin(), measured.end(), std::back_inserter(others),
                 [&](const Measured& other) { return other.device.name != left.device.name; });
    models.emplace(left.device.name, DeviceModel{.figures = left.device, .parameters = fit(others)});
  }
  return models;
}

std::optional<DeviceModels> ZeroShotModels(Progress* progress, Diagnostics& diagnostics) {
  const auto measured = MeasuredKernels("kernels.csv.gz", diagnostics);
  const auto& parameters = calibrated::DefaultParameters();
  if (!measured || !parameters) return std::nullopt;
  if (progress != nullptr) progress->Begin("fit without a device", measured->size());
  size_t done = 0;
  return HeldOut(*measured, [&](const auto& others) {
    if (progress != nullptr) progress->Done(done++);
    return calibrated::FitAllShared(*parameters, others);
  });
}

std::optional<DeviceModels> UnseenCollectives(Diagnostics& diagnostics) {
  const auto measured = MeasuredCollectives("collectives.csv", diagnostics);
  const auto& parameters = calibrated::DefaultParameters();
  if (!measured || !parameters) return std::nullopt;
  return HeldOut(*measured, [&](const auto& others) { return calibrated::FitSharedCollectives(*parameters, others); });
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

void CalibrateCollectives(const std::vector<CollectiveRow>& rows, unsigned seed, const DeviceModels& models,
                          Groups& groups) {
  for (const auto& [op, part] : Drawn(rows, seed, OpOfRow)) {
    const auto unseen = models.find(op.first);
    if (unseen == models.end() || part.size() <= kDrawn) continue;
    DeviceModel model = unseen->second;
    std::vector<calibrated::MeasuredCollective> drawn;
    for (size_t i = 0; i < kDrawn; ++i) drawn.push_back({.collective = part[i].collective, .us = part[i].us});
    const auto fits = calibrated::FitDevice(model.figures, model.parameters, {}, drawn);
    if (!fits) continue;
    PutIn(model.figures, *fits);
    const calibrated::CollectiveModel fitted(model.figures, model.parameters);
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

bool AddCollectives(Groups& groups, Diagnostics& diagnostics) {
  const auto rows = ReadCollectiveRows(diagnostics);
  const auto models = UnseenCollectives(diagnostics);
  if (!rows || !models) return false;
  AddRows(groups, kZeroShot, *rows, Among(*models));
  for (unsigned seed = 1; seed <= kDraws; ++seed) CalibrateCollectives(*rows, seed, *models, groups);
  return AddStreamCollectives(groups, true, diagnostics);
}

// Of 16-bit tensor-core matmuls.
DeviceModels UnseenMatmuls(const DeviceModels& models, const std::vector<KernelRow>& rows,
                           const calibrated::Parameters& parameters) {
  std::vector<calibrated::DeviceKernels> measured;
  for (const auto& [name, model] : models) {
    measured.push_back({.device = model.figures, .kernels = {}});
    for (const KernelRow& row : rows) {
      const bool fitted = row.device == name && row.kernel.type == calibrated::Datatype::kBf16;
      if (fitted) measured.back().kernels.push_back({.kernel = row.kernel, .us = row.us});
    }
  }
  return HeldOut(measured, [&](const auto& others) { return calibrated::FitShared(parameters, "gemm", others); });
}

// TF32 has no shared constants of its own: those of the parameter file, which 16-bit matmuls gave, have not seen it.
void AddUnseenMatmuls(Groups& groups, const DeviceModels& models, const std::vector<KernelRow>& rows,
                      const calibrated::Parameters& parameters) {
  std::vector<KernelRow> narrow;
  std::vector<KernelRow> wide;
  for (const KernelRow& row : rows) (row.kernel.type == calibrated::Datatype::kTf32 ? wide : narrow).push_back(row);
  AddRows(groups, kZeroShot, narrow, Among(UnseenMatmuls(models, rows, parameters)));
  AddRows(groups, kZeroShot, wide, Among(models));
}

bool AddMatmuls(Groups& groups, Diagnostics& diagnostics) {
  const auto rows = ReadGemmRows(diagnostics);
  const auto& parameters = calibrated::DefaultParameters();
  if (!rows || !parameters) return false;
  const ModelOf shared = [&](const std::string& preset) -> std::optional<DeviceModel> {
    auto device = hardware::LoadDevice(preset, diagnostics);
    if (!device) return std::nullopt;
    return DeviceModel{.figures = WithoutOwnConstants(*std::move(device)), .parameters = *parameters};
  };
  DeviceModels models;
  for (const KernelRow& row : *rows) {
    if (models.contains(row.device)) continue;
    const auto model = shared(row.device);
    if (!model) return false;
    models.emplace(row.device, *model);
  }
  AddUnseenMatmuls(groups, models, *rows, *parameters);
  if (!AddPublishedErrors(groups, kZeroShot, shared, diagnostics)) return false;
  for (unsigned seed = 1; seed <= kDraws; ++seed) {
    DeviceModels drawn = models;
    CalibrateKernels(*rows, seed, drawn, groups);
  }
  return true;
}

bool AddKernels(Groups& groups, const ValidateOptions& options, Diagnostics& diagnostics) {
  const auto models = ZeroShotModels(options.progress, diagnostics);
  const auto rows = ReadKernelRows(diagnostics);
  if (!models || !rows) return false;
  Groups unwanted;
  Groups& kernels = Wanted(options, "kernels") ? groups : unwanted;
  const auto add_models = [&](const char* mode, const DeviceModels& of) {
    return !Wanted(options, "models") || AddModels(groups, mode, Among(of), diagnostics);
  };
  AddRows(kernels, kZeroShot, *rows, Among(*models));
  if (!add_models(kZeroShot, *models)) return false;
  for (unsigned seed = 1; seed <= kDraws; ++seed) {
    DeviceModels drawn = *models;
    CalibrateKernels(TestRows(*rows), seed, drawn, kernels);
    if (!add_models(kCalibrated, drawn)) return false;
  }
  return true;
}

}  // namespace

bool AddHeldOut(Groups& groups, const ValidateOptions& options, Diagnostics& diagnostics) {
  return (!Wanted(options, "gemm") || AddMatmuls(groups, diagnostics)) &&
         (!(Wanted(options, "kernels") || Wanted(options, "models")) || AddKernels(groups, options, diagnostics)) &&
         (!Wanted(options, "collectives") || AddCollectives(groups, diagnostics)) &&
         (!Wanted(options, "step-times") || AddStepTimesHeldOut(groups, diagnostics));
}

}  // namespace hespas::validate
