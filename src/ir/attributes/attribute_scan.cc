#include "ir/attributes/attribute_scan.h"

#include <algorithm>
#include <charconv>

#include "ir/attributes/attribute.h"

namespace hespas::ir::scan {
namespace {

// Characters that FindTopLevel has to look at.
constexpr std::array<bool, 256> kNotable = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("[](){}<>\"/,=")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// The first `stop` (a comma, an equals sign or none) outside brackets and strings, from `at`; the end, or a bracket
// that closes more than was opened.
}  // namespace

size_t SkipSpace(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (IsSpace(text[at])) {
      ++at;
    } else if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
    } else {
      break;
    }
  }
  return at;
}

size_t SkipString(std::string_view text, size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

size_t FindTopLevel(std::string_view text, size_t at, char stop) {
  size_t depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (!kNotable[static_cast<unsigned char>(c)]) {
      ++at;
      continue;
    }
    if (depth == 0 && c == stop) return at;
    if (c == '"') {
      at = SkipString(text, at);
      continue;
    }
    if (c == '/' && text.substr(at, 2) == "//") {
      at = SkipSpace(text, at);
      continue;
    }
    if (IsOpening(c)) ++depth;
    if (IsClosing(c) && !(c == '>' && at > 0 && text[at - 1] == '-')) {
      if (depth == 0) return at;
      --depth;
    }
    ++at;
  }
  return text.size();
}

std::string_view Inside(std::string_view text, size_t at) {
  if (at >= text.size()) return {};
  const size_t end = FindTopLevel(text, at + 1, '\0');
  return text.substr(at + 1, end - at - 1);
}

bool ConsumeWord(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  if (text.size() > word.size() && IsWord(text[word.size()])) return false;
  text = Trim(text.substr(word.size()));
  return true;
}

bool ScanInteger(std::string_view text, size_t& at, int64_t& value) {
  const bool negative = at < text.size() && text[at] == '-';
  size_t from = negative ? SkipSpace(text, at + 1) : at;
  const std::string_view rest = text.substr(from);
  if (!negative && (rest.starts_with("true") || rest.starts_with("false"))) {
    value = rest[0] == 't';
    at = from + (value ? 4 : 5);
    return at >= text.size() || !IsWord(text[at]);
  }
  const bool hex = rest.starts_with("0x") || rest.starts_with("0X");
  if (hex) from += 2;
  uint64_t magnitude = 0;
  const char* const begin = text.data() + from;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), magnitude, hex ? 16 : 10);
  if (error != std::errc() || end == begin) return false;
  if (!hex && magnitude > uint64_t{1} << 63) return false;
  value = static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  at = from + static_cast<size_t>(end - begin);
  return at >= text.size() || !IsWord(text[at]);
}

size_t SkipNumberType(std::string_view text, size_t at) {
  const size_t colon = SkipSpace(text, at);
  if (colon >= text.size() || text[colon] != ':') return at;
  at = SkipSpace(text, colon + 1);
  while (at < text.size() && IsWord(text[at])) ++at;
  return at;
}

}  // namespace hespas::ir::scan
