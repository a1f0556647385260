#include "ir/type.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/hash.h"
#include "base/units.h"
#include "ir/type_table.h"

namespace hespas::ir {
namespace {

constexpr std::string_view kFloatNames[] = {
    "f64",      "f32",        "f16",           "bf16",   "tf32",       "f80",       "f128",     "f8E3M4",   "f8E4M3",
    "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU", "f4E2M1FN", "f6E2M3FN", "f6E3M2FN"};

std::string ComponentText(const Element& e) {
  switch (e.kind) {
    case ElementKind::kNone:
      return "none";
    case ElementKind::kInteger:
      return fmt::format("i{}", e.bits);
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
      return std::string(kFloatNames[static_cast<size_t>(e.kind) - static_cast<size_t>(ElementKind::kF64)]);
  }
}

}  // namespace

bool Type::has_static_shape() const {
  return kind != TypeKind::kUnrankedTensor && std::find(dims.begin(), dims.end(), kDynamic) == dims.end();
}

int64_t Type::element_count() const {
  int64_t count = 1;
  for (const int64_t d : dims) {
    if (d != kDynamic) count = internal::SaturatingMultiply(count, d);
  }
  return count;
}

int64_t ElementBits(const Element& element) {
  const int64_t bits = element.kind == ElementKind::kIndex ? 64 : element.bits;
  return element.complex ? 2 * bits : bits;
}

int64_t ByteSize(const TypeTable& types, TypeId id) {
  const Type& type = types[id];
  int64_t bytes = 0;
  for (const TypeId member : type.nested) {
    if (type.kind != TypeKind::kFunction) bytes = internal::SaturatingAdd(bytes, ByteSize(types, member));
  }
  if (type.element.kind == ElementKind::kNone) return bytes;
  const int64_t bits = ElementBits(type.element);
  const int64_t count = type.element_count();
  if (bits == 4) return count / 2 + count % 2;
  return internal::SaturatingMultiply(count, (bits + 7) / 8);
}

std::string ElementText(const Element& element) {
  const std::string component = ComponentText(element);
  return element.complex ? fmt::format("complex<{}>", component) : component;
}

TypeId TypeTable::Intern(Type type) {
  Hash128 hash = HashBytes({reinterpret_cast<const char*>(type.dims.data()), type.dims.size() * sizeof(int64_t)});
  hash = Combine(hash, (uint64_t{static_cast<uint8_t>(type.kind)} << 32) |
                           (uint64_t{static_cast<uint8_t>(type.element.kind)} << 16) | type.element.bits);
  for (const TypeId member : type.nested) hash = Combine(hash, member.value);
  const auto [begin, end] = index_.equal_range(hash.low);
  for (auto it = begin; it != end; ++it) {
    if (types_[it->second.index()] == type) return it->second;
  }
  const TypeId id(types_.size());
  types_.push_back(std::move(type));
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

std::string TypeTable::Text(TypeId id) const {
  const Type& type = (*this)[id];
  const auto list = [&](size_t from, size_t to) {
    std::vector<std::string> texts;
    for (size_t i = from; i < to; ++i) texts.push_back(Text(type.nested[i]));
    return fmt::format("{}", fmt::join(texts, ", "));
  };
  const auto shaped = [&](std::string_view name) {
    std::string dims;
    for (const int64_t d : type.dims) dims += d == kDynamic ? "?x" : fmt::format("{}x", d);
    if (type.kind == TypeKind::kUnrankedTensor) dims = "*x";
    const std::string tail = type.encoding.empty() ? "" : ", " + type.encoding;
    return fmt::format("{}<{}{}{}>", name, dims, ElementText(type.element), tail);
  };
  switch (type.kind) {
    case TypeKind::kTensor:
    case TypeKind::kUnrankedTensor:
      return shaped("tensor");
    case TypeKind::kVector:
      return shaped("vector");
    case TypeKind::kMemref:
      return shaped("memref");
    case TypeKind::kScalar:
      return ElementText(type.element);
    case TypeKind::kTuple:
      return fmt::format("tuple<{}>", list(0, type.nested.size()));
    case TypeKind::kAsyncBundle:
      return fmt::format("!mhlo.async_bundle<{}>", list(0, type.nested.size()));
    case TypeKind::kFuture:
      return fmt::format("!stablehlo.future<{}>", list(0, type.nested.size()));
    case TypeKind::kFunction: {
      const std::string inputs = list(0, type.input_count);
      const std::string results = list(type.input_count, type.nested.size());
      const bool bare = type.nested.size() == type.input_count + 1 &&
                        (*this)[type.nested[type.input_count]].kind != TypeKind::kFunction;
      return bare ? fmt::format("({}) -> {}", inputs, results) : fmt::format("({}) -> ({})", inputs, results);
    }
    case TypeKind::kNone:
      return "none";
    case TypeKind::kToken:
    case TypeKind::kOpaque:
      return type.text;
  }
  return {};
}

}  // namespace hespas::ir
