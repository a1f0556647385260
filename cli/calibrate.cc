// `hespas calibrate`: fits a device's own constants to measured kernels.
#include "driver/calibrate.h"

#include <memory>

#include "base/file.h"
#include "cli/format.h"

namespace hespas::cli {
namespace {

struct CalibrateOptions {
  std::string measurements;
  std::string device;
  std::string output;
  bool plan = false;
  Format format = Format::kTable;
};

void RunCalibrate(const CalibrateOptions& options, Console& console) {
  if (options.plan) {
    Print(RenderTable(driver::MeasurementPlan(), options.format == Format::kTable ? Format::kCsv : options.format));
    return;
  }
  if (options.measurements.empty() || options.device.empty()) throw CLI::RequiredError("CSV with --device, or --plan");
  const auto calibration = driver::Calibrate(options.measurements, options.device, console.diagnostics);
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
  AddFormatOption(command, options->format);
  command.callback([options, &console] { RunCalibrate(*options, console); });
}

}  // namespace hespas::cli
