#include "memory/buffers/hlo_aliases.h"

#include <string>

#include "ir/attributes/attribute.h"

namespace hespas::memory {

std::vector<std::pair<int64_t, int64_t>> HloAliases(std::string_view text) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t colon = text.find(':'); colon != std::string_view::npos; colon = text.find(':')) {
    const size_t open = text.rfind('{', colon);
    const size_t bracket = text.find('(', colon);
    if (open == std::string_view::npos || bracket == std::string_view::npos) break;
    const size_t end = text.find_first_of(",)", bracket);
    if (end == std::string_view::npos) break;
    const auto index = ir::AsIntegers("[" + std::string(text.substr(open + 1, text.find('}', open) - open - 1)) + "]");
    const auto operand = ir::AsInteger(ir::Trim(text.substr(bracket + 1, end - bracket - 1)));
    if (!index || !operand) break;
    pairs.emplace_back(index->empty() ? 0 : index->front(), *operand);
    text.remove_prefix(end);
  }
  return pairs;
}

}  // namespace hespas::memory
