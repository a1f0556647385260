#include "cli/command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>

#include "base/system/file.h"
#include "base/text/suggest.h"
#include "cli/log.h"
#include "cli/options/limits.h"

namespace hespas::cli {
namespace {

// Equal warnings are shown once with their number.
constexpr size_t kShownPerCode = 3;

}  // namespace

bool Console::UseColour(int descriptor) const {
  if (colour == "always") return true;
  if (colour == "never") return false;
  const char* no_colour = std::getenv("NO_COLOR");
  return (no_colour == nullptr || *no_colour == '\0') && isatty(descriptor) != 0;
}

void Console::Fail(const Error& error) {
  fmt::print(stderr, "{}", Render(error, UseColour()));
  exit_status = static_cast<int>(error.kind->outcome);
}

bool Console::PrintDiagnostics() {
  std::map<std::string_view, size_t> warnings;
  for (const Diagnostic& d : diagnostics.all()) {
    if (!d.is_warning()) {
      Fail(d);
    } else if (!quiet && ++warnings[d.kind->code] <= kShownPerCode) {
      fmt::print(stderr, "{}", Render(d, UseColour()));
    }
  }
  for (const auto& [code, count] : warnings) {
    if (count > kShownPerCode) fmt::print(stderr, "{}: {} more like this\n", code, count - kShownPerCode);
  }
  const size_t errors = diagnostics.error_count();
  if (errors > Diagnostics::kErrorLimit) fmt::print(stderr, "{} errors in all\n", errors);
  diagnostics = Diagnostics();
  return errors > 0;
}

CLI::Validator OneOf(std::vector<std::string> names) {
  const std::string words = fmt::format("{}", fmt::join(names, " "));  // where completions find them
  return CLI::Validator(
      [names = std::move(names)](const std::string& word) {
        if (std::find(names.begin(), names.end(), word) != names.end()) return std::string();
        return fmt::format("`{}` is none of {}{}", word, fmt::join(names, ", "),
                           DidYouMean(word, names).empty() ? "" : "; " + DidYouMean(word, names));
      },
      "", words);
}

namespace {

CLI::Validator NumberIf(bool (*accepted)(double), const char* wanted) {
  return {[=](std::string& text) {
            double value = 0;
            const bool is_number = CLI::detail::lexical_cast(text, value);
            return is_number && accepted(value) ? "" : fmt::format("`{}` is not {}", text, wanted);
          },
          ""};
}

}  // namespace

CLI::Validator Positive() {
  return NumberIf([](double value) { return value > 0; }, "a number above 0");
}

CLI::Validator NonNegative() {
  return NumberIf([](double value) { return value >= 0; }, "a number of 0 or more");
}

OptionGroup::OptionGroup(CLI::App& command, std::string name)
    : command_(command), name_(std::move(name)), first_(command.get_options().size()) {}

OptionGroup::~OptionGroup() {
  const std::string ungrouped = command_.get_help_ptr()->get_group();
  const std::vector<CLI::Option*> options = command_.get_options();
  for (size_t i = first_; i < options.size(); ++i) {
    if (options[i]->get_group() == ungrouped && !options[i]->get_positional()) options[i]->group(name_);
  }
}

void AddCommonOptions(CLI::App& command, Console& console) {
  command.add_option("--color", console.colour, "colour of messages: auto, always or never (NO_COLOR is honoured)")
      ->check(OneOf({"auto", "always", "never"}))
      ->group(kCommonGroup);
  command.add_flag("-q,--quiet", console.quiet, "no progress and no warnings")->group(kCommonGroup);
  command
      .add_option("--log-level", console.log_level,
                  "lowest level that is logged: debug, info (stages and their times), warning, ...")
      ->check(OneOf({"critical", "error", "warning", "info", "debug", "progress", "results"}))
      ->group(kCommonGroup);
  command.add_option("--log-path", console.log_path, "append the log to this file instead of stderr")
      ->group(kCommonGroup);
  AddLimitOptions(command);
}

Format FormatByName(const std::string& name) {
  static const std::map<std::string, Format> kFormats = {{"table", Format::kTable},
                                                         {"json", Format::kJson},
                                                         {"jsonl", Format::kJsonLines},
                                                         {"csv", Format::kCsv},
                                                         {"md", Format::kMarkdown}};
  return kFormats.at(name);
}

void AddFormatOption(CLI::App& command, Format& format) {
  command
      .add_option_function<std::string>(
          "--format", [&format](const std::string& name) { format = FormatByName(name); },
          "what goes to stdout: table, json, jsonl, csv or md")
      ->check(OneOf({"table", "json", "jsonl", "csv", "md"}))
      ->default_str("table");
}

CLI::App& AddCommand(CLI::App& app, Console& console, const std::string& name, const std::string& description,
                     const std::string& example) {
  CLI::App& command = *app.add_subcommand(name, description);
  command.set_help_flag("-h", "short help with an example");
  command.set_help_all_flag("--help", "this text");
  command.footer("Example:\n  " + example);
  AddCommonOptions(command, console);
  command.parse_complete_callback([&console] {
    if (const Status status = StartLog(console.log_level, console.log_path); !status) {
      console.Fail(status.error());
      throw CLI::RuntimeError(console.exit_status);
    }
  });
  return command;
}

void Print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) std::exit(0);  // nobody reads any more
  const Error error =
      MakeError(kCannotWrite, fmt::format("cannot write the standard output: {}", std::strerror(errno)));
  fmt::print(stderr, "{}", Render(error));
  std::exit(static_cast<int>(error.kind->outcome));
}

}  // namespace hespas::cli
