#include "cli/help/short_help.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "cli/command.h"

namespace hespas::cli {
namespace {

// Of all options these matter to most who ask; in this order.
constexpr std::string_view kMainOptions[] = {
    "--device",  "--system", "--find",     "--until", "--retarget", "--num-npus", "--estimator", "--optimise", "--set",
    "--explain", "--price",  "--minimise", "--model", "--measured", "--output",   "--format",    "--threads"};
constexpr size_t kShown = 10;
constexpr size_t kNameColumns = 24;

size_t PlaceOf(const CLI::Option& option) {
  const auto place = std::ranges::find_if(
      kMainOptions, [&](std::string_view name) { return option.check_lname(std::string(name.substr(2))); });
  return static_cast<size_t>(place - std::begin(kMainOptions));
}

// At most ten, those of the list first.
std::vector<const CLI::Option*> MainOptions(const CLI::App& command) {
  std::vector<const CLI::Option*> options;
  for (const CLI::Option* option : command.get_options()) {
    const bool help = option == command.get_help_ptr() || option == command.get_help_all_ptr();
    if (!option->get_positional() && !help && option->get_group() != kCommonGroup) options.push_back(option);
  }
  std::ranges::stable_sort(options, {}, [](const CLI::Option* option) { return PlaceOf(*option); });
  if (options.size() > kShown) options.resize(kShown);
  return options;
}

std::string OptionLine(const CLI::Option& option) {
  std::string name = option.get_positional()       ? option.get_name(true)
                     : option.get_lnames().empty() ? option.get_name()
                                                   : "--" + option.get_lnames().front();
  if (!option.get_positional() && option.get_items_expected_max() > 0) name += " ...";
  return fmt::format("  {:<{}}  {}\n", name, kNameColumns, option.get_description());
}

std::string Commands(const CLI::App& app) {
  std::string out = "Usage: hespas COMMAND [OPTIONS]\n\nCommands:\n";
  for (const CLI::App* sub : app.get_subcommands({}))
    out += fmt::format("  {:<10} {}\n", sub->get_name(), sub->get_description());
  return out + "\n" + app.get_footer() + "\n`hespas COMMAND -h` shows an example, `--help` every option.\n";
}

}  // namespace

std::string Guide() {
  return R"(Hespas predicts how fast a distributed machine-learning program runs, and why.

  hespas run PROGRAM --device H100           step time, throughput, MFU, memory
  hespas run PROGRAM --device H100 --output out      the same as out/report.html
  hespas run PROGRAM --device H100 --retarget 512          on so many devices
  hespas explain PROGRAM --device H100       what the step waits for
  hespas compare PROGRAM --device H100,B200_180GB    what changes, kernel by kernel
  hespas solve PROGRAM --device H100 --find system.bandwidth --until "mfu > 40 %"
  hespas devices                             accelerators; hespas systems: networks

PROGRAM is StableHLO or HLO, as JAX and XLA write it. A first one to try:

  hespas run examples/llama3-100m-4dev.mlir.gz --device A100_SXM_40GB

`hespas -h` lists all commands, `hespas COMMAND -h` shows the options that matter.
)";
}

std::string ShortHelp(const CLI::App& app, const CLI::App& command) {
  std::string out = fmt::format("{}\n", command.get_description());
  if (&command == &app) return out + Commands(app);
  out += fmt::format("Usage: hespas {} [OPTIONS]", command.get_name());
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) out += " " + option->get_name(true);
  }
  out += "\n\n";
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) out += OptionLine(*option);
  }
  const std::vector<const CLI::Option*> options = MainOptions(command);
  for (const CLI::Option* option : options) out += OptionLine(*option);
  return out + (options.empty() ? "" : "\n") + command.get_footer() + "\n`--help` lists every option.\n";
}

}  // namespace hespas::cli
