#include "ir/attributes/dense_text.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <vector>

#include "base/units.h"
#include "ir/attributes/float_text.h"

namespace hespas::ir {
namespace {

constexpr size_t kMaxListed = 100;  // MLIR prints longer lists in hexadecimal

bool IsDelimiter(char c) {
  return c == ' ' || c == ',' || c == '\n' || c == '\t' || c == '\r' || c == '[' || c == ']' || c == '(' || c == ')';
}

// How the components of an element are stored.
struct Storage {
  bool is_integer = false;
  bool is_unsigned = false;
  int bits = 0;
  size_t bytes = 0;
  FloatLayout layout{};
};

std::optional<Storage> StorageOf(const Element& element) {
  Storage s;
  switch (element.kind) {
    case ElementKind::kInteger:
    case ElementKind::kSigned:
    case ElementKind::kUnsigned:
    case ElementKind::kIndex:
      s.is_integer = true;
      s.is_unsigned = element.kind == ElementKind::kUnsigned;
      s.bits = element.kind == ElementKind::kIndex ? 64 : element.bits;
      break;
    default: {
      const auto layout = LayoutOf(element.kind);
      if (!layout) return std::nullopt;
      s.layout = *layout;
      s.bits = layout->bits;
    }
  }
  if (s.bits == 0 || s.bits > 64) return std::nullopt;
  s.bytes = static_cast<size_t>((s.bits + 7) / 8);
  return s;
}

uint64_t Mask(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1; }

// The bit pattern of one component.
std::optional<uint64_t> ParseComponent(const Storage& s, std::string_view text) {
  if (text == "true") return 1;
  if (text == "false") return 0;
  const std::string copy(text);
  const bool negative = text.starts_with('-');
  const std::string_view digits = Trim(text.substr(negative ? 1 : 0));
  if (digits.empty() || digits[0] < '0' || digits[0] > '9') return std::nullopt;
  if (digits.starts_with("0x") || s.is_integer) {
    const bool hexadecimal = digits.starts_with("0x");
    const uint64_t value = std::strtoull(std::string(digits).c_str(), nullptr, hexadecimal ? 16 : 10);
    if (digits.find('.') != std::string_view::npos) return std::nullopt;
    return (negative ? ~value + 1 : value) & Mask(s.bits);
  }
  return EncodeFloat(s.layout, std::strtod(copy.c_str(), nullptr));
}

void AppendComponent(std::string& out, const Storage& s, uint64_t bits) {
  if (!s.is_integer) return AppendFloat(out, s.layout, bits);
  if (s.bits == 1) {
    out += bits ? "true" : "false";
  } else if (s.is_unsigned) {
    out += fmt::format("{}", bits);
  } else {
    const int shift = 64 - s.bits;
    out += fmt::format("{}", static_cast<int64_t>(bits << shift) >> shift);
  }
}

uint64_t Load(const char* at, size_t bytes) {
  uint64_t value = 0;
  std::memcpy(&value, at, bytes);
  return value;
}

void AppendValue(std::string& out, const Storage& s, bool complex, const char* at) {
  if (!complex) return AppendComponent(out, s, Load(at, s.bytes));
  out += '(';
  AppendComponent(out, s, Load(at, s.bytes));
  out += ',';
  AppendComponent(out, s, Load(at + s.bytes, s.bytes));
  out += ')';
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

// Little-endian bytes of all components, one element for a splat.
std::optional<std::string> BytesOf(const DenseInfo& info, const Storage& s, size_t elements) {
  std::string bytes;
  if (info.form == DenseForm::kHex) {
    bytes.reserve(info.payload.size() / 2);
    for (size_t i = 0; i + 1 < info.payload.size(); i += 2) {
      const int high = HexValue(info.payload[i]), low = HexValue(info.payload[i + 1]);
      if (high < 0 || low < 0) return std::nullopt;
      bytes += static_cast<char>(high << 4 | low);
    }
    // Older files pack eight booleans into a byte.
    if (s.bits == 1 && bytes.size() == (elements + 7) / 8 && elements > 1) {
      std::string unpacked;
      for (size_t i = 0; i < elements; ++i) unpacked += static_cast<char>(bytes[i / 8] >> (i % 8) & 1);
      return unpacked;
    }
    return bytes;
  }
  const std::string_view text = info.payload;
  for (size_t at = 0; at < text.size();) {
    if (IsDelimiter(text[at])) {
      ++at;
      continue;
    }
    size_t end = at;
    if (text[at] == '-') {
      while (end + 1 < text.size() && (text[end + 1] == ' ')) ++end;
      ++end;
    }
    while (end < text.size() && !IsDelimiter(text[end])) ++end;
    const auto value = ParseComponent(s, text.substr(at, end - at));
    if (!value) return std::nullopt;
    bytes.append(reinterpret_cast<const char*>(&*value), s.bytes);
    at = end;
  }
  return bytes;
}

bool IsSplat(std::string_view bytes, size_t element) {
  return bytes.size() >= element && std::memcmp(bytes.data(), bytes.data() + element, bytes.size() - element) == 0;
}

// Nested lists in row order.
void AppendLists(std::string& out, const Storage& s, bool complex, std::string_view bytes,
                 std::span<const int64_t> dims) {
  const size_t element = s.bytes * (complex ? 2 : 1);
  const size_t count = bytes.size() / element;
  std::vector<int64_t> counter(dims.size(), 0);
  size_t open = 0;
  for (size_t i = 0; i < count; ++i) {
    for (; open < dims.size(); ++open) out += '[';
    AppendValue(out, s, complex, bytes.data() + i * element);
    for (size_t d = dims.size(); d-- > 0;) {
      if (++counter[d] < dims[d]) break;
      counter[d] = 0;
      out += ']';
      --open;
    }
    if (i + 1 < count) out += ", ";
  }
}

}  // namespace

bool AppendElement(std::string& out, const Element& element, std::string_view text) {
  const auto storage = StorageOf(element);
  if (!storage || element.complex) return false;
  const auto bits = ParseComponent(*storage, Trim(text));
  if (!bits) return false;
  AppendComponent(out, *storage, *bits);
  return true;
}

bool AppendDenseData(std::string& out, const DenseInfo& info, const Element& element, std::span<const int64_t> dims) {
  const auto storage = StorageOf(element);
  if (!storage || info.form == DenseForm::kResource) return false;
  int64_t elements = 1;
  for (const int64_t d : dims) {
    if (d < 0) return false;
    elements = internal::SaturatingMultiply(elements, d);
  }
  if (elements == 0 && info.form != DenseForm::kSplat) return true;
  const size_t size = storage->bytes * (element.complex ? 2 : 1);
  const auto bytes = BytesOf(info, *storage, static_cast<size_t>(elements));
  if (!bytes || bytes->size() % size != 0 || bytes->empty()) return false;
  const size_t count = bytes->size() / size;
  if (count != 1 && count != static_cast<size_t>(elements)) return false;
  if (IsSplat(*bytes, size)) {
    AppendValue(out, *storage, element.complex, bytes->data());
  } else if (count > kMaxListed) {
    out += "\"0x";
    for (const char c : *bytes) {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
    }
    out += '"';
  } else {
    AppendLists(out, *storage, element.complex, *bytes, dims);
  }
  return true;
}

}  // namespace hespas::ir
