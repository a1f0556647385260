#include "cli/export.h"

#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "base/process.h"
#include "hardware/presets.h"

namespace hespas::cli {
namespace {

inline constexpr DiagnosticKind kNoExporter{
    "E0918",
    "`hespas export` is a Python program that ships with the source tree and with the Python package, and needs a "
    "Python 3.11 or newer. Install the package (pip install 'hespas[export]') or run it from the tree.",
    Outcome::kCannotRun};

// Only returns where there is nothing to become.
Error Become(const std::vector<std::string>& arguments) {
  const auto data = hardware::DataFolder();
  if (!data) return data.error();
  const std::filesystem::path script = data->parent_path() / "python" / "export" / "export.py";
  const std::string python = FindProgram({"python3"});
  std::error_code error;
  if (!std::filesystem::exists(script, error) || python.empty()) {
    return MakeError(kNoExporter,
                     python.empty() ? "there is no python3" : fmt::format("there is no `{}`", script.string()), {},
                     "pip install 'hespas[export]'");
  }
  std::vector<std::string> words{python, script.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  execv(python.c_str(), pointers.data());
  return MakeError(kNoExporter, fmt::format("`{}` could not be started", python));
}

}  // namespace

int Export(const std::vector<std::string>& arguments, Console& console) {
  console.Fail(Become(arguments));
  return console.exit_status;
}

// Only for the list of commands: the exporter parses its options, --help included, itself.
void AddExportCommand(CLI::App& app, Console&) {
  app.add_subcommand("export", "makes programs of JAX functions and ready configurations, without accelerators");
}

}  // namespace hespas::cli
