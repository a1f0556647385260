#include "read/stablehlo/attributes/attribute_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "read/stablehlo/attributes/dense.h"
#include "read/stablehlo/attributes/dense_elements.h"
#include "read/stablehlo/attributes/dialect_attributes.h"
#include "read/stablehlo/errors.h"

namespace hespas::read {

bool AttributeReader::Read(std::string_view& text) {
  if (c_.Peek() == '#') {
    const std::string_view name = AliasName(c_.at());
    if (!name.empty()) {
      if (!Resolve(name, text)) return false;
      c_.Advance(name.size());
      return true;
    }
  }
  const char* start = c_.at();
  last_type_ = ir::TypeId();
  std::string closers;
  while (true) {
    bool opened = false;
    if (!ReadValue(closers, opened)) return false;
    if (opened) continue;
    const char* end = c_.at();
    bool more = false;
    while (!closers.empty() && !more) {
      if (c_.Eat(',')) {
        if (closers.back() == '}') {
          // A key without a value is complete by itself.
          do {
            if (!ReadKey()) return false;
            end = c_.at();
            more = c_.Eat('=');
          } while (!more && c_.Eat(','));
        } else {
          more = true;
        }
      }
      if (more) break;
      if (!c_.Expect(closers.back())) return false;
      end = c_.at();
      closers.pop_back();
    }
    if (!more) {
      c_.MoveTo(end);
      text = c_.From(start);
      return true;
    }
  }
}

bool AttributeReader::ReadKey() {
  if (c_.Peek() == '"') {
    std::string_view text;
    return c_.String(text);
  }
  return !c_.Word().empty() || c_.FailExpected("an attribute's name");
}

// One value, or the opening of a list or dictionary that is not empty (`opened`).
bool AttributeReader::ReadValue(std::string& closers, bool& opened) {
  const char c = c_.Peek();
  if (c == '[') {
    c_.Advance();
    if (c_.Eat(']')) return true;
    closers.push_back(']');
    return opened = true;
  }
  if (c == '{') {
    c_.Advance();
    if (c_.Eat('}')) return true;
    closers.push_back('}');
    do {
      if (!ReadKey()) return false;
      if (c_.Eat('=')) return opened = true;
    } while (c_.Eat(','));
    return true;
  }
  if (c == '"') {
    std::string_view text;
    return c_.String(text) && ReadOptionalType();
  }
  if (c == '@') {
    std::string_view text;
    return c_.Symbol(text);
  }
  if (c == '#') return ReadHash();
  if (c == '!' || c == '(') {
    ir::TypeId type;
    return types_.Read(type);
  }
  if (IsDigit(c) || c == '-') return ReadNumber();
  if (IsLetter(c)) return ReadWordValue();
  return c_.FailExpected("an attribute");
}

bool AttributeReader::ReadOptionalType() {
  const char* before = c_.at();
  last_type_ = ir::TypeId();
  if (c_.Peek() == ':' && c_[1] != ':') {
    c_.Advance();
    return types_.Read(last_type_);
  }
  c_.MoveTo(before);
  return true;
}

bool AttributeReader::ReadNumber() {
  if (*c_ == '-') c_.Advance();
  if (!IsDigit(c_.Peek())) return c_.FailExpected("a number");
  if (*c_ == '0' && c_[1] == 'x' && IsHexDigit(c_[2])) {
    c_.Advance(2);
    while (IsHexDigit(*c_)) c_.Advance();
  } else {
    while (IsDigit(*c_)) c_.Advance();
    if (*c_ == '.') {
      c_.Advance();
      while (IsDigit(*c_)) c_.Advance();
      if (*c_ == 'e' || *c_ == 'E') {
        const ptrdiff_t digits = c_[1] == '+' || c_[1] == '-' ? 2 : 1;
        if (IsDigit(c_[digits])) c_.Advance(static_cast<size_t>(digits));
        while (IsDigit(*c_)) c_.Advance();
      }
    }
  }
  if (IsLetter(*c_)) return c_.FailExpected("the end of a number");
  return ReadOptionalType();
}

bool AttributeReader::ReadWordValue() {
  const size_t start = c_.offset();
  const std::string_view word = c_.Word();
  if (word == "true" || word == "false" || word == "unit") return true;
  if (word == "dense") return ReadDenseAttribute(start);
  if (word == "array") return ReadArray();
  if (word == "dense_resource" || word == "sparse") return ReadTypedBody();
  if (word == "affine_map" || word == "affine_set" || word == "strided" || word == "distinct") {
    if (word == "distinct") {
      if (c_.Peek() != '[') return c_.FailExpected("[");
      if (!c_.SkipBalanced()) return false;
    }
    return c_.Peek() == '<' ? c_.SkipBalanced() : c_.FailExpected("<");
  }
  if (word == "loc") return c_.Peek() == '(' ? c_.SkipBalanced() : c_.FailExpected("(");
  if (TypeReader::IsTypeWord(word)) {
    c_.MoveTo(start);
    ir::TypeId type;
    return types_.Read(type);
  }
  return c_.Fail(kBadAttribute, start, fmt::format("expected an attribute, found `{}`", word));
}

bool AttributeReader::ReadTypedBody() {
  if (c_.Peek() != '<') return c_.FailExpected("<");
  if (!c_.SkipBalanced() || !c_.Expect(':')) return false;
  return types_.Read(last_type_);
}

bool AttributeReader::ReadDenseAttribute(size_t start) {
  DenseShape shape;
  if (!c_.Expect('<')) return false;
  const char* const data = c_.at();
  if (!ReadDense(c_, shape)) return false;
  const std::string_view elements(data, static_cast<size_t>(c_.at() - data) - 1);
  if (!c_.Expect(':') || !types_.Read(last_type_)) return false;
  const ir::Type& type = module_.types()[last_type_];
  const bool shaped = type.kind == ir::TypeKind::kTensor || type.kind == ir::TypeKind::kVector;
  if (!shaped) return c_.Fail(kBadAttribute, start, "a dense attribute needs a tensor or vector type");
  if (!type.has_static_shape()) return c_.Fail(kBadAttribute, start, "a dense attribute needs a static shape");
  if (shape.form == DenseShape::Form::kEmpty && type.element_count() != 0) {
    return c_.Fail(kBadAttribute, start, "a dense attribute without data for a type that has elements");
  }
  if (shape.form == DenseShape::Form::kList && shape.dims != type.dims) {
    return c_.Fail(kBadAttribute, start,
                   fmt::format("the data has the shape [{}], the type [{}]", fmt::join(shape.dims, ", "),
                               fmt::join(type.dims, ", ")));
  }
  if (shape.form == DenseShape::Form::kHex || elements.find('"') != std::string_view::npos) return true;
  const auto misfit = FindMisfit(elements, type.element);
  if (!misfit) return true;
  const char* const after = c_.at();
  c_.MoveTo(misfit->at);
  const size_t offset = c_.offset();
  c_.MoveTo(after);
  return c_.Fail(kBadAttribute, offset, misfit->why);
}

// `array<i64: 1, 2>`.
bool AttributeReader::ReadArray() {
  if (!c_.Expect('<')) return false;
  const size_t start = c_.offset();
  const std::string_view word = c_.Word();
  if (!TypeReader::IsTypeWord(word)) return c_.Fail(kBadAttribute, start, "expected an element type after `array<`");
  if (c_.Eat('>')) return true;
  if (!c_.Expect(':')) return false;
  do {
    if (c_.EatWord("true") || c_.EatWord("false")) continue;
    c_.Space();
    if (!IsDigit(*c_) && *c_ != '-') return c_.FailExpected("a number");
    const char* before = c_.at();
    if (!ReadNumber()) return false;
    if (last_type_.valid()) {
      c_.MoveTo(before);
      return c_.FailExpected("a number without a type");
    }
  } while (c_.Eat(','));
  return c_.Expect('>');
}

// `#alias` inside another attribute, `#dialect.name<...>`, `#dialect<...>`.
bool AttributeReader::ReadHash() {
  const std::string_view alias = AliasName(c_.at());
  if (!alias.empty()) {
    if (!aliases_.Find(alias)) return c_.Fail(kBadAlias, fmt::format("`{}` is not defined", alias));
    c_.Advance(alias.size());
    return true;
  }
  c_.Advance();
  if (!IsLetter(*c_)) return c_.FailExpected("a name after `#`");
  const std::string_view name = c_.Word();
  if (*c_ != '<') return true;
  const char* start = c_.at();
  if (!c_.SkipBalanced()) return false;
  return CheckDialectAttribute(c_, name, c_.From(start));
}

bool AttributeReader::ReadBracketed(std::string_view& text) {
  c_.Space();
  const char* start = c_.at();
  if (*c_ != '[' && *c_ != '{' && *c_ != '<' && *c_ != '(') return c_.FailExpected("a list");
  if (!c_.SkipBalanced()) return false;
  text = c_.From(start);
  return true;
}

bool AttributeReader::Resolve(std::string_view name, std::string_view& text) {
  const char* const back = c_.at();
  std::vector<Alias*> chain;
  std::string_view result;
  bool good = true;
  while (good && result.data() == nullptr) {
    Alias* alias = aliases_.Find(name);
    if (!alias) {
      good = c_.Fail(kBadAlias, fmt::format("`{}` is not defined", name));
    } else if (alias->busy) {
      good = c_.Fail(kBadAlias, alias->offset, fmt::format("`{}` is defined in terms of itself", name));
    } else if (alias->text.data() != nullptr) {
      result = alias->text;
    } else {
      alias->busy = true;
      chain.push_back(alias);
      c_.MoveTo(alias->body);
      name = c_.Peek() == '#' ? AliasName(c_.at()) : std::string_view();
      if (name.empty()) good = Read(result);
    }
  }
  for (Alias* alias : chain) {
    alias->busy = false;
    if (good) alias->text = result;
  }
  if (good) c_.MoveTo(back);
  text = result;
  return good;
}

}  // namespace hespas::read
