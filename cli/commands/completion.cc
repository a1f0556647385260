// `hespas completion SHELL` and `hespas man [COMMAND]`: both say what the parser says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <memory>

#include "cli/help/parser_view.h"

namespace hespas::cli {
namespace {

// A placeholder for a value that is a preset's name; completed by asking the program.
std::string PresetCommand(const OptionView& option) {
  for (const std::string& name : option.names) {
    if (name == "--device") return "devices";
    if (name == "--system") return "systems";
  }
  return {};
}

std::string Bash(const std::vector<CommandView>& views) {
  std::string commands;
  std::string cases;
  std::string values;
  for (const CommandView& view : views) {
    std::string words;
    for (const OptionView& option : view.options) {
      if (option.positional) continue;
      for (const std::string& name : option.names) words += name + " ";
      const std::string pattern = fmt::format("{}", fmt::join(option.names, fmt::format("|{}:", view.name)));
      if (!option.choices.empty()) {
        values += fmt::format("    {}:{}) words=\"{}\" ;;\n", view.name, pattern, fmt::join(option.choices, " "));
      } else if (const std::string presets = PresetCommand(option); !presets.empty()) {
        values += fmt::format("    {}:{}) words=$(hespas {} --format csv 2>/dev/null | tail -n +2 | cut -d, -f1) ;;\n",
                              view.name, pattern, presets);
      }
    }
    if (!view.name.empty()) commands += view.name + " ";
    cases += fmt::format("    {}) options=\"{}\" ;;\n", view.name.empty() ? "''" : view.name, words);
  }
  return fmt::format(R"bash(# bash completion for hespas
_hespas() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command='' options='' words=''
  local i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ ${{COMP_WORDS[i]}} != -* ]] && command=${{COMP_WORDS[i]}} && break
  done
  case $command:$before in
{}  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    [[ ${{#COMPREPLY[@]}} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$word"))
    return 0
  fi
  case $command in
{}  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
  elif [[ -z $command ]]; then
    COMPREPLY=($(compgen -W "{}" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _hespas hespas
)bash",
                     values, cases, commands);
}

// A text within single quotes.
std::string Quoted(const std::string& text, bool zsh) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (zsh && (c == '[' || c == ']' || c == ':')) {
      out += std::string("\\") + c;
    } else if (c == '\n') {
      out += ' ';
    } else {
      out += c;
    }
  }
  return out;
}

std::string ZshAction(const OptionView& option) {
  if (!option.takes_value) return "";
  if (!option.choices.empty()) return fmt::format(":word:({})", fmt::join(option.choices, " "));
  if (const std::string presets = PresetCommand(option); !presets.empty()) {
    return fmt::format(":{}:{{_hespas_presets {}}}", option.names.back().substr(2), presets);
  }
  return ":value:_files";
}

std::string Zsh(const std::vector<CommandView>& views) {
  std::string commands;
  std::string cases;
  for (const CommandView& view : views) {
    if (view.name.empty()) continue;
    commands += fmt::format("    '{}:{}'\n", view.name, Quoted(view.description, true));
    cases += fmt::format("    {})\n      _arguments \\\n", view.name);
    for (const OptionView& option : view.options) {
      if (option.positional) continue;
      for (const std::string& name : option.names) {
        cases += fmt::format("        '{}[{}]{}' \\\n", name, Quoted(option.description, true), ZshAction(option));
      }
    }
    cases += "        '*:file:_files' ;;\n";
  }
  return fmt::format(R"zsh(#compdef hespas
_hespas_presets() {{
  local -a names
  names=(${{(f)"$(hespas $1 --format csv 2>/dev/null | tail -n +2 | cut -d, -f1)"}})
  compadd -a names
  _files
}}
_hespas() {{
  local -a commands
  commands=(
{}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{}  esac
}}
_hespas "$@"
)zsh",
                     commands, cases);
}

std::string Fish(const std::vector<CommandView>& views) {
  std::string out = "# fish completion for hespas\n";
  for (const CommandView& view : views) {
    if (view.name.empty()) continue;
    out += fmt::format("complete -c hespas -n __fish_use_subcommand -f -a {} -d '{}'\n", view.name,
                       Quoted(view.description, false));
    for (const OptionView& option : view.options) {
      if (option.positional) continue;
      out += fmt::format("complete -c hespas -n '__fish_seen_subcommand_from {}'", view.name);
      for (const std::string& name : option.names) {
        out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      if (!option.choices.empty()) {
        out += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
      } else if (const std::string presets = PresetCommand(option); !presets.empty()) {
        out += fmt::format(" -r -a '(hespas {} --format csv 2>/dev/null | tail -n +2 | cut -d, -f1)'", presets);
      } else if (option.takes_value) {
        out += " -r";
      }
      out += fmt::format(" -d '{}'\n", Quoted(option.description, false));
    }
  }
  return out;
}

std::string Roff(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool line_start = i == 0 || text[i - 1] == '\n';
    if (line_start && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\') {
      out += "\\e";
    } else if (text[i] == '-') {
      out += "\\-";
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string RoffOption(const OptionView& option) {
  std::string out = fmt::format(".TP\n\\fB{}\\fR", Roff(fmt::format("{}", fmt::join(option.names, ", "))));
  if (option.takes_value && !option.positional) {
    out += option.choices.empty() ? " \\fIVALUE\\fR" : " " + Roff(fmt::format("{}", fmt::join(option.choices, "|")));
  }
  return out + "\n" + Roff(option.description) + "\n";
}

}  // namespace

std::string Completion(const CLI::App& app, const std::string& shell) {
  const std::vector<CommandView> views = ViewParser(app);
  return shell == "bash" ? Bash(views) : shell == "zsh" ? Zsh(views) : Fish(views);
}

std::string ManualPage(const CLI::App& app, const std::string& command) {
  const std::vector<CommandView> views = ViewParser(app);
  const auto found = std::find_if(views.begin(), views.end(), [&](const auto& view) { return view.name == command; });
  const CommandView& view = found == views.end() ? views.front() : *found;
  const std::string name = view.name.empty() ? "hespas" : "hespas-" + view.name;
  std::string upper = name;
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  std::string out =
      fmt::format(".TH {} 1 \"\" \"hespas {}\" \"User Commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n\\fBhespas {}\\fR",
                  Roff(upper), HESPAS_VERSION, Roff(name), Roff(view.description),
                  view.name.empty() ? "\\fICOMMAND\\fB" : view.name);
  out += " [\\fIOPTIONS\\fR]";
  for (const OptionView& option : view.options) {
    if (option.positional) out += fmt::format(" \\fI{}\\fR", Roff(option.names[0]));
  }
  out += "\n";
  if (view.name.empty()) {
    out += ".SH COMMANDS\n";
    for (const CommandView& sub : views) {
      if (!sub.name.empty()) out += fmt::format(".TP\n\\fBhespas\\-{}\\fR(1)\n{}\n", sub.name, Roff(sub.description));
    }
  }
  out += ".SH OPTIONS\n";
  for (const OptionView& option : view.options) out += RoffOption(option);
  if (!view.footer.empty())
    out += ".SH EXAMPLE\n.nf\n" + Roff(view.footer.substr(view.footer.find('\n') + 1)) + "\n.fi\n";
  out +=
      ".SH EXIT STATUS\n0 done, 1 the input has errors, 2 wrong usage, 3 something unsupported, 4 the simulated system "
      "cannot "
      "run, 5 an external tool failed, 6 a comparison missed its bound, 70 internal error, 130 interrupted.\n";
  return out;
}

void AddCompletionCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "completion", "prints the completion script of a shell",
                                 "hespas completion bash > ~/.local/share/bash-completion/completions/hespas");
  auto shell = std::make_shared<std::string>();
  command.add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(OneOf({"bash", "zsh", "fish"}));
  command.callback([shell, &app] { Print(Completion(app, *shell)); });
}

void AddManCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "man", "prints the manual page of a command (roff)", "hespas man run | man -l -");
  auto name = std::make_shared<std::string>();
  command.add_option("COMMAND", *name, "a command; nothing: the page of hespas itself");
  command.callback([name, &app, &console] {
    const auto views = ViewParser(app);
    const bool known = std::any_of(views.begin(), views.end(), [&](const auto& view) { return view.name == *name; });
    if (known) return Print(ManualPage(app, *name));
    console.Fail(
        MakeError(kNoSuchCommand, fmt::format("there is no command `{}`", *name), {}, "`hespas -h` lists them"));
  });
}

}  // namespace hespas::cli
