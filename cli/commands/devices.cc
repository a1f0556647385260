// `hespas devices` and `hespas systems`: the presets, or all figures of one of them with their sources.
#include <fmt/format.h>

#include <memory>

#include "base/system/file.h"
#include "cli/command.h"
#include "cli/format.h"
#include "driver/configuration/presets.h"
#include "driver/inspect/tables/describe_system.h"
#include "driver/inspect/tables/preset_tables.h"
#include "driver/inspect/tables/system_picture.h"
#include "driver/stages/system.h"
#include "hardware/presets.h"

namespace hespas::cli {
namespace {

using Lister = std::optional<report::Table> (*)(Diagnostics&);
using Shower = std::optional<report::Table> (*)(const std::string& name, Diagnostics&);

struct PresetOptions {
  std::string name;
  Format format = Format::kTable;
  bool describe = false;
  std::string picture;  // file
  size_t devices = 0;   // NAME is a device, and this is how many of them `--system auto` joins
};

// Of the system that is called so, or that joins so many devices called so.
std::optional<hardware::System> SystemOf(const PresetOptions& options, Diagnostics& diagnostics) {
  if (options.devices == 0) return driver::LoadSystemPreset(options.name, diagnostics);
  const auto device = hardware::LoadDevice(options.name, diagnostics);
  return device ? driver::SystemOfDevice(*device, options.devices, diagnostics) : std::nullopt;
}

// Whether there was something to draw.
bool Draw(const PresetOptions& options, Console& console) {
  const auto system = SystemOf(options, console.diagnostics);
  console.PrintDiagnostics();
  if (!system) return false;
  if (!options.picture.empty()) {
    if (Status written = WriteFileAtomically(options.picture, driver::SystemPicture(*system)); !written) {
      console.Fail(written.error());
      return false;
    }
  }
  if (options.describe) Print(driver::DescribeSystem(*system));
  return true;
}

CLI::App& AddPresetCommand(CLI::App& app, Console& console, const std::string& command_name,
                           const std::string& description, const std::string& example, Lister list, Shower show,
                           const std::shared_ptr<PresetOptions>& options) {
  CLI::App& command = AddCommand(app, console, command_name, description, example);
  command.add_option("NAME", options->name, "show every figure of this preset or file; without it, list the presets");
  AddFormatOption(command, options->format);
  command.callback([options, list, show, &console] {
    const bool drawing = (options->describe || !options->picture.empty()) && !options->name.empty();
    if (drawing && (!Draw(*options, console) || options->describe)) return;
    const auto table = options->name.empty() ? list(console.diagnostics)
                       : options->devices > 0
                           ? driver::AutoSystemFigures(options->name, options->devices, console.diagnostics)
                           : show(options->name, console.diagnostics);
    console.PrintDiagnostics();
    if (table) Print(RenderTable(*table, options->format));
  });
  return command;
}

}  // namespace

void AddDevicesCommand(CLI::App& app, Console& console) {
  AddPresetCommand(app, console, "devices", "lists the accelerator presets, or shows one with its sources",
                   "hespas devices A100_SXM_80GB", driver::DeviceTable, driver::DeviceFigures,
                   std::make_shared<PresetOptions>());
}

void AddSystemsCommand(CLI::App& app, Console& console) {
  auto options = std::make_shared<PresetOptions>();
  CLI::App& command = AddPresetCommand(app, console, "systems", "lists the network presets, or shows one",
                                       "hespas systems \"H100_80GB 8x64 ib=400Gbit/s\" --describe", driver::SystemTable,
                                       driver::SystemFigures, options);
  command.add_flag("--describe", options->describe,
                   "draw the levels of NAME with bandwidth, latency and oversubscription");
  command
      .add_option("--devices", options->devices,
                  "NAME is a device: the network that `--system auto` means for so many of them")
      ->check(CLI::PositiveNumber);
  command.add_option("--svg", options->picture, "write the drawing of NAME as a picture into this file");
}

}  // namespace hespas::cli
