// `hespas explain CODE`: what an error code means, from data/errors.json.
#include <fmt/format.h>

#include "cli/command.h"
#include "driver/error_codes.h"

namespace hespas::cli {

void AddExplainCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "explain", "says what an error or warning code means", "hespas explain E0001");
  auto code = std::make_shared<std::string>();
  command.add_option("CODE", *code, "a code such as E0001 or W0501")->required();
  command.callback([code, &console] {
    const Result<driver::ErrorCode> found = driver::FindErrorCode(*code);
    if (!found) return console.Fail(found.error());
    Print(fmt::format("{}: {}\n", *code, found->explanation));
    if (found->exit_status > 0) Print(fmt::format("Exit status {}.\n", found->exit_status));
  });
}

}  // namespace hespas::cli
