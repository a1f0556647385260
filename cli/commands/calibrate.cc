// `hespas calibrate`: fits a device's own constants to measured kernels.
#include "validate/calibrate.h"

#include <memory>

#include "base/system/file.h"
#include "cli/format.h"

namespace hespas::cli {
namespace {

struct CalibrateOptions {
  std::string measurements;
  std::string device;
  std::string output;
  bool plan = false;
  bool shared = false;
  Format format = Format::kTable;
};

void RunShared(const CalibrateOptions& options, Console& console) {
  const auto file = validate::CalibrateShared(options.measurements, console.diagnostics);
  if (console.PrintDiagnostics() || !file) return;
  if (options.output.empty()) return Print(*file);
  const Status written = WriteFileAtomically(options.output, *file);
  if (!written) console.Fail(written.error());
}

void RunCalibrate(const CalibrateOptions& options, Console& console) {
  if (options.plan) {
    Print(RenderTable(validate::MeasurementPlan(), options.format == Format::kTable ? Format::kCsv : options.format));
    return;
  }
  if (options.shared && !options.measurements.empty()) return RunShared(options, console);
  if (options.measurements.empty() || options.device.empty()) throw CLI::RequiredError("CSV with --device, or --plan");
  const auto calibration = validate::Calibrate(options.measurements, options.device, console.diagnostics);
  const bool failed = console.PrintDiagnostics();
  if (!calibration || failed) return;
  if (options.output.empty()) {
    Print(calibration->device_file);
    return;
  }
  const Status written = WriteFileAtomically(options.output, calibration->device_file);
  if (!written) return console.Fail(written.error());
  Print(RenderTable(calibration->errors, options.format));
}

}  // namespace

void AddCalibrateCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "calibrate", "fits a device's own constants to measured kernels",
                                 "hespas calibrate measured.csv --device A40_48GB --output a40.json");
  auto options = std::make_shared<CalibrateOptions>();
  command.add_option("CSV", options->measurements, "kernels (or collectives) with their `latency_us`");
  command.add_option("--device", options->device, "base device: a preset or a JSON file");
  command.add_option("-o,--output", options->output, "device file to write; without it, it goes to standard output");
  command.add_flag("--plan", options->plan, "print a list of kernels worth measuring instead");
  command.add_flag("--shared", options->shared,
                   "fit the constants that all devices share instead, from a table with the column `gpu`");
  AddFormatOption(command, options->format);
  command.callback([options, &console] { RunCalibrate(*options, console); });
}

}  // namespace hespas::cli
