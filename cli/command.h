// What every subcommand shares: common options, where diagnostics go, the exit status.
//
// - A command registers itself on the app and leaves its exit status in the Console when it runs.
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

struct Console {
  std::string colour = "auto";
  bool quiet = false;
  std::string log_level = "warning";
  std::string log_path;
  std::string command_line;  // as given, for result.json
  int exit_status = 0;
  Diagnostics diagnostics;

  bool UseColour(int descriptor = 2) const;  // for stderr, or stdout (1)
  // Prints an error and sets the exit status it leads to.
  void Fail(const Error& error);
  // Prints what was collected (warnings grouped and counted unless quiet); true where an error was among it.
  bool PrintDiagnostics();
};

// Accepts exactly these words; suggests the nearest for any other.
CLI::Validator OneOf(std::vector<std::string> names);

// Accept numbers above 0, and from 0 on.
CLI::Validator Positive();
CLI::Validator NonNegative();

inline constexpr char kCommonGroup[] = "Common options";

// Options that are added while it lives, and have no group yet, belong to the group: `--help` lists them so.
class OptionGroup {
 public:
  OptionGroup(CLI::App& command, std::string name);
  ~OptionGroup();
  OptionGroup(const OptionGroup&) = delete;
  OptionGroup& operator=(const OptionGroup&) = delete;

 private:
  CLI::App& command_;
  std::string name_;
  size_t first_;
};

// Adds --color, -q, --log-level, --log-path and the limits (cli/options/limits.h).
void AddCommonOptions(CLI::App& command, Console& console);

Format FormatByName(const std::string& name);

// Adds --format.
void AddFormatOption(CLI::App& command, Format& format);

// A subcommand with its one-line description and an example that `-h` prints.
CLI::App& AddCommand(CLI::App& app, Console& console, const std::string& name, const std::string& description,
                     const std::string& example);

// Writes data to stdout; a closed pipe ends the program quietly.
void Print(std::string_view text);

void AddRunCommand(CLI::App& app, Console& console);
void AddAnalyzeCommand(CLI::App& app, Console& console);
void AddPrintCommand(CLI::App& app, Console& console);
void AddRetargetCommand(CLI::App& app, Console& console);
void AddSplitCommand(CLI::App& app, Console& console);
void AddEstimateCommand(CLI::App& app, Console& console);
void AddTraceCommand(CLI::App& app, Console& console);
void AddSimulateCommand(CLI::App& app, Console& console);
void AddCollectiveCommand(CLI::App& app, Console& console);
void AddDevicesCommand(CLI::App& app, Console& console);
void AddSystemsCommand(CLI::App& app, Console& console);
void AddExplainCommand(CLI::App& app, Console& console);
void AddCompareCommand(CLI::App& app, Console& console);
void AddValidateCommand(CLI::App& app, Console& console);
void AddCalibrateCommand(CLI::App& app, Console& console);
void AddOptimiseCommand(CLI::App& app, Console& console);
void AddCheckCommand(CLI::App& app, Console& console);
void AddSchemaCommand(CLI::App& app, Console& console);
void AddServeCommand(CLI::App& app, Console& console);
void AddGoodputCommand(CLI::App& app, Console& console);
void AddServeEstimateCommand(CLI::App& app, Console& console);
void AddCacheCommand(CLI::App& app, Console& console);
void AddDoctorCommand(CLI::App& app, Console& console);
void AddAnonymiseCommand(CLI::App& app, Console& console);
void AddSolveCommand(CLI::App& app, Console& console);
void AddSweepCommand(CLI::App& app, Console& console);
void AddSweepReportCommand(CLI::App& app, Console& console);
void AddPtxCommand(CLI::App& app, Console& console);
void AddPythonCommands(CLI::App& app, Console& console);

}  // namespace hespas::cli
