#include "ir/type.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/text/hash.h"
#include "base/units.h"
#include "ir/type_table.h"

namespace hespas::ir {
namespace {

struct FloatName {
  std::string_view name;
  ElementKind kind;
  uint16_t bits;
};

constexpr FloatName kFloats[] = {
    {"f32", ElementKind::kF32, 32},
    {"bf16", ElementKind::kBF16, 16},
    {"f16", ElementKind::kF16, 16},
    {"f64", ElementKind::kF64, 64},
    {"tf32", ElementKind::kTF32, 19},
    {"f80", ElementKind::kF80, 80},
    {"f128", ElementKind::kF128, 128},
    {"f8E3M4", ElementKind::kF8E3M4, 8},
    {"f8E4M3", ElementKind::kF8E4M3, 8},
    {"f8E4M3FN", ElementKind::kF8E4M3FN, 8},
    {"f8E4M3FNUZ", ElementKind::kF8E4M3FNUZ, 8},
    {"f8E4M3B11FNUZ", ElementKind::kF8E4M3B11FNUZ, 8},
    {"f8E5M2", ElementKind::kF8E5M2, 8},
    {"f8E5M2FNUZ", ElementKind::kF8E5M2FNUZ, 8},
    {"f8E8M0FNU", ElementKind::kF8E8M0FNU, 8},
    {"f4E2M1FN", ElementKind::kF4E2M1FN, 4},
    {"f6E2M3FN", ElementKind::kF6E2M3FN, 6},
    {"f6E3M2FN", ElementKind::kF6E3M2FN, 6},
};

// The width after `prefix` of "i32", "ui8"; nothing for other words.
std::optional<uint16_t> Width(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix) || word.size() == prefix.size() || word.size() > prefix.size() + 8) return std::nullopt;
  uint32_t bits = 0;
  for (const char c : word.substr(prefix.size())) {
    if (c < '0' || c > '9') return std::nullopt;
    bits = bits * 10 + static_cast<uint32_t>(c - '0');
  }
  if (bits >= (1u << 24)) return std::nullopt;  // MLIR's limit
  return static_cast<uint16_t>(std::min<uint32_t>(bits, 0xFFFF));
}

std::string ComponentText(const Element& e) {
  switch (e.kind) {
    case ElementKind::kNone:
      return "none";
    case ElementKind::kInteger:
      return "i" + std::to_string(e.bits);
    case ElementKind::kSigned:
      return fmt::format("si{}", e.bits);
    case ElementKind::kUnsigned:
      return fmt::format("ui{}", e.bits);
    case ElementKind::kIndex:
      return "index";
    case ElementKind::kQuantised:
    case ElementKind::kOpaque:
      return e.text;
    default:
      for (const FloatName& f : kFloats) {
        if (f.kind == e.kind) return std::string(f.name);
      }
      return {};
  }
}

}  // namespace

bool Type::has_static_shape() const {
  return kind != TypeKind::kUnrankedTensor && std::find(dims.begin(), dims.end(), kDynamic) == dims.end();
}

int64_t ElementBits(const Element& element) {
  const int64_t bits = element.kind == ElementKind::kIndex ? 64 : element.bits;
  return element.complex ? 2 * bits : bits;
}

int64_t TypeTable::CountBytes(const Type& type) const {
  int64_t bytes = 0;
  for (const TypeId member : type.nested) {
    if (type.kind != TypeKind::kFunction) bytes = internal::SaturatingAdd(bytes, byte_size(member));
  }
  if (type.element.kind == ElementKind::kNone) return bytes;
  const int64_t bits = ElementBits(type.element);
  const int64_t count = type.element_count();
  if (bits == 4) return count / 2 + count % 2;
  return internal::SaturatingMultiply(count, (bits + 7) / 8);
}

std::string ElementText(const Element& element) {
  return element.complex ? "complex<" + ComponentText(element) + ">" : ComponentText(element);
}

std::optional<Element> ElementFromText(std::string_view word) {
  if (word.starts_with("complex<") && word.ends_with(">")) {
    auto part = ElementFromText(word.substr(8, word.size() - 9));
    if (!part || part->complex) return std::nullopt;
    part->complex = true;
    return part;
  }
  for (const FloatName& f : kFloats) {
    if (f.name == word) return Element{.kind = f.kind, .bits = f.bits};
  }
  if (const auto bits = Width(word, "i")) return Element{.kind = ElementKind::kInteger, .bits = *bits};
  if (const auto bits = Width(word, "si")) return Element{.kind = ElementKind::kSigned, .bits = *bits};
  if (const auto bits = Width(word, "ui")) return Element{.kind = ElementKind::kUnsigned, .bits = *bits};
  if (word == "index") return Element{.kind = ElementKind::kIndex, .bits = 64};
  if (word == "none") return Element{.kind = ElementKind::kNone};
  return std::nullopt;
}

TypeId TypeTable::Intern(Type type) {
  Hash128 hash = HashBytes({reinterpret_cast<const char*>(type.dims.data()), type.dims.size() * sizeof(int64_t)});
  hash = Combine(hash, (uint64_t{static_cast<uint8_t>(type.kind)} << 32) |
                           (uint64_t{static_cast<uint8_t>(type.element.kind)} << 16) | type.element.bits);
  for (const TypeId member : type.nested) hash = Combine(hash, member.value);
  const auto [begin, end] = index_.equal_range(hash.low);
  for (auto it = begin; it != end; ++it) {
    if ((*this)[it->second] == type) return it->second;
  }
  const TypeId id(rows_.size());
  types_.push_back(std::move(type));
  rows_.push_back({&types_.back(), CountBytes(types_.back())});
  index_.emplace(hash.low, id);
  return id;
}

TypeId TypeTable::InternScalar(const Element& element) {
  Type type;
  type.kind = TypeKind::kScalar;
  type.element = element;
  return Intern(std::move(type));
}

TypeId TypeTable::InternTensor(std::vector<int64_t> dims, const Element& element) {
  Type type;
  type.kind = TypeKind::kTensor;
  type.element = element;
  type.dims = std::move(dims);
  return Intern(std::move(type));
}

TypeId TypeTable::InternFunction(std::span<const TypeId> inputs, std::span<const TypeId> results) {
  Type type;
  type.kind = TypeKind::kFunction;
  type.input_count = static_cast<uint32_t>(inputs.size());
  type.nested.assign(inputs.begin(), inputs.end());
  type.nested.insert(type.nested.end(), results.begin(), results.end());
  return Intern(std::move(type));
}

namespace {

void AppendType(const TypeTable& types, TypeId id, std::string& out);

void AppendDimensions(const Type& type, std::string& out) {
  if (type.kind == TypeKind::kUnrankedTensor) out += "*x";
  for (const int64_t d : type.dims) {
    char digits[20];
    const auto end = std::to_chars(digits, digits + sizeof digits, d).ptr;
    if (d == kDynamic) {
      out += '?';
    } else {
      out.append(digits, end);
    }
    out += 'x';
  }
}

void AppendShaped(std::string_view name, const Type& type, std::string& out) {
  out.append(name) += '<';
  AppendDimensions(type, out);
  out += ElementText(type.element);
  if (!type.encoding.empty()) out.append(", ").append(type.encoding);
  out += '>';
}

void AppendList(const TypeTable& types, std::span<const TypeId> list, std::string& out) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out += ", ";
    AppendType(types, list[i], out);
  }
}

void AppendFunction(const TypeTable& types, const Type& type, std::string& out) {
  const std::span<const TypeId> nested(type.nested);
  const auto results = nested.subspan(type.input_count);
  const bool bare = results.size() == 1 && types[results[0]].kind != TypeKind::kFunction;
  out += '(';
  AppendList(types, nested.first(type.input_count), out);
  out += bare ? ") -> " : ") -> (";
  AppendList(types, results, out);
  if (!bare) out += ')';
}

void AppendType(const TypeTable& types, TypeId id, std::string& out) {
  const Type& type = types[id];
  const auto nested = [&](std::string_view name) {
    out.append(name) += '<';
    AppendList(types, type.nested, out);
    out += '>';
  };
  switch (type.kind) {
    case TypeKind::kTensor:
    case TypeKind::kUnrankedTensor:
      return AppendShaped("tensor", type, out);
    case TypeKind::kVector:
      return AppendShaped("vector", type, out);
    case TypeKind::kMemref:
      return AppendShaped("memref", type, out);
    case TypeKind::kScalar:
      out += ElementText(type.element);
      return;
    case TypeKind::kTuple:
      return nested("tuple");
    case TypeKind::kAsyncBundle:
      return nested("!mhlo.async_bundle");
    case TypeKind::kFuture:
      return nested("!stablehlo.future");
    case TypeKind::kFunction:
      return AppendFunction(types, type, out);
    case TypeKind::kNone:
      out += "none";
      return;
    case TypeKind::kToken:
    case TypeKind::kOpaque:
      out += type.text;
      return;
  }
}

}  // namespace

std::string TypeTable::Text(TypeId id) const {
  std::string out;
  AppendType(*this, id, out);
  return out;
}

}  // namespace hespas::ir
