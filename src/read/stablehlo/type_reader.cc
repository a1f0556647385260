#include "read/stablehlo/type_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "ir/attributes/attribute.h"
#include "ir/attributes/canonical.h"
#include "read/stablehlo/errors.h"

namespace hespas::read {
namespace {

using ir::Element;
using ir::ElementKind;
using ir::Type;
using ir::TypeId;
using ir::TypeKind;

constexpr std::string_view kTypeWords[] = {"tensor", "vector", "memref", "tuple", "complex", "none", "index"};

// Scalar words; complex types are read piece by piece.
std::optional<Element> ScalarElement(std::string_view word) { return ir::ElementFromText(word); }

// Storage width of "!quant.uniform<i8<-127:127>:f32, ...>"; 0 where it cannot be told.
uint16_t StorageBits(std::string_view text) {
  size_t at = text.find('<');
  while (at < text.size() && !IsDigit(text[at])) ++at;
  uint32_t bits = 0;
  for (; at < text.size() && IsDigit(text[at]) && bits < 1000; ++at)
    bits = bits * 10 + static_cast<uint32_t>(text[at] - '0');
  return static_cast<uint16_t>(bits);
}

constexpr size_t kTelling = 7;  // where the texts of tensor types begin to differ

uint32_t WordAt(const char* p) {
  uint32_t word;
  std::memcpy(&word, p, sizeof word);
  return word;
}

class DepthGuard {
 public:
  explicit DepthGuard(int& depth) : depth_(++depth) {}
  ~DepthGuard() { --depth_; }

 private:
  int& depth_;
};

}  // namespace

bool TypeReader::IsTypeWord(std::string_view word) {
  return std::find(std::begin(kTypeWords), std::end(kTypeWords), word) != std::end(kTypeWords) ||
         ScalarElement(word).has_value();
}

void TypeReader::Remember(std::string_view text, TypeId type) {
  if (text.size() < kTelling + sizeof(uint32_t)) return;
  recent_[next_recent_++ % std::size(recent_)] = {text, type, WordAt(text.data() + kTelling)};
}

bool TypeReader::ReadRecent(TypeId& out) {
  const auto left = static_cast<size_t>(c_.end() - c_.at());
  if (left < kTelling + sizeof(uint32_t)) return false;
  const uint32_t telling = WordAt(c_.at() + kTelling);
  for (const Recent& recent : recent_) {
    if (recent.telling != telling || recent.text.size() > left) continue;
    if (recent.text.empty() || std::memcmp(c_.at(), recent.text.data(), recent.text.size()) != 0) continue;
    out = recent.type;
    c_.Advance(recent.text.size());
    return true;
  }
  return false;
}

bool TypeReader::Read(TypeId& out) {
  c_.Space();
  if (ReadRecent(out)) return true;
  // The common case, "tensor<...>" without nested brackets: its text is the key of the cache.
  const char* start = c_.at();
  if (std::string_view(start, static_cast<size_t>(c_.end() - start)).starts_with("tensor<")) {
    const char* p = start + 7;
    while (*p != '>' && *p != '<' && *p != '\0' && *p != '\n') ++p;
    if (*p == '>') {
      const std::string_view text(start, static_cast<size_t>(p + 1 - start));
      if (const TypeId* known = cache_.Find(text)) {
        out = *known;
        c_.MoveTo(p + 1);
        Remember(text, out);
        return true;
      }
      if (!ReadUncached(out)) return false;
      if (c_.at() == p + 1) cache_.FindOrAdd(text, [&] { return out; });
      return true;
    }
  }
  return ReadUncached(out);
}

bool TypeReader::ReadUncached(TypeId& out) {
  const DepthGuard guard(depth_);
  if (depth_ > kMaxTypeDepth)
    return c_.Fail(kTooDeep, fmt::format("types are nested over {} deep here", kMaxTypeDepth));
  const char first = c_.Peek();
  if (first == '!') return ReadDialectType(out);
  if (first == '(') return ReadFunctionType(out);
  const size_t start = c_.offset();
  const std::string_view word = c_.Word();
  if (word.empty()) return c_.FailExpected("a type");
  if (word == "tensor") return ReadShaped(TypeKind::kTensor, out);
  if (word == "vector") return ReadShaped(TypeKind::kVector, out);
  if (word == "memref") return ReadShaped(TypeKind::kMemref, out);
  if (word == "tuple") return ReadTupleLike(TypeKind::kTuple, out);
  Type type;
  if (word == "complex") {
    c_.MoveTo(start);
    type.kind = TypeKind::kScalar;
    if (!ReadElement(type)) return false;
    out = types_.Intern(std::move(type));
    return true;
  }
  if (word == "none") {
    out = types_.Intern(Type{.kind = TypeKind::kNone});
    return true;
  }
  auto element = ScalarElement(word);
  if (!element) return c_.Fail(kBadType, start, fmt::format("unknown type `{}`", word));
  out = types_.Intern(Type{.kind = TypeKind::kScalar, .element = *std::move(element)});
  return true;
}

bool TypeReader::ReadFunctionType(TypeId& out) {
  Type type{.kind = TypeKind::kFunction};
  std::vector<TypeId> results;
  const size_t offset = c_.offset();
  if (!ReadFunction(type.nested, results)) return false;
  type.input_count = static_cast<uint32_t>(type.nested.size());
  type.nested.insert(type.nested.end(), results.begin(), results.end());
  return Intern(std::move(type), offset, out);
}

// Interns a type with members, which may be the same one many times over: refuses what would be too large to print.
bool TypeReader::Intern(Type type, size_t offset, TypeId& out) {
  size_t size = 1;
  for (const TypeId member : type.nested) {
    size += member.index() < sizes_.size() && sizes_[member.index()] > 0 ? sizes_[member.index()] : 1;
  }
  if (size > kMaxTypeSize) return c_.Fail(kTooDeep, offset, "this type holds over a million types");
  out = types_.Intern(std::move(type));
  if (sizes_.size() <= out.index()) sizes_.resize(types_.size());
  sizes_[out.index()] = static_cast<uint32_t>(size);
  return true;
}

bool TypeReader::ReadFunction(std::vector<TypeId>& inputs, std::vector<TypeId>& results) {
  if (!ReadParenthesised(inputs) || !c_.ExpectArrow()) return false;
  if (c_.Peek() == '(') return ReadParenthesised(results);
  TypeId result;
  if (!Read(result)) return false;
  results.push_back(result);
  return true;
}

bool TypeReader::ReadList(std::vector<TypeId>& out) {
  do {
    TypeId type;
    if (!Read(type)) return false;
    out.push_back(type);
  } while (c_.Eat(','));
  return true;
}

bool TypeReader::ReadParenthesised(std::vector<TypeId>& out) {
  if (!c_.Expect('(')) return false;
  if (c_.Eat(')')) return true;
  return ReadList(out) && c_.Expect(')');
}

bool TypeReader::ReadShaped(TypeKind kind, TypeId& out) {
  Type type{.kind = kind};
  if (!c_.Expect('<')) return false;
  if (c_.Peek() == '*') {
    c_.Advance();
    if (c_.Peek() != 'x') return c_.FailExpected("x");
    c_.Advance();
    if (kind == TypeKind::kTensor) type.kind = TypeKind::kUnrankedTensor;
    if (kind == TypeKind::kMemref) type.encoding.assign(1, '*');
  } else if (!ReadDimensions(type)) {
    return false;
  }
  if (!ReadElement(type) || !ReadTail(type)) return false;
  out = types_.Intern(std::move(type));
  return true;
}

// Reads `4x?x` up to the element type; `x` may be glued to what follows, and `0x4` is no hexadecimal number here.
bool TypeReader::ReadDimensions(Type& type) {
  while (true) {
    c_.Space();
    const bool scalable = *c_ == '[' && type.kind == TypeKind::kVector;
    if (scalable) c_.Advance();
    if (*c_ == '?') {
      type.dims.push_back(ir::kDynamic);
      c_.Advance();
    } else if (IsDigit(*c_)) {
      uint64_t value = 0;
      for (; IsDigit(*c_); c_.Advance()) {
        if (value > (static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) - 9) / 10) {
          return c_.Fail(kBadType, "this dimension is too large");
        }
        value = value * 10 + static_cast<uint64_t>(*c_ - '0');
      }
      type.dims.push_back(static_cast<int64_t>(value));
    } else {
      return true;
    }
    if (scalable && !c_.Expect(']')) return false;
    if (c_.Peek() != 'x') return c_.FailExpected("x");
    c_.Advance();
  }
}

bool TypeReader::ReadElement(Type& type) {
  c_.Space();
  const char* start = c_.at();
  if (*c_ == '!') {
    TypeId inner;
    if (!ReadDialectType(inner)) return false;
    const Type& t = types_[inner];
    if (t.kind == TypeKind::kScalar) {
      type.element = t.element;
    } else {
      type.element = Element{.kind = ElementKind::kOpaque, .text = types_.Text(inner)};
    }
    return type.element.text.size() <= kMaxTypeSize || c_.Fail(kTooDeep, "this element type is too large");
  }
  const size_t offset = c_.offset();
  const std::string_view word = c_.Word();
  if (word.empty()) return c_.FailExpected("an element type");
  if (word == "complex") {
    Type inner;
    if (!c_.Expect('<') || !ReadElement(inner) || !c_.Expect('>')) return false;
    if (inner.element.complex || inner.element.kind == ElementKind::kIndex) {
      return c_.Fail(kBadType, offset, "a complex type holds a float or an integer type");
    }
    type.element = std::move(inner.element);
    type.element.complex = true;
    return true;
  }
  if (auto element = ScalarElement(word)) {
    type.element = *std::move(element);
    return true;
  }
  if (word == "tensor" || word == "vector" || word == "memref" || word == "tuple") {
    c_.MoveTo(start);
    TypeId inner;
    if (!Read(inner)) return false;
    type.element = Element{.kind = ElementKind::kOpaque, .text = types_.Text(inner)};
    return true;
  }
  return c_.Fail(kBadType, offset, fmt::format("unknown element type `{}`", word));
}

// `, encoding>` of a tensor, `, layout, space>` of a memref.
bool TypeReader::ReadTail(Type& type) {
  if (c_.Eat('>')) return true;
  if (!c_.Eat(',')) return c_.FailExpected(">");
  c_.Space();
  const char* start = c_.at();
  while (c_.Peek() != '>') {
    const char c = *c_;
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      if (!c_.SkipBalanced()) return false;
    } else if (c == '"') {
      std::string_view text;
      if (!c_.String(text)) return false;
    } else if (c_.AtEnd() || c == ')' || c == ']' || c == '}') {
      return c_.FailExpected(">");
    } else if (c == '-' && c_[1] == '>') {
      c_.Advance(2);
    } else {
      c_.Advance();
    }
  }
  const std::string_view encoding = ir::Trim(c_.From(start));
  if (encoding.empty()) return c_.FailExpected("an attribute");
  c_.Advance();
  if (encoding[0] == '#' && AliasName(encoding.data()) == encoding) return ReadEncodingAlias(encoding, type.encoding);
  type.encoding = type.kind == TypeKind::kMemref ? std::string(encoding) : ir::Canonical(module_).Attribute(encoding);
  return CheckBounds(type);
}

// Bounds belong to dynamic dimensions, one entry a dimension.
bool TypeReader::CheckBounds(const Type& type) {
  const std::string_view encoding = type.encoding;
  std::vector<std::string_view> bounds;
  if (encoding.starts_with("#stablehlo.bounds<")) {
    bounds = ir::ListItems(encoding.substr(encoding.find('<')));
  } else if (encoding.starts_with("#stablehlo.type_extensions<") || encoding.starts_with("#mhlo.type_extensions<")) {
    bounds = ir::ListItems(ir::FindEntry(ir::Entries(encoding), "bounds").value_or("[]"));
  } else {
    return true;
  }
  if (type.kind != TypeKind::kTensor || bounds.size() != type.dims.size()) {
    return c_.Fail(kBadType, fmt::format("{} bounds for a type of {} dimensions", bounds.size(), type.dims.size()));
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] == "?") continue;
    if (!ir::AsInteger(bounds[i])) {
      return c_.Fail(kBadType, fmt::format("`{}` is no bound; write a size or `?`", bounds[i]));
    }
    if (type.dims[i] == ir::kDynamic) continue;
    return c_.Fail(kBadType, fmt::format("dimension {} is static and cannot have a bound", i));
  }
  return true;
}

// An alias of an encoding represents a dialect attribute, `#dialect.name<...>`, or another alias.
bool TypeReader::ReadEncodingAlias(std::string_view name, std::string& out) {
  const char* const after = c_.at();
  size_t steps = 0;
  while (true) {
    const Alias* alias = aliases_.Find(name);
    if (!alias) return c_.Fail(kBadAlias, fmt::format("`{}` is not defined", name));
    if (++steps > aliases_.all().size())
      return c_.Fail(kBadAlias, alias->offset, fmt::format("`{}` stands for itself", name));
    c_.MoveTo(alias->body);
    if (c_.Peek() != '#') return c_.Fail(kBadAlias, alias->offset, fmt::format("`{}` is no encoding", name));
    name = AliasName(c_.at());
    if (name.empty()) break;
  }
  const char* start = c_.at();
  c_.Advance();
  c_.Word();
  if (*c_ == '<' && !c_.SkipBalanced()) return false;
  out = ir::Canonical(module_).Attribute(c_.From(start));
  c_.MoveTo(after);
  return true;
}

bool TypeReader::ReadTupleLike(TypeKind kind, TypeId& out) {
  Type type{.kind = kind};
  const size_t offset = c_.offset();
  if (!c_.Expect('<')) return false;
  if (!c_.Eat('>')) {
    if (!ReadList(type.nested) || !c_.Expect('>')) return false;
  }
  return Intern(std::move(type), offset, out);
}

bool TypeReader::ReadDialectType(TypeId& out) {
  const std::string_view alias = AliasName(c_.at());
  if (!alias.empty()) return ReadAlias(alias, out);
  const char* start = c_.at();
  const size_t offset = c_.offset();
  c_.Advance();
  if (!IsLetter(*c_)) return c_.FailExpected("a type's name after `!`");
  const std::string_view name = c_.Word();
  if (name == "mhlo.async_bundle") return ReadTupleLike(TypeKind::kAsyncBundle, out);
  if (name == "stablehlo.future") return ReadTupleLike(TypeKind::kFuture, out) && CheckFuture(offset, out);
  const bool token = name == "stablehlo.token" || name == "mhlo.token";
  if (!token && (name.starts_with("stablehlo.") || name.starts_with("mhlo."))) {
    return c_.Fail(kBadType, offset, fmt::format("unknown type `!{}`", name));
  }
  if (*c_ == '<' && !c_.SkipBalanced()) return false;
  std::string text(c_.From(start));
  if (name.starts_with("quant.")) {
    text = ir::Canonical(module_).Type(text);
    const uint16_t bits = StorageBits(text);
    Element element{.kind = ElementKind::kQuantised, .bits = bits, .text = std::move(text)};
    out = types_.Intern(Type{.kind = TypeKind::kScalar, .element = std::move(element)});
    return true;
  }
  out = types_.Intern(Type{.kind = token ? TypeKind::kToken : TypeKind::kOpaque, .text = std::move(text)});
  return true;
}

// Asynchronous ops give tensors.
bool TypeReader::CheckFuture(size_t offset, TypeId id) {
  const Type& future = types_[id];
  for (const TypeId member : future.nested) {
    if (types_[member].kind == TypeKind::kTensor) continue;
    return c_.Fail(kBadType, offset, fmt::format("a future holds ranked tensors, not `{}`", types_.Text(member)));
  }
  return true;
}

// Follows `!a = !b` chains in a loop; types that hold aliases deeper inside are bounded by the depth limit.
bool TypeReader::ReadAlias(std::string_view name, TypeId& out) {
  const char* const after = c_.at() + name.size();
  std::vector<Alias*> chain;
  TypeId type;
  bool good = true;
  while (good && !type.valid()) {
    Alias* alias = aliases_.Find(name);
    if (!alias) {
      good = c_.Fail(kBadAlias, fmt::format("`{}` is not defined", name));
    } else if (alias->busy) {
      good = c_.Fail(kBadAlias, alias->offset, fmt::format("`{}` is defined in terms of itself", name));
    } else if (alias->type.valid()) {
      type = alias->type;
    } else {
      alias->busy = true;
      chain.push_back(alias);
      c_.MoveTo(alias->body);
      c_.Space();
      name = *c_ == '!' ? AliasName(c_.at()) : std::string_view();
      if (name.empty()) good = Read(type);
    }
  }
  for (Alias* alias : chain) {
    alias->busy = false;
    alias->type = type;
  }
  if (!good) return false;
  c_.MoveTo(after);
  out = type;
  return true;
}

}  // namespace hespas::read
