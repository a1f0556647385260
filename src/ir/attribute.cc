#include "ir/attribute.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/units.h"
#include "ir/type.h"

namespace hespas::ir {
namespace {

constexpr bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
}
constexpr bool IsOpening(char c) { return c == '[' || c == '(' || c == '{' || c == '<'; }
constexpr bool IsClosing(char c) { return c == ']' || c == ')' || c == '}' || c == '>'; }

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

// Past the closing quote of the string that opens at `at`.
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

// Characters that FindTopLevel has to look at.
constexpr std::array<bool, 256> kNotable = [] {
  std::array<bool, 256> table{};
  for (const char c : std::string_view("[](){}<>\"/,=")) table[static_cast<unsigned char>(c)] = true;
  return table;
}();

// The first `stop` (a comma, an equals sign or none) outside brackets and strings, from `at`; the end, or a bracket
// that closes more than was opened.
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

// The inside of the bracket pair that opens at `at`.
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

// Reads one integer or boolean and moves `at` past it.
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

// Skips the ` : i64` that may follow a number.
size_t SkipNumberType(std::string_view text, size_t at) {
  const size_t colon = SkipSpace(text, at);
  if (colon >= text.size() || text[colon] != ':') return at;
  at = SkipSpace(text, colon + 1);
  while (at < text.size() && IsWord(text[at])) ++at;
  return at;
}

// Integers of a comma list in any nesting of brackets. Row lengths are those of the innermost lists.
struct NestedList {
  std::vector<int64_t>& values;
  std::vector<int64_t>* row_sizes = nullptr;

  bool Scan(std::string_view text) {
    int64_t open_row = -1;
    for (size_t at = SkipSpace(text, 0); at < text.size(); at = SkipSpace(text, at)) {
      const char c = text[at];
      if (c == '[' || c == '{' || c == '(') {
        open_row = static_cast<int64_t>(values.size());
        ++at;
      } else if (c == ']' || c == '}' || c == ')') {
        if (open_row >= 0 && row_sizes) row_sizes->push_back(static_cast<int64_t>(values.size()) - open_row);
        open_row = -1;
        ++at;
      } else if (c == ',') {
        ++at;
      } else {
        int64_t value = 0;
        if (!ScanInteger(text, at, value) || static_cast<int64_t>(values.size()) >= kMaxDecoded) return false;
        at = SkipNumberType(text, at);
        values.push_back(value);
      }
    }
    return true;
  }
};

int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Bytes that one element of an integer type takes in a hex blob; 0 where it is no integer type.
size_t IntegerBytes(std::string_view element) {
  if (element == "index") return 8;
  while (!element.empty() && (element[0] == 's' || element[0] == 'u')) element.remove_prefix(1);
  if (!element.starts_with('i')) return 0;
  size_t at = 1;
  int64_t bits = 0;
  if (!ScanInteger(element, at, bits) || at != element.size() || bits < 1 || bits > 64) return 0;
  return static_cast<size_t>(bits + 7) / 8;
}

// Little-endian integers of a hex blob.
bool ScanHex(std::string_view digits, std::string_view element, std::vector<int64_t>& values) {
  const size_t width = IntegerBytes(element);
  if (width == 0 || digits.size() % (2 * width) != 0) return false;
  if (static_cast<int64_t>(digits.size() / (2 * width)) > kMaxDecoded) return false;
  for (size_t at = 0; at < digits.size(); at += 2 * width) {
    uint64_t value = 0;
    for (size_t byte = width; byte-- > 0;) {
      const int high = HexDigit(digits[at + 2 * byte]);
      const int low = HexDigit(digits[at + 2 * byte + 1]);
      if (high < 0 || low < 0) return false;
      value = (value << 8) | static_cast<uint64_t>(high * 16 + low);
    }
    const size_t shift = 64 - 8 * width;
    values.push_back(static_cast<int64_t>(value << shift) >> shift);
  }
  return true;
}

// Values of a dense attribute; `dims` receives its shape.
bool ScanDense(const DenseInfo& dense, std::vector<int64_t>& dims, std::vector<int64_t>& values) {
  const auto shape = AsShape(dense.type);
  if (!shape || dense.form == DenseForm::kResource) return false;
  dims = shape->dims;
  int64_t count = 1;
  for (const int64_t d : dims) {
    if (d < 0) return false;
    count = internal::SaturatingMultiply(count, d);
  }
  if (count > kMaxDecoded) return false;
  if (dense.form == DenseForm::kHex) {
    if (!ScanHex(dense.payload, shape->element, values)) return false;
  } else if (!NestedList{values}.Scan(dense.payload)) {
    return false;
  }
  if (values.size() == 1) values.resize(static_cast<size_t>(count), int64_t{values[0]});
  return static_cast<int64_t>(values.size()) == count;
}

// Where the `>` stands that ends the payload of `dense<...> : type`, found from the right because payloads are long.
size_t PayloadEnd(std::string_view text) {
  for (size_t colon = text.rfind(':'); colon != std::string_view::npos && colon > 0;
       colon = text.rfind(':', colon - 1)) {
    const std::string_view type = text.substr(std::min(text.find_first_not_of(" \t\r\n", colon + 1), text.size()));
    if (type.starts_with("tensor<") || type.starts_with("vector<") || type.starts_with("memref<") ||
        type.starts_with('!')) {
      const size_t end = text.find_last_not_of(" \t\r\n", colon - 1);
      if (end != std::string_view::npos && text[end] == '>') return end;
    }
  }
  return std::string_view::npos;
}

}  // namespace

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
  for (size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '"') return out;
    if (text[at] != '\\' || at + 1 >= text.size()) {
      out += text[at];
      continue;
    }
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

bool DecodeIntegers(std::string_view text, std::vector<int64_t>& out) {
  out.clear();
  text = Trim(text);
  if (text.starts_with("dense")) {
    const auto dense = AsDense(text);
    std::vector<int64_t> dims;
    return dense && ScanDense(*dense, dims, out);
  }
  if (ConsumeWord(text, "array")) {
    if (!text.starts_with('<') || !text.ends_with('>')) return false;
    text = text.substr(1, text.size() - 2);
    const size_t colon = text.find(':');
    return colon == std::string_view::npos || NestedList{out}.Scan(text.substr(colon + 1));
  }
  if (!text.starts_with('[') && !text.starts_with('{') && !text.starts_with('(')) return false;
  return NestedList{out}.Scan(text);
}

std::optional<std::vector<int64_t>> AsIntegers(std::string_view text) {
  std::vector<int64_t> out;
  if (!DecodeIntegers(text, out)) return std::nullopt;
  return out;
}

std::optional<IntegerMatrix> AsIntegerMatrix(std::string_view text) {
  text = Trim(text);
  IntegerMatrix matrix;
  if (text.starts_with("dense")) {
    const auto dense = AsDense(text);
    std::vector<int64_t> dims;
    if (!dense || !ScanDense(*dense, dims, matrix.values) || dims.size() != 2) return std::nullopt;
    if (dims[0] > kMaxDecoded || dims[1] > kMaxDecoded) return std::nullopt;
    matrix.rows = dims[0];
    matrix.columns = dims[1];
    return matrix;
  }
  if (!text.starts_with('[') && !text.starts_with('{')) return std::nullopt;
  std::vector<int64_t> values;
  std::vector<int64_t> sizes;
  if (!NestedList{values, &sizes}.Scan(text)) return std::nullopt;
  if (values.empty()) return matrix;
  matrix.rows = static_cast<int64_t>(sizes.size());
  for (const int64_t size : sizes) matrix.columns = std::max(matrix.columns, size);
  if (internal::SaturatingMultiply(matrix.rows, matrix.columns) > kMaxDecoded) return std::nullopt;
  matrix.values.reserve(static_cast<size_t>(matrix.rows * matrix.columns));
  size_t next = 0;
  for (const int64_t size : sizes) {
    for (int64_t i = 0; i < matrix.columns; ++i) {
      matrix.values.push_back(i < size && next < values.size() ? values[next++] : -1);
    }
  }
  return next == values.size() ? std::optional(std::move(matrix)) : std::nullopt;
}

std::optional<ShapeText> AsShape(std::string_view text) {
  text = Trim(text);
  ShapeText shape;
  if (!text.starts_with("tensor<") && !text.starts_with("vector<") && !text.starts_with("memref<")) {
    if (text.empty() || !IsWord(text[0])) return std::nullopt;
    shape.element = text;
    return shape;
  }
  std::string_view inside = Inside(text, text.find('<'));
  inside = Trim(inside.substr(0, FindTopLevel(inside, 0, ',')));
  while (true) {
    size_t at = 0;
    int64_t size = kDynamic;
    if (inside.starts_with('?')) {
      at = 1;
    } else {
      const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), size);
      if (error != std::errc() || size < 0) break;
      at = static_cast<size_t>(end - inside.data());
    }
    at = SkipSpace(inside, at);
    if (at >= inside.size() || inside[at] != 'x') return std::nullopt;
    shape.dims.push_back(size);
    inside.remove_prefix(SkipSpace(inside, at + 1));
  }
  if (inside.empty() || inside[0] == '*') return std::nullopt;
  shape.element = inside;
  return shape;
}

std::optional<DenseInfo> AsDense(std::string_view text) {
  text = Trim(text);
  DenseInfo info;
  const bool resource = ConsumeWord(text, "dense_resource");
  if (resource || ConsumeWord(text, "dense")) {
    const size_t end = PayloadEnd(text);
    if (!text.starts_with('<') || end == std::string_view::npos) return std::nullopt;
    info.payload = Trim(text.substr(1, end - 1));
    info.type = Trim(text.substr(text.find(':', end) + 1));
    info.form = resource                           ? DenseForm::kResource
                : info.payload.empty()             ? DenseForm::kEmpty
                : info.payload.front() == '['      ? DenseForm::kList
                : info.payload.starts_with("\"0x") ? DenseForm::kHex
                                                   : DenseForm::kSplat;
    if (info.form == DenseForm::kHex) {
      if (info.payload.size() < 4 || info.payload.back() != '"') return std::nullopt;
      info.payload = info.payload.substr(3, info.payload.size() - 4);
    }
    return info;
  }
  if (ConsumeWord(text, "array")) {
    if (!text.starts_with('<') || !text.ends_with('>')) return std::nullopt;
    text = text.substr(1, text.size() - 2);
    const size_t colon = std::min(text.find(':'), text.size());
    info.type = Trim(text.substr(0, colon));
    info.payload = colon < text.size() ? Trim(text.substr(colon + 1)) : std::string_view();
    info.form = info.payload.empty() ? DenseForm::kEmpty : DenseForm::kList;
    return info;
  }
  const size_t colon = text.find(':');
  info.payload = Trim(text.substr(0, colon));
  if (info.payload.empty() ||
      (!IsDigit(info.payload[0]) && info.payload[0] != '-' && info.payload != "true" && info.payload != "false")) {
    return std::nullopt;
  }
  info.type = colon == std::string_view::npos ? std::string_view() : Trim(text.substr(colon + 1));
  info.form = DenseForm::kSplat;
  return info;
}

std::vector<std::string_view> ListItems(std::string_view text) {
  text = Trim(text);
  if (!text.empty() && IsOpening(text[0])) text = Inside(text, 0);
  std::vector<std::string_view> items;
  size_t at = SkipSpace(text, 0);
  while (at < text.size()) {
    const size_t end = FindTopLevel(text, at, ',');
    items.push_back(Trim(text.substr(at, end - at)));
    if (end >= text.size() || text[end] != ',') break;
    at = SkipSpace(text, end + 1);
  }
  return items;
}

std::vector<Entry> Entries(std::string_view text) {
  text = Trim(text);
  if (text.starts_with('#')) text = text.substr(std::min(text.find('<'), text.size()));
  std::vector<Entry> entries;
  for (const std::string_view item : ListItems(text)) {
    const size_t equals = FindTopLevel(item, 0, '=');
    Entry entry{.name = Trim(item.substr(0, equals))};
    if (equals < item.size()) entry.value = Trim(item.substr(equals + 1));
    if (entry.name.size() >= 2 && entry.name.front() == '"' && entry.name.back() == '"') {
      entry.name = entry.name.substr(1, entry.name.size() - 2);
    }
    entries.push_back(entry);
  }
  return entries;
}

std::optional<std::string_view> FindEntry(const std::vector<Entry>& entries, std::string_view name) {
  for (const Entry& entry : entries) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

}  // namespace hespas::ir
