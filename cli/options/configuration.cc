#include "cli/options/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>

#include "cli/format.h"
#include "driver/compat/configuration.h"
#include "driver/configuration/run_configuration.h"
#include "hardware/presets.h"

namespace hespas::cli {
namespace {

constexpr char kFigureGroup[] = "Figures of the device, instead of its file's";

struct FigureOption {
  const char* option;
  const char* figure;
  const char* description;
};

constexpr FigureOption kFigureOptions[] = {
    {"--peak-flops", "peak_flops", "peak rate of datatypes without a rate of their own, such as \"19.5 TFLOP/s\""},
    {"--memory-bandwidth", "memory_bandwidth", "such as \"1.55 TB/s\""},
    {"--tdp,--tdp-W,--tdp-w", "tdp", "power limit, such as \"400 W\""},
    {"--hbm-power-ratio", "hbm_power_ratio", "fraction of the power limit that full memory traffic draws"},
};
constexpr char kRateOption[] = "--per-datatype-flops";

std::string FirstName(const std::string& names) { return names.substr(0, names.find(',')); }

using Origins = std::map<const CLI::Option*, std::string>;

std::string OriginOf(const CLI::App& command, const CLI::Option* option) {
  if (option->count() == 0) return "default";
  if (OnCommandLine(command, option)) return option->get_positional() ? "command line" : "option " + option->get_name();
  return "environment " + option->get_envname();
}

bool IsSetting(const CLI::App& command, const CLI::Option* option) {
  const std::string name = option->get_name();
  if (name == "--print-config" || name == "--format" || name == "--help" || name == "-h") return false;
  return option->get_group() != kCommonGroup && option->get_group() != kFigureGroup && command.get_help_ptr() != option;
}

std::string ValueOf(CLI::Option* option) {
  if (option->count() > 0) return fmt::format("{}", fmt::join(option->results(), ","));
  if (option->get_items_expected_max() == 0) return "false";
  const std::string text = option->capture_default_str()->get_default_str();
  return text.empty() ? "-" : text;
}

// `--split` for "--split", the positional PROGRAM for "PROGRAM"; nullptr where the command has no such option.
CLI::Option* Named(CLI::App& command, const std::string& name) { return command.get_option_no_throw(name); }

// Values of the configuration go where neither the command line nor the environment says anything.
void Offer(CLI::App& command, const driver::RunConfiguration& configuration, Origins& origins, Console& console) {
  for (const driver::ConfiguredOption& entry : configuration.options) {
    CLI::Option* option = Named(command, entry.option);
    if (option == nullptr || (option->count() > 0 && !origins.contains(option))) continue;
    const std::string origin = fmt::format("configuration {}:{}", entry.at.file, entry.at.line);
    const auto earlier = origins.find(option);
    // A later key of the file that sets the same option wins; values of one key's list stay together.
    if (earlier == origins.end() || earlier->second != origin) option->clear();
    try {
      option->add_result(entry.value);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      console.diagnostics.Error(driver::compat::kBadSetting, error.what(), entry.at);
    }
    origins[option] = origin;
  }
}

Status AddFigure(const std::string& name, const std::string& text, const std::string& origin,
                 hardware::DeviceFigures& figures) {
  auto figure = hardware::ParseFigure(name, text, origin);
  if (!figure) return figure.error();
  figures.push_back(*std::move(figure));
  return {};
}

void AddFigureRows(const driver::RunOptions& run, report::Table& table, Console& console) {
  auto device = driver::DeviceOf(run, console.diagnostics);
  if (!device) return;
  const auto add = [&](const std::string& name, double value, const char* unit) {
    const bool given = std::ranges::any_of(run.device.figures, [&](const auto& figure) { return figure.name == name; });
    const std::string origin =
        given ? std::string(device->SourceOf(name)) : fmt::format("device file {}", device->origin);
    table.rows.push_back({name, fmt::format("{:g} {}", value, unit), origin});
  };
  add("peak_flops", device->peak_flops.value, "FLOP/s");
  for (const auto& [datatype, rate] : device->per_datatype_flops)
    add("per_datatype_flops." + datatype, rate.value, "FLOP/s");
  add("memory_bandwidth", device->memory_bandwidth.value, "B/s");
  if (device->tdp_w) add("tdp", *device->tdp_w, "W");
  if (device->hbm_power_ratio) add("hbm_power_ratio", *device->hbm_power_ratio, "");
}

void PrintSettings(CLI::App& command, const driver::RunOptions& run, const Origins& origins, Console& console) {
  report::Table table{.columns = {{"setting"}, {"value"}, {"from"}}, .rows = {}};
  for (CLI::Option* option : command.get_options()) {
    if (!IsSetting(command, option)) continue;
    const auto found = origins.find(option);
    const std::string name = option->get_positional() ? option->get_name(true) : option->get_lnames().front();
    table.rows.push_back({name, ValueOf(option), found != origins.end() ? found->second : OriginOf(command, option)});
  }
  AddFigureRows(run, table, console);
  if (console.PrintDiagnostics()) return;
  const CLI::Option* format = command.get_option_no_throw("--format");
  const std::string name = format != nullptr && format->count() > 0 ? format->results().front() : "table";
  Print(RenderTable(table, FormatByName(name)));
}

}  // namespace

bool OnCommandLine(const CLI::App& command, const CLI::Option* option) {
  const auto& order = command.parse_order();
  return std::find(order.begin(), order.end(), option) != order.end();
}

void BindEnvironment(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_lnames().empty() || option->get_lnames().front() == "help") continue;
    std::string name = "HESPAS_" + option->get_lnames().front();
    for (char& c : name) c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    option->envname(name);
  }
  for (CLI::App* command : app.get_subcommands({})) BindEnvironment(*command);
}

std::string EnvironmentHint(const CLI::App& command, const std::string& message) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_envname().empty() || std::getenv(option->get_envname().c_str()) == nullptr) continue;
    if (OnCommandLine(command, option) || message.find(option->get_name()) == std::string::npos) continue;
    return fmt::format("the value comes from the environment variable {}", option->get_envname());
  }
  return {};
}

void AddFigureOptions(CLI::App& command) {
  for (const FigureOption& row : kFigureOptions) command.add_option(row.option, row.description)->group(kFigureGroup);
  command.add_option(kRateOption, "DATATYPE=RATE, repeatable")->group(kFigureGroup)->allow_extra_args(false);
}

Status ReadFigureOptions(const CLI::App& command, hardware::DeviceFigures& figures) {
  if (command.get_option_no_throw(kRateOption) == nullptr) return {};
  for (const FigureOption& row : kFigureOptions) {
    const CLI::Option* option = command.get_option(FirstName(row.option));
    for (const std::string& text : option->results()) {
      if (Status added = AddFigure(row.figure, text, OriginOf(command, option), figures); !added) return added;
    }
  }
  const CLI::Option* option = command.get_option(kRateOption);
  for (const std::string& entry : option->results()) {
    const size_t sign = std::min(entry.find('='), entry.size());
    const std::string rate = entry.substr(std::min(sign + 1, entry.size()));
    Status added = AddFigure("per_datatype_flops." + entry.substr(0, sign), rate, OriginOf(command, option), figures);
    if (!added) return added;
  }
  return {};
}

void AddConfigurationOptions(CLI::App& command) {
  const OptionGroup group(command, "Configuration and figures of the device");
  command.add_option("--config", "configuration file (JSON), the prototype's or one with this command's options");
  command.add_flag_function(
      "--print-config", [](int64_t) {}, "print every setting with its value and its source, and stop");
  AddFigureOptions(command);
}

bool ApplyConfiguration(CLI::App& command, driver::RunOptions& run, Console& console) {
  Origins origins;
  if (const CLI::Option* path = command.get_option("--config"); path->count() > 0) {
    const std::string file = path->results().front();
    auto configuration = driver::ReadRunConfiguration(file, console.diagnostics);
    if (configuration) {
      if (configuration->describes_device)
        configuration->options.insert(configuration->options.begin(), {"--device", file, {file, 1, 1, {}}});
      Offer(command, *configuration, origins, console);
      run.device.figures = std::move(configuration->figures);
    }
  }
  if (const Status read = ReadFigureOptions(command, run.device.figures); !read)
    console.diagnostics.Report(read.error());
  if (console.diagnostics.has_errors()) {
    console.PrintDiagnostics();
    return false;
  }
  if (command.get_option("--print-config")->count() > 0) {
    PrintSettings(command, run, origins, console);
    return false;
  }
  return true;
}

}  // namespace hespas::cli
