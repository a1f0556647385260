#include "ir/attributes/attribute.h"

#include <algorithm>
#include <charconv>

#include "ir/attributes/attribute_scan.h"

namespace hespas::ir {

using scan::FindTopLevel, scan::HexDigit, scan::Inside, scan::IsOpening, scan::IsSpace, scan::IsWord, scan::ScanInteger,
    scan::SkipNumberType, scan::SkipSpace, scan::SkipString;

std::string_view Trim(std::string_view text) {
  text.remove_prefix(SkipSpace(text, 0));
  while (!text.empty() && IsSpace(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> AsInteger(std::string_view text) {
  text = Trim(text);
  if (text.starts_with("dense") || text.starts_with("array")) {
    const auto values = AsIntegers(text);
    return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
  }
  size_t at = 0;
  int64_t value = 0;
  if (!ScanInteger(text, at, value)) return std::nullopt;
  at = SkipSpace(text, SkipNumberType(text, at));
  return at == text.size() ? std::optional(value) : std::nullopt;
}

std::optional<bool> AsBool(std::string_view text) {
  text = Trim(text);
  if (text.empty() || text == "unit") return true;
  const auto value = AsInteger(text);
  return value && (*value == 0 || *value == 1) ? std::optional(*value == 1) : std::nullopt;
}

std::optional<double> AsFloat(std::string_view text) {
  text = Trim(text);
  const size_t end = std::min(text.find_first_of(" :\t\n"), text.size());
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + end, value);
  if (error != std::errc() || stop != text.data() + end) return std::nullopt;
  return value;
}

std::optional<std::string> AsString(std::string_view text) {
  text = Trim(text);
  if (text.empty() || text[0] != '"') return std::nullopt;
  std::string out;
  out.reserve(text.size());
  for (size_t at = 1; at < text.size(); ++at) {
    const size_t plain = at;
    while (at < text.size() && text[at] != '"' && text[at] != '\\') ++at;
    out += text.substr(plain, at - plain);
    if (at == text.size()) break;
    if (text[at] == '"') return out;
    if (at + 1 >= text.size()) break;
    const char c = text[++at];
    const int high = HexDigit(c);
    const int low = at + 1 < text.size() ? HexDigit(text[at + 1]) : -1;
    if (c == 'n' || c == 't') {
      out += c == 'n' ? '\n' : '\t';
    } else if (high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      ++at;
    } else {
      out += c;
    }
  }
  return std::nullopt;
}

std::string_view AsSymbol(std::string_view text) {
  text = Trim(text);
  if (!text.starts_with('@')) return {};
  if (text.size() > 1 && text[1] == '"') {
    const size_t end = SkipString(text, 1);
    return end - 2 >= 1 && text[end - 1] == '"' && end > 3 ? text.substr(2, end - 3) : std::string_view();
  }
  size_t end = 1;
  while (end < text.size() && (IsWord(text[end]) || text[end] == '-')) ++end;
  return text.substr(1, end - 1);
}

std::string_view AsEnum(std::string_view text) {
  text = Trim(text);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') return text.substr(1, text.size() - 2);
  if (text.starts_with('#') || text.starts_with('<')) {
    const size_t open = text.find('<');
    if (open == std::string_view::npos) return {};
    text = Trim(Inside(text, open));
    if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  }
  size_t begin = text.size();
  while (begin > 0 && IsWord(text[begin - 1])) --begin;
  return text.substr(begin);
}

namespace {

constexpr size_t kUsualItems = 8;

// Ends where the bracket that the list starts with is closed.
template <class Visit>
void ForEachItem(std::string_view text, const Visit& visit) {
  text = Trim(text);
  const bool has_bracket = !text.empty() && IsOpening(text[0]);
  size_t at = SkipSpace(text, has_bracket ? 1 : 0);
  while (at < text.size()) {
    const size_t end = FindTopLevel(text, at, ',');
    if (has_bracket && end == at && text[at] != ',') break;
    visit(Trim(text.substr(at, end - at)));
    if (end >= text.size() || text[end] != ',') break;
    at = SkipSpace(text, end + 1);
  }
}

}  // namespace

std::vector<std::string_view> ListItems(std::string_view text) {
  std::vector<std::string_view> items;
  items.reserve(kUsualItems);
  ForEachItem(text, [&](std::string_view item) { items.push_back(item); });
  return items;
}

std::vector<Entry> Entries(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('#')) text = text.substr(std::min(text.find('<'), text.size()));
  std::vector<Entry> entries;
  entries.reserve(kUsualItems);
  ForEachItem(text, [&](std::string_view item) {
    const size_t equals = FindTopLevel(item, 0, '=');
    Entry entry{.name = Trim(item.substr(0, equals))};
    if (equals < item.size()) entry.value = Trim(item.substr(equals + 1));
    if (entry.name.size() >= 2 && entry.name.front() == '"' && entry.name.back() == '"') {
      entry.name = entry.name.substr(1, entry.name.size() - 2);
    }
    entries.push_back(entry);
  });
  return entries;
}

std::optional<std::string_view> FindEntry(const std::vector<Entry>& entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace hespas::ir
