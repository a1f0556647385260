#include "cli/commands/python_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/system/process.h"
#include "hardware/presets.h"

namespace hespas::cli {
namespace {

inline constexpr DiagnosticKind kNoExporter{
    "E0918",
    "`hespas export`, `hespas shard`, `hespas plan`, `hespas experiment` and the clusters and searches of `hespas "
    "sweep` are Python "
    "programs that ship with the source tree and with the Python package, and need a Python 3.11 or newer. Install the "
    "package (pip install 'hespas[export]') or run them from the tree.",
    Outcome::kCannotRun};

// Where the program of `command` is in the source tree, and in share/ of the package.
std::filesystem::path ScriptOf(const std::filesystem::path& root, const std::string& command) {
  if (command == "validate") return root / "python" / "export" / "validate_published.py";
  const auto folder = command == "experiment"
                          ? root / "experiments" / "runner"
                          : root / "python" / (command == "sweep" || command == "plan" ? command : "export");
  return folder / (command + ".py");
}

// Only returns where there is nothing to become.
Error Become(const std::string& command, const std::vector<std::string>& arguments) {
  const auto data = hardware::DataFolder();
  if (!data) return data.error();
  const std::filesystem::path script = ScriptOf(data->parent_path(), command);
  const std::string python = FindProgram({"python3"});
  std::error_code error;
  if (!std::filesystem::exists(script, error) || python.empty()) {
    return MakeError(kNoExporter,
                     python.empty() ? "there is no python3" : fmt::format("there is no `{}`", script.string()), {},
                     "it ships with the Python package (pip install 'hespas[export]') and the source tree");
  }
  std::vector<std::string> words{python, script.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  setenv("HESPAS_COMMAND", ExecutablePath().c_str(), 1);
  execv(python.c_str(), ArgumentPointers(words).data());
  return MakeError(kNoExporter, fmt::format("`{}` could not be started", python));
}

}  // namespace

bool IsPythonCommand(std::string_view command, std::span<char*> arguments) {
  if (command == "export" || command == "shard" || command == "plan" || command == "experiment") return true;
  if (command == "validate") {
    const auto published = [](const char* word) { return std::string_view(word).ends_with("published-training"); };
    return std::any_of(arguments.begin(), arguments.end(), published);
  }
  if (command != "sweep") return false;
  return std::any_of(arguments.begin(), arguments.end(), [](const char* word) {
    const std::string_view text = word;
    return text == "--on" || text == "--search" || text.starts_with("--on=") || text.starts_with("--search=");
  });
}

int PythonCommand(const std::string& command, const std::vector<std::string>& arguments, Console& console) {
  console.Fail(Become(command, arguments));
  return console.exit_status;
}

// Only for the list of commands: these parse their options, --help included, themselves.
void AddPythonCommands(CLI::App& app, Console&) {
  app.add_subcommand("export", "exports programs from JAX functions and ready configurations, without an accelerator");
  app.add_subcommand("shard", "partitions a program in several ways, estimates each and ranks them");
  app.add_subcommand("plan",
                     "searches parallelism, pipeline schedule, rematerialisation and microbatch of a training step");
  app.add_subcommand("experiment", "runs the paper's experiments: tables, errors, trends, figures");
}

}  // namespace hespas::cli
