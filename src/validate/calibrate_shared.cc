// Shared constants from kernels or collectives measured on several devices (`hespas calibrate --shared`): those of the
// calibrated model from eager calls and collectives, the field model's from calls inside CUDA graphs.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "estimate/calibrated/fit/minimise.h"
#include "hardware/model_file.h"
#include "hardware/presets.h"
#include "validate/calibrate.h"
#include "validate/measured_tables.h"
#include "validate/shared_errors.h"

namespace hespas::validate {
namespace {

namespace calibrated = estimate::calibrated;
namespace field = estimate::field;

using Fitted = std::vector<calibrated::FittedConstant>;

double FourDigits(double value) {
  const double scale = std::pow(10, 3 - std::floor(std::log10(std::abs(value) + 1e-300)));
  return std::round(value * scale) / scale;
}

// `constants` with those that the rows tell; both lists are of the two files of constants.
void Fit(const SharedRows& rows, SharedConstants& constants, Fitted& of_calibrated, Fitted& of_field) {
  const auto append = [](Fitted& all, Fitted more) { all.insert(all.end(), more.begin(), more.end()); };
  if (!rows.collectives.empty()) {
    constants.parameters = calibrated::FitSharedCollectives(constants.parameters, rows.collectives);
    append(of_calibrated, calibrated::SharedCollectiveConstants(constants.parameters));
  }
  if (!rows.kernels.empty()) {
    constants.parameters = calibrated::FitAllShared(constants.parameters, rows.kernels);
    append(of_calibrated, calibrated::SharedConstants(constants.parameters));
  }
  for (const std::string_view family : field::kFamilies) {
    if (!field::HasFamily(family, rows.calls)) continue;
    constants.field = field::FitFamily(constants.field, family, rows.calls);
    for (const auto& [name, value] : field::FittedConstantsOf(constants.field, family)) {
      of_field.push_back({family, name, *value});
    }
  }
}

// As a user would fit them again.
std::string FittedOn(const std::vector<std::string>& tables, const std::string& left_out) {
  std::string names;
  for (const std::string& table : tables) names += " " + std::filesystem::path(table).filename().string();
  return "hespas calibrate --shared" + names + (left_out.empty() ? "" : " --leave-out " + left_out);
}

// The shipped file `name` with these constants put in.
bool AddFile(const char* name, const Fitted& fitted, const std::string& fitted_on,
             std::map<std::string, std::string>& files, Diagnostics& diagnostics) {
  if (fitted.empty()) return true;
  const auto shipped = hardware::ReadModelFile(name);
  if (!shipped) {
    diagnostics.Report(shipped.error());
    return false;
  }
  auto json = ReadOrderedJson(shipped->text);
  for (const calibrated::FittedConstant& constant : fitted) {
    auto& family = json["families"][std::string(constant.family)];
    family["constants"][std::string(constant.name)]["value"] = FourDigits(constant.value);
    family["fitted_on"] = fitted_on;
  }
  files[name] = JsonText(json, 2) + "\n";
  return true;
}

// The rows whose errors are shown: of the device that is left out, which leave `rows`, else all.
std::optional<SharedRows> ShownRows(const std::string& left_out, SharedRows& rows, Diagnostics& diagnostics) {
  if (left_out.empty()) return rows;
  const auto device = hardware::LoadDevice(PresetOf(left_out), diagnostics);
  if (!device) return std::nullopt;
  SharedRows left = TakeDevice(rows, device->name);
  if (!left.empty() && !rows.empty()) return left;
  diagnostics.Error(kNothingToLeaveOut, left.empty() ? fmt::format("no table has rows of {}", device->name)
                                                     : fmt::format("all rows are of {}", device->name));
  return std::nullopt;
}

}  // namespace

std::optional<SharedCalibration> CalibrateShared(const std::vector<std::string>& tables, const std::string& left_out,
                                                 Diagnostics& diagnostics) {
  const auto& parameters = calibrated::DefaultParameters();
  const auto& constants = field::DefaultConstants();
  if (!calibrated::HasOptimiser()) diagnostics.Error(calibrated::kNoOptimiser, "no optimiser library");
  if (!calibrated::HasOptimiser() || !parameters || !constants) return std::nullopt;
  auto rows = ReadSharedRows(tables, diagnostics);
  const auto shown = rows ? ShownRows(left_out, *rows, diagnostics) : std::nullopt;
  if (!shown) return std::nullopt;
  const SharedConstants shipped{.parameters = *parameters, .field = *constants};
  SharedConstants fitted = shipped;
  Fitted of_calibrated, of_field;
  Fit(*rows, fitted, of_calibrated, of_field);
  SharedCalibration calibration{.files = {}, .errors = SharedErrors(*shown, shipped, fitted)};
  const std::string on = FittedOn(tables, left_out);
  const bool written = AddFile("calibrated.json", of_calibrated, on, calibration.files, diagnostics) &&
                       AddFile("field.json", of_field, on, calibration.files, diagnostics);
  return written ? std::optional(std::move(calibration)) : std::nullopt;
}

}  // namespace hespas::validate
