#include "cli/drop_in.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "cli/log.h"
#include "cli/options/configuration.h"

namespace hespas::cli {
namespace {

size_t LogColumns() {
  const char* columns = std::getenv("COLUMNS");
  const long count = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return count > 0 && count < 10000 ? static_cast<size_t>(count) : 80;
}

void NoteEnvironment(const CLI::App& app, driver::compat::CommandLine& command) {
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && !OnCommandLine(app, option) && !option->get_lnames().empty())
      command.from_environment.insert(option->get_lnames().front());
  }
}

// Errors and warnings go to stderr whatever the log; the exit status.
int ExitStatus(const Status& status, const Diagnostics& diagnostics) {
  bool shown = false;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    fmt::print(stderr, "{}", Render(diagnostic));
    shown |= !status.ok() && diagnostic.message == status.error().message;
  }
  if (status.ok()) return 0;
  if (!shown) fmt::print(stderr, "{}", Render(status.error()));
  return static_cast<int>(status.error().kind->outcome);
}

int Execute(const CLI::App& app, DropIn& options, const DropInBody& body) {
  driver::compat::CommandLine& command = options.command;
  command.compat = !options.compat.empty();
  NoteEnvironment(app, command);
  Diagnostics diagnostics;
  if (const Status figures = ReadFigureOptions(app, command.figures); !figures) return ExitStatus(figures, diagnostics);
  if (command.print_config) {
    const auto settings = driver::compat::ReadSettings(command, true);
    if (!settings) return ExitStatus(settings.error(), diagnostics);
    std::fputs(driver::compat::SettingsText(*settings).c_str(), stdout);
    return 0;
  }
  const auto sink = OpenLog(options.log_path);
  if (!sink) return ExitStatus(sink.error(), diagnostics);
  const driver::compat::Log log([&](std::string_view line) { std::fwrite(line.data(), 1, line.size(), sink->get()); },
                                *driver::compat::LevelByName(options.log_level), LogColumns());
  const Status status = body(command, log, diagnostics);
  return ExitStatus(status, diagnostics);
}

}  // namespace

void AddConfiguration(CLI::App& app, DropIn& options) {
  app.add_option("config", options.command.config_path, "configuration file (JSON)")->required();
  app.add_flag("--print-config", options.command.print_config,
               "print every setting with its value and its source, and stop");
}

void AddDeviceOptions(CLI::App& app, DropIn& options) {
  app.add_option("--device", options.command.device, "preset or file; the configuration's `hardware` replaces figures");
  AddFigureOptions(app);
}

void AddSeparatorOptions(CLI::App& app, DropIn& options) {
  driver::compat::CommandLine& command = options.command;
  app.add_option("--separator", command.separator, "what ends a block (linear_split), such as is_reduce_op");
  app.add_option("--separator_policy", command.separator_policy, "ISOLATED, END_BLOCK or START_BLOCK");
  app.add_option("--separator_node_type", command.separator_node_type, "COMM_COLL_NODE or COMP_NODE");
}

void AddDropInOptions(CLI::App& app, DropIn& options) {
  app.add_option("--log-path", options.log_path, "append the log to this file instead of standard error");
  app.add_option("--log-level", options.log_level, "least severe level shown")
      ->check(CLI::IsMember({"critical", "error", "warning", "info", "debug", "progress", "results"}));
  app.add_option("--compat", options.compat, "`prototype`: byte for byte its choices and defects")
      ->check(CLI::IsMember({"prototype"}));
}

int RunDropIn(CLI::App& app, int argc, char** argv, DropIn& options, const DropInBody& body) {
  BindEnvironment(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int status = app.exit(error) == 0 ? 0 : static_cast<int>(Outcome::kUsage);
    const std::string hint = status == 0 ? std::string() : EnvironmentHint(app, error.what());
    if (!hint.empty()) fmt::print(stderr, "help: {}\n", hint);
    return status;
  }
  return Execute(app, options, body);
}

}  // namespace hespas::cli
