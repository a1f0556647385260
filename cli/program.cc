// Parses the options of `hespas` and hands over to one file per subcommand.
#include "cli/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/suggest.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/commands/python_command.h"
#include "cli/drop_in.h"
#include "cli/help/help_text.h"
#include "cli/help/parser_view.h"
#include "cli/help/short_help.h"
#include "cli/options/configuration.h"
#include "cli/options/limits.h"

namespace hespas::cli {
namespace {

constexpr int kUsageStatus = 2;

struct Command {
  std::string_view name;
  void (*add)(CLI::App&, Console&);
};
constexpr Command kCommands[] = {
    {"run", AddRunCommand},
    {"analyze", AddAnalyzeCommand},
    {"optimise", AddOptimiseCommand},
    {"print", AddPrintCommand},
    {"retarget", AddRetargetCommand},
    {"split", AddSplitCommand},
    {"estimate", AddEstimateCommand},
    {"trace", AddTraceCommand},
    {"simulate", AddSimulateCommand},
    {"collective", AddCollectiveCommand},
    {"devices", AddDevicesCommand},
    {"systems", AddSystemsCommand},
    {"explain", AddExplainCommand},
    {"compare", AddCompareCommand},
    {"solve", AddSolveCommand},
    {"sweep", AddSweepCommand},
    {"sweep-report", AddSweepReportCommand},
    {"validate", AddValidateCommand},
    {"check", AddCheckCommand},
    {"schema", AddSchemaCommand},
    {"calibrate", AddCalibrateCommand},
    {"serve", AddServeCommand},
    {"goodput", AddGoodputCommand},
    {"serve-estimate", AddServeEstimateCommand},
    {"ptx", AddPtxCommand},
    {"cache", AddCacheCommand},
    {"doctor", AddDoctorCommand},
    {"anonymise", AddAnonymiseCommand},
    {"export", AddPythonCommands},  // and shard, plan, experiment
    {"completion", AddCompletionCommand},
    {"man", AddManCommand},
};
constexpr std::string_view kDescribing[] = {"completion", "man"};  // describe all commands

// Only the command that `word` names, if it does: making the options of all takes longer than reading a program.
void AddCommands(CLI::App& app, Console& console, std::string_view word) {
  const auto* const named =
      std::find_if(std::begin(kCommands), std::end(kCommands), [&](const Command& c) { return c.name == word; });
  const bool describes = std::find(std::begin(kDescribing), std::end(kDescribing), word) != std::end(kDescribing);
  for (const Command& command : kCommands) {
    if (named == std::end(kCommands) || describes || &command == named) command.add(app, console);
  }
  BindEnvironment(app);
}

const CLI::App& Chosen(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : *chosen.front();
}

std::string Suggestion(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  if (word.starts_with("-")) {
    for (const CLI::Option* option : Chosen(app).get_options()) {
      for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : app.get_subcommands({})) known.push_back(sub->get_name());
  }
  const std::string name = word.substr(0, word.find('='));
  // What exists was spelt well; something else is wrong.
  return std::find(known.begin(), known.end(), name) != known.end() ? "" : DidYouMean(name, known);
}

std::string UsageMessage(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  if (&Chosen(app) != &app || words.empty() || words[0].starts_with("-")) return error.what();
  return fmt::format("there is no command `{}`", words[0]);
}

int ReportUsage(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  const CLI::App& command = Chosen(app);
  const std::string message = UsageMessage(app, error, words);
  fmt::print(stderr, "error[E0901]: {}\n", message);
  if (const std::string hint = EnvironmentHint(command, message); !hint.empty()) fmt::print(stderr, "help: {}\n", hint);
  for (const std::string& word : words) {
    if (message.find(word) == std::string::npos || message.find("did you mean") != std::string::npos) continue;
    const std::string near = Suggestion(app, word);
    if (near.empty()) continue;
    fmt::print(stderr, "help: {}\n", near);
    break;
  }
  fmt::print(stderr, "help: `hespas {}--help` lists the options\n", &command == &app ? "" : command.get_name() + " ");
  return kUsageStatus;
}

// A word as a shell would need it.
std::string Quoted(const std::string& word) {
  if (word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,@%+") ==
          std::string::npos &&
      !word.empty()) {
    return word;
  }
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

int RunHespas(int argc, char** argv) {
  if (argc <= 1) {
    Print(Guide());
    return 0;
  }
  Console console;
  for (int i = 0; i < argc; ++i) console.command_line += (i > 0 ? " " : "") + Quoted(argv[i]);
  CLI::App app("Predicts how fast a distributed machine-learning program runs on a device and a network, and why.",
               "hespas");
  app.set_help_flag("-h", "short help");
  app.set_help_all_flag("--help", "help on every command");
  app.set_version_flag("--version", std::string("hespas ") + kVersion);
  app.footer(
      "Example:\n  hespas run examples/llama3-100m-4dev.mlir.gz --device A100_SXM_40GB --system A100_SXM_40GB_4GPU");
  app.require_subcommand(1);
  AddCommands(app, console, argv[1]);
  if (IsPythonCommand(argv[1], {argv + 2, argv + argc}))
    return PythonCommand(argv[1], {argv + 2, argv + argc}, console);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    Print(Wrapped(ShortHelp(app, Chosen(app)), TerminalColumns()));
    return 0;
  } catch (const CLI::CallForAllHelp&) {
    const bool all = &Chosen(app) == &app;
    Print(Wrapped(all ? app.help() : app.help("", CLI::AppFormatMode::Normal), TerminalColumns()));
    return 0;
  } catch (const CLI::CallForVersion& version) {
    Print(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::RuntimeError& error) {
    return error.get_exit_code();
  } catch (const CLI::ParseError& error) {
    return ReportUsage(app, error, std::vector<std::string>(argv + 1, argv + argc));
  }
  return console.exit_status;
}

}  // namespace

int RunProgram(int argc, char** argv) {
  EndCleanlyOnSignals();
  std::signal(SIGPIPE, SIG_IGN);
  try {
    if (const auto status = RunAsDropIn(argc > 0 ? argv[0] : "", argc, argv)) return *status;
    return RunHespas(argc, argv);
  } catch (const std::bad_alloc&) {
    return ReportOutOfMemory();
  } catch (const std::exception& error) {
    return ReportInternalError(error.what());
  }
}

}  // namespace hespas::cli
