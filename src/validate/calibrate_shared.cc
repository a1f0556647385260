// Shared constants of the calibrated model from kernels or collectives measured on several devices (`hespas calibrate
// --shared`).
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "estimate/calibrated/fit/shared_fit.h"
#include "estimate/calibrated/fit/table.h"
#include "hardware/model_file.h"
#include "validate/calibrate.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;

double FourDigits(double value) {
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value) + 1e-300)));
  return std::round(value * scale) / scale;
}

std::optional<std::vector<calibrated::FittedConstant>> Fitted(const std::string& measurements,
                                                              const calibrated::Parameters& parameters,
                                                              Diagnostics& diagnostics) {
  const auto collectives = MeasuredCollectives(measurements, diagnostics);
  if (!collectives) return std::nullopt;
  if (!collectives->empty()) {
    return calibrated::SharedCollectiveConstants(calibrated::FitSharedCollectives(parameters, *collectives));
  }
  const auto kernels = MeasuredKernels(measurements, diagnostics);
  if (!kernels) return std::nullopt;
  if (kernels->empty()) {
    diagnostics.Error(calibrated::kMissingColumn, "no row names its device in a column `gpu` (`key` of collectives)",
                      {.file = measurements, .line = 1},
                      "`hespas calibrate TABLE --device NAME` fits one device's own constants");
    return std::nullopt;
  }
  return calibrated::SharedConstants(calibrated::FitAllShared(parameters, *kernels));
}

}  // namespace

std::optional<std::string> CalibrateShared(const std::string& measurements, Diagnostics& diagnostics) {
  const auto& parameters = calibrated::DefaultParameters();
  if (!parameters) return std::nullopt;
  const auto fitted = Fitted(measurements, *parameters, diagnostics);
  if (!fitted) return std::nullopt;
  const auto shipped = hardware::ReadModelFile("calibrated.json");
  if (!shipped) {
    diagnostics.Report(shipped.error());
    return std::nullopt;
  }
  auto json = ReadOrderedJson(shipped->text);
  for (const calibrated::FittedConstant& constant : *fitted) {
    auto& family = json["families"][std::string(constant.family)];
    family["constants"][std::string(constant.name)]["value"] = FourDigits(constant.value);
  }
  return JsonText(json, 2) + "\n";
}

}  // namespace hespas::validate
