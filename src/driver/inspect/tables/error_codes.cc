#include "driver/inspect/tables/error_codes.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "base/system/file.h"
#include "base/text/json.h"
#include "base/text/suggest.h"
#include "hardware/presets.h"

namespace hespas::driver {

Result<ErrorCode> FindErrorCode(const std::string& code) {
  const auto folder = hardware::DataFolder();
  if (!folder) return folder.error();
  const auto text = ReadInput((*folder / "errors.json").string());
  if (!text) return text.error();
  const auto json = ReadJson(*text);
  const auto codes = json.find("codes");
  if (json.is_discarded() || codes == json.end()) {
    return MakeError(kCannotRead, "the installed errors.json is damaged", {}, "install Hespas again");
  }
  const auto found = codes->find(code);
  if (found == codes->end()) {
    std::vector<std::string> known;
    for (const auto& [name, entry] : codes->items()) known.push_back(name);
    return MakeError(kUnknownErrorCode, fmt::format("no error code `{}`", code), {}, DidYouMean(code, known));
  }
  return ErrorCode{found->value("explanation", ""), found->value("exit_status", 0)};
}

}  // namespace hespas::driver
