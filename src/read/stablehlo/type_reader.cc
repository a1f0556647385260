#include "read/stablehlo/type_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "read/stablehlo/errors.h"

namespace hespas::read {
namespace {

using ir::Element;
using ir::ElementKind;
using ir::Type;
using ir::TypeId;
using ir::TypeKind;

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

constexpr std::string_view kTypeWords[] = {"tensor", "vector", "memref", "tuple", "complex", "none", "index"};

// The width after `prefix` of "i32", "ui8"; nothing for other words.
std::optional<uint16_t> Width(std::string_view word, std::string_view prefix) {
  if (!word.starts_with(prefix) || word.size() == prefix.size() || word.size() > prefix.size() + 8) return std::nullopt;
  uint32_t bits = 0;
  for (const char c : word.substr(prefix.size())) {
    if (!IsDigit(c)) return std::nullopt;
    bits = bits * 10 + static_cast<uint32_t>(c - '0');
  }
  if (bits >= (1u << 24)) return std::nullopt;  // MLIR's limit
  return static_cast<uint16_t>(std::min<uint32_t>(bits, 0xFFFF));
}

std::optional<Element> ScalarElement(std::string_view word) {
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

// Storage width of "!quant.uniform<i8<-127:127>:f32, ...>"; 0 where it cannot be told.
uint16_t StorageBits(std::string_view text) {
  size_t at = text.find('<');
  while (at < text.size() && !IsDigit(text[at])) ++at;
  uint32_t bits = 0;
  for (; at < text.size() && IsDigit(text[at]) && bits < 1000; ++at)
    bits = bits * 10 + static_cast<uint32_t>(text[at] - '0');
  return static_cast<uint16_t>(bits);
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

bool TypeReader::Read(TypeId& out) {
  c_.Space();
  // The common case, "tensor<...>" without nested brackets: its text is the key of the cache.
  const char* start = c_.at();
  if (std::memcmp(start, "tensor<", std::min<size_t>(7, static_cast<size_t>(c_.end() - start))) == 0) {
    const char* p = start + 7;
    while (*p != '>' && *p != '<' && *p != '\0' && *p != '\n') ++p;
    if (*p == '>') {
      const std::string_view text(start, static_cast<size_t>(p + 1 - start));
      const auto found = cache_.find(text);
      if (found != cache_.end()) {
        out = found->second;
        c_.MoveTo(p + 1);
        return true;
      }
      if (!ReadUncached(out)) return false;
      if (c_.at() == p + 1) cache_.emplace(text, out);
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
  if (!ReadFunction(type.nested, results)) return false;
  type.input_count = static_cast<uint32_t>(type.nested.size());
  type.nested.insert(type.nested.end(), results.begin(), results.end());
  out = types_.Intern(std::move(type));
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
    return true;
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
    } else if (c == '#' && !AliasName(c_.at()).empty() && c_.at() == start) {
      const std::string_view name = AliasName(c_.at());
      Alias* alias = aliases_.Find(name);
      if (!alias) return c_.Fail(kBadAlias, fmt::format("`{}` is not defined", name));
      c_.Advance(name.size());
    } else {
      c_.Advance();
    }
  }
  type.encoding = std::string(c_.From(start));
  while (!type.encoding.empty() && IsSpace(type.encoding.back())) type.encoding.pop_back();
  if (type.encoding.empty()) return c_.FailExpected("an attribute");
  c_.Advance();
  return true;
}

bool TypeReader::ReadTupleLike(TypeKind kind, TypeId& out) {
  Type type{.kind = kind};
  if (!c_.Expect('<')) return false;
  if (!c_.Eat('>')) {
    if (!ReadList(type.nested) || !c_.Expect('>')) return false;
  }
  out = types_.Intern(std::move(type));
  return true;
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
  if (name == "stablehlo.future") return ReadTupleLike(TypeKind::kFuture, out);
  const bool token = name == "stablehlo.token" || name == "mhlo.token";
  if (!token && (name.starts_with("stablehlo.") || name.starts_with("mhlo."))) {
    return c_.Fail(kBadType, offset, fmt::format("unknown type `!{}`", name));
  }
  if (*c_ == '<' && !c_.SkipBalanced()) return false;
  std::string text(c_.From(start));
  if (name.starts_with("quant.")) {
    Element element{.kind = ElementKind::kQuantised, .bits = StorageBits(text), .text = std::move(text)};
    out = types_.Intern(Type{.kind = TypeKind::kScalar, .element = std::move(element)});
    return true;
  }
  out = types_.Intern(Type{.kind = token ? TypeKind::kToken : TypeKind::kOpaque, .text = std::move(text)});
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
