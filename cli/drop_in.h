// What the drop-in commands share: the prototype's options, where its log goes, exit statuses.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include "driver/compat/configuration.h"
#include "driver/compat/log.h"

namespace hespas::cli {

struct DropIn {
  driver::compat::CommandLine command;
  std::string log_level = "info";
  std::string log_path;
  std::string compat;
};

using DropInBody = std::function<Status(const driver::compat::CommandLine&, const driver::compat::Log&, Diagnostics&)>;

inline void AddConfiguration(CLI::App& app, DropIn& options) {
  app.add_option("config", options.command.config_path, "configuration file (JSON)")->required();
}

// --log-level, --log-path and --compat.
inline void AddDropInOptions(CLI::App& app, DropIn& options) {
  app.add_option("--log-path", options.log_path, "append the log to this file instead of standard error");
  app.add_option("--log-level", options.log_level, "least severe level shown")
      ->check(CLI::IsMember({"critical", "error", "warning", "info", "debug", "progress", "results"}));
  app.add_option("--compat", options.compat, "`prototype`: byte for byte its choices and defects")
      ->check(CLI::IsMember({"prototype"}));
}

inline size_t LogColumns() {
  const char* columns = std::getenv("COLUMNS");
  const long count = columns == nullptr ? 0 : std::strtol(columns, nullptr, 10);
  return count > 0 && count < 10000 ? static_cast<size_t>(count) : 80;
}

// Parses, runs, prints what went wrong; the exit status.
inline int RunDropIn(CLI::App& app, int argc, char** argv, DropIn& options, const DropInBody& body) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(Outcome::kUsage);
  }
  options.command.compat = !options.compat.empty();
  std::FILE* out = options.log_path.empty() ? stderr : std::fopen(options.log_path.c_str(), "a");
  if (out == nullptr) {
    std::fprintf(stderr, "error[E0002]: cannot open the log file `%s`\n", options.log_path.c_str());
    return static_cast<int>(Outcome::kBadInput);
  }
  const driver::compat::Log log([out](std::string_view line) { std::fwrite(line.data(), 1, line.size(), out); },
                                *driver::compat::LevelByName(options.log_level), LogColumns());
  Diagnostics diagnostics;
  const Status status = body(options.command, log, diagnostics);
  if (out != stderr) std::fclose(out);
  bool shown = false;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    std::fputs(Render(diagnostic).c_str(), stderr);
    shown |= !status.ok() && diagnostic.message == status.error().message;
  }
  if (status.ok()) return 0;
  if (!shown) std::fputs(Render(status.error()).c_str(), stderr);
  return static_cast<int>(status.error().kind->outcome);
}

}  // namespace hespas::cli
