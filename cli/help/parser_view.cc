#include "cli/help/parser_view.h"

#include <sstream>

namespace hespas::cli {
namespace {

// Validators made by OneOf carry their words as name.
std::vector<std::string> ChoicesOf(const CLI::Option& option) {
  // Only the mutable look-up by position tells validators apart; nothing is changed.
  auto& open = const_cast<CLI::Option&>(option);
  std::vector<std::string> words;
  try {
    std::istringstream names(open.get_validator(0)->get_name());
    for (std::string word; names >> word;) words.push_back(word);
  } catch (const CLI::OptionNotFound&) {
    return {};
  }
  return words;
}

OptionView View(const CLI::Option& option) {
  OptionView view{.description = option.get_description(),
                  .group = option.get_group(),
                  .choices = ChoicesOf(option),
                  .takes_value = option.get_items_expected_max() > 0,
                  .positional = option.get_positional(),
                  .required = option.get_required()};
  for (const std::string& name : option.get_snames()) view.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) view.names.push_back("--" + name);
  if (view.names.empty()) view.names.push_back(option.get_name(true));
  return view;
}

CommandView View(const CLI::App& app, const std::string& name) {
  CommandView view{.name = name, .description = app.get_description(), .footer = app.get_footer(), .options = {}};
  for (const CLI::Option* option : app.get_options()) view.options.push_back(View(*option));
  return view;
}

}  // namespace

std::vector<CommandView> ViewParser(const CLI::App& app) {
  std::vector<CommandView> views = {View(app, "")};
  for (const CLI::App* command : app.get_subcommands({})) views.push_back(View(*command, command->get_name()));
  return views;
}

}  // namespace hespas::cli
