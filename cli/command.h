// What every subcommand shares: common options, where diagnostics go, the exit status.
//
// - A command registers itself on the app and leaves its exit status in the Session when it runs.
// - Data goes to stdout, everything else to stderr.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"

namespace hespas::cli {

enum class Format { kTable, kJson, kJsonLines, kCsv, kMarkdown };

struct Session {
  std::string colour = "auto";
  bool quiet = false;
  std::string log_level = "info";
  std::string log_path;
  std::string command_line;  // as given, for result.json
  int exit_status = 0;
  Diagnostics diagnostics;

  bool UseColour() const;  // for stderr
  // Prints an error and sets the exit status it leads to.
  void Fail(const Error& error);
  // Prints what was collected (warnings grouped and counted unless quiet); true where an error was among it.
  bool PrintDiagnostics();
};

// Accepts exactly these words; suggests the nearest for any other.
CLI::Validator OneOf(std::vector<std::string> names);

// Adds --color, -q, --log-level and --log-path.
void AddCommonOptions(CLI::App& command, Session& session);

Format FormatByName(const std::string& name);

// Adds --format.
void AddFormatOption(CLI::App& command, Format& format);

// A subcommand with its one-line description and an example that `-h` prints.
CLI::App& AddCommand(CLI::App& app, Session& session, const std::string& name, const std::string& description,
                     const std::string& example);

// Writes data to stdout; a closed pipe ends the program quietly.
void Print(std::string_view text);

void AddRunCommand(CLI::App& app, Session& session);
void AddAnalyzeCommand(CLI::App& app, Session& session);
void AddPrintCommand(CLI::App& app, Session& session);
void AddSplitCommand(CLI::App& app, Session& session);
void AddEstimateCommand(CLI::App& app, Session& session);
void AddTraceCommand(CLI::App& app, Session& session);
void AddSimulateCommand(CLI::App& app, Session& session);
void AddCollectiveCommand(CLI::App& app, Session& session);
void AddDevicesCommand(CLI::App& app, Session& session);
void AddSystemsCommand(CLI::App& app, Session& session);
void AddExplainCommand(CLI::App& app, Session& session);
void AddValidateCommand(CLI::App& app, Session& session);
void AddCalibrateCommand(CLI::App& app, Session& session);
void AddOptimiseCommand(CLI::App& app, Session& session);
void AddCheckCommand(CLI::App& app, Session& session);
void AddSchemaCommand(CLI::App& app, Session& session);

}  // namespace hespas::cli
