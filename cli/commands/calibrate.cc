// `hespas calibrate`: fits a device's own constants to measured kernels.
#include "validate/calibrate.h"

#include <filesystem>
#include <memory>

#include "base/system/file.h"
#include "cli/format.h"

namespace hespas::cli {
namespace {

struct CalibrateOptions {
  std::vector<std::string> tables;
  std::string device;
  std::string output;
  std::string left_out;
  bool plan = false;
  bool shared = false;
  Format format = Format::kTable;
};

// One file at `output`, or several in a folder of this name.
Status WriteFiles(const std::map<std::string, std::string>& files, const std::string& output) {
  if (files.size() == 1) return WriteFileAtomically(output, files.begin()->second);
  std::error_code error;
  std::filesystem::create_directories(output, error);  // what it could not make cannot be written to
  for (const auto& [name, text] : files) {
    Status written = WriteFileAtomically((std::filesystem::path(output) / name).string(), text);
    if (!written) return written;
  }
  return {};
}

void RunShared(const CalibrateOptions& options, Console& console) {
  const auto fitted = validate::CalibrateShared(options.tables, options.left_out, console.diagnostics);
  if (console.PrintDiagnostics() || !fitted) return;
  if (options.output.empty() && options.left_out.empty()) {
    for (const auto& [name, text] : fitted->files) Print(text);
    return;
  }
  const Status written = options.output.empty() ? Status() : WriteFiles(fitted->files, options.output);
  if (!written) return console.Fail(written.error());
  Print(RenderTable(fitted->errors, options.format));
}

void RunCalibrate(const CalibrateOptions& options, Console& console) {
  if (options.plan) {
    Print(RenderTable(validate::MeasurementPlan(), options.format == Format::kTable ? Format::kCsv : options.format));
    return;
  }
  if (options.shared && !options.tables.empty()) return RunShared(options, console);
  if (options.tables.size() != 1 || options.device.empty()) {
    throw CLI::RequiredError("one CSV with --device, CSVs with --shared, or --plan");
  }
  const auto calibration = validate::Calibrate(options.tables.front(), options.device, console.diagnostics);
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
  command.add_option("CSV", options->tables, "kernels (or collectives) with their `latency_us`; with --shared several");
  command.add_option("--device", options->device, "base device: a preset or a JSON file");
  command.add_option("-o,--output", options->output,
                     "file to write, of --shared a folder where there are two; without it, to standard output");
  command.add_flag("--plan", options->plan, "print a list of kernels worth measuring instead");
  command.add_flag("--shared", options->shared,
                   "fit the constants that all devices share instead, from tables with the column `gpu` or `device`");
  command.add_option("--leave-out", options->left_out,
                     "of --shared: fit without this device and print its rows' errors");
  AddFormatOption(command, options->format);
  command.callback([options, &console] { RunCalibrate(*options, console); });
}

}  // namespace hespas::cli
