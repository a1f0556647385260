#include <algorithm>
#include <charconv>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/attribute_scan.h"
#include "ir/type.h"

namespace hespas::ir {

using scan::ConsumeWord, scan::FindTopLevel, scan::HexDigit, scan::Inside, scan::IsDigit, scan::IsWord,
    scan::ScanInteger, scan::SkipNumberType, scan::SkipSpace;

namespace {

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
  if (values.size() == 1 && count > kMaxSplat) return false;
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

// "1, 2, 3", as nearly all lists are; false where anything else is there.
bool ScanPlain(std::string_view text, std::vector<int64_t>& out) {
  const char* at = text.data();
  const char* end = at + text.size();
  const auto skip = [&] {
    while (at != end && *at == ' ') ++at;
  };
  for (skip(); at != end; skip()) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || static_cast<int64_t>(out.size()) >= kMaxDecoded) return false;
    out.push_back(value);
    at = next;
    skip();
    if (at == end) return true;
    if (*at++ != ',') return false;
  }
  return out.empty();
}

bool ScanList(std::string_view text, std::vector<int64_t>& out) {
  const bool bracketed = text.starts_with('[') && text.ends_with(']');
  if (ScanPlain(bracketed ? text.substr(1, text.size() - 2) : text, out)) return true;
  out.clear();
  return NestedList{out}.Scan(text);
}

}  // namespace

bool DecodeIntegers(std::string_view text, std::vector<int64_t>& out) {
  constexpr size_t kUsual = 8;
  out.clear();
  out.reserve(kUsual);
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
    return colon == std::string_view::npos || ScanList(text.substr(colon + 1), out);
  }
  if (!text.starts_with('[') && !text.starts_with('{') && !text.starts_with('(')) return false;
  return ScanList(text, out);
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

}  // namespace hespas::ir
