// Shared constants of the calibrated model from kernels measured on several devices (`hespas calibrate --shared`).
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "driver/calibrate.h"
#include "driver/measured_tables.h"
#include "estimate/calibrated/shared_fit.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

namespace calibrated = estimate::calibrated;

double FourDigits(double value) {
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value) + 1e-300)));
  return std::round(value * scale) / scale;
}

}  // namespace

std::optional<std::string> CalibrateShared(const std::string& measurements, Diagnostics& diagnostics) {
  const auto measured = MeasuredKernels(measurements, diagnostics);
  const auto& parameters = calibrated::DefaultParameters();
  const auto folder = hardware::DataFolder();
  if (!measured || !parameters || !folder) return std::nullopt;
  const auto text = ReadInput((*folder / "models" / "calibrated.json").string());
  if (!text) {
    diagnostics.Report(text.error());
    return std::nullopt;
  }
  auto json = nlohmann::ordered_json::parse(*text, nullptr, false);
  const auto fitted = calibrated::FitAllShared(*parameters, *measured);
  for (const calibrated::FittedConstant& constant : calibrated::SharedConstants(fitted)) {
    auto& family = json["families"][std::string(constant.family)];
    family["constants"][std::string(constant.name)]["value"] = FourDigits(constant.value);
  }
  return json.dump(2) + "\n";
}

}  // namespace hespas::driver
