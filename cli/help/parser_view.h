// The parser as data, for completions and manual pages.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace hespas::cli {

inline constexpr DiagnosticKind kNoSuchCommand{"E0972", "There is no command of that name. `hespas -h` lists them.",
                                               Outcome::kUsage};

struct OptionView {
  std::vector<std::string> names;  // "-q", "--quiet"; of a positional argument its name alone
  std::string description;
  std::string group;
  std::vector<std::string> choices;  // words it accepts; empty: any
  bool takes_value = false;
  bool positional = false;
  bool required = false;
};

struct CommandView {
  std::string name;  // "run"; empty for the program itself
  std::string description;
  std::string footer;  // the example
  std::vector<OptionView> options;
};

// The program first, then its commands in the parser's order.
std::vector<CommandView> ViewParser(const CLI::App& app);

// "bash", "zsh" or "fish".
std::string Completion(const CLI::App& app, const std::string& shell);

// The manual page of the program (`command` empty) or of one command, in roff.
std::string ManualPage(const CLI::App& app, const std::string& command);

void AddCompletionCommand(CLI::App& app, Console& console);
void AddManCommand(CLI::App& app, Console& console);

}  // namespace hespas::cli
