#include "cli/commands/stand_alone.h"

#include <algorithm>
#include <cstdio>

#include "cli/drop_in.h"
#include "driver/compat/stand_alone.h"
#include "driver/configuration/tool_keys.h"

namespace hespas::cli {

int RunStandAlone(const std::string& estimator, int argc, char** argv) {
  DropIn options;
  driver::compat::StandAloneOptions stand_alone;
  driver::compat::CommandLine& command = options.command;
  CLI::App app("Estimates one StableHLO program as a whole with the model `" + estimator + "`.",
               "hespas_" + estimator + "_estimator");
  AddDropInOptions(app, options);
  app.add_option("--mlir-file,--mlir_file", command.mlir_file, "program")->required();
  app.add_option("--config-file,--config_file", command.config_path, "configuration file with `perf_estimator`");
  AddDeviceOptions(app, options);
  for (const driver::ToolKey& key : driver::ToolKeysOf(estimator)) {
    if (key.option == driver::kNestedKeys) continue;
    if (key.option == driver::kColdCaches) {
      app.add_flag_callback(
          "--cold", [&command] { command.tool.emplace_back("cold", "true"); },
          "clear the device's caches before each run");
      app.add_flag_callback(
          "--warm", [&command] { command.tool.emplace_back("cold", "false"); }, "do not clear them (the default)");
      continue;
    }
    std::string flag = "--" + std::string(key.key);
    std::string with_underscores = flag;
    std::replace(flag.begin(), flag.end(), '_', '-');
    if (flag != with_underscores) flag += "," + with_underscores;
    app.add_option_function<std::string>(
        flag,
        [&command, name = std::string(key.key)](const std::string& value) { command.tool.emplace_back(name, value); },
        key.option.empty() ? "accepted and not needed" : "as `" + std::string(key.key) + "` in `hardware`");
  }
  app.add_flag("--warn-on-unknown-type", stand_alone.warn_on_unknown_type, "warn where the table lacks a type");
  app.add_flag("--error-on-unknown-type", stand_alone.error_on_unknown_type, "stop where the table lacks a type");
  command.estimator = estimator;
  return RunDropIn(app, argc, argv, options, [&](auto& parsed, const auto& log, auto& diagnostics) {
    stand_alone.command = parsed;
    const auto line = driver::compat::EstimateStandAlone(stand_alone, log, diagnostics);
    if (!line) return Status(line.error());
    std::fputs(line->c_str(), stdout);
    return Status();
  });
}

}  // namespace hespas::cli
