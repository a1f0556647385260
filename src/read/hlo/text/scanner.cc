#include "read/hlo/text/scanner.h"

#include <array>
#include <cstdint>
#include <vector>

namespace hespas::read::hlo {
namespace {

enum CharClass : uint8_t { kPlain, kOpen, kClose, kQuote, kComma, kLineEnd };

constexpr std::array<uint8_t, 256> kClasses = [] {
  std::array<uint8_t, 256> classes{};
  for (const char c : {'(', '[', '{'}) classes[static_cast<uint8_t>(c)] = kOpen;
  for (const char c : {')', ']', '}'}) classes[static_cast<uint8_t>(c)] = kClose;
  classes['"'] = kQuote;
  classes[','] = kComma;
  classes['\n'] = kLineEnd;
  return classes;
}();

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

size_t EndOfString(std::string_view text, size_t begin) {
  size_t at = begin + 1;
  while (true) {
    at = text.find('"', at);
    if (at == std::string_view::npos) return at;
    size_t first_backslash = at;
    while (text[first_backslash - 1] == '\\') --first_backslash;
    ++at;
    if ((at - 1 - first_backslash) % 2 == 0) return at;
  }
}

void Scanner::SkipComment() {
  const bool block = peek(1) == '*';
  const size_t end = block ? text_.find("*/", at_ + 2) : text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + (block ? 2 : 0);
}

void Scanner::SkipBlanks(bool stay_on_line) {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\r' || c == '\t' || (c == '\n' && !stay_on_line)) {
      ++at_;
    } else if (c == '/' && (peek(1) == '*' || peek(1) == '/')) {
      SkipComment();
    } else {
      return;
    }
  }
}

void Scanner::SkipLine() {
  const size_t end = text_.find('\n', at_);
  at_ = end == std::string_view::npos ? text_.size() : end + 1;
}

bool Scanner::Take(char c) {
  SkipBlanks();
  if (peek() != c || at_end()) return false;
  ++at_;
  return true;
}

bool Scanner::TakeWord(std::string_view word) {
  SkipBlanks();
  if (!rest().starts_with(word) || IsNameChar(peek(word.size()))) return false;
  at_ += word.size();
  return true;
}

std::string_view Scanner::Name() {
  SkipBlanks();
  const size_t before = at_;
  if (peek() == '%') ++at_;
  const size_t begin = at_;
  while (at_ < text_.size() && IsNameChar(text_[at_])) ++at_;
  if (at_ == begin) at_ = before;
  return slice(begin, at_ < begin ? begin : at_);
}

std::string_view Scanner::Shape() {
  SkipBlanks();
  if (peek() == '(') return Balanced();
  const size_t begin = at_;
  size_t at = at_;
  while (at < text_.size() && IsNameChar(text_[at])) ++at;
  if (at == begin || at >= text_.size()) return {};
  if (text_[at] == '(' && slice(begin, at) == "b") {
    at_ = at;
    return Balanced().empty() ? std::string_view() : slice(begin, at_);
  }
  if (text_[at] != '[') return {};
  at_ = at;
  if (Balanced().empty()) {
    at_ = begin;
    return {};
  }
  const char inside = peek(1);
  if (peek() == '{' && (IsDigit(inside) || inside == ':' || inside == '}')) {
    if (Balanced().empty()) {
      at_ = begin;
      return {};
    }
  }
  return slice(begin, at_);
}

void Scanner::IndexBraces() {
  if (!closers_.empty()) return;
  std::vector<size_t> open;
  for (size_t at = 0; at < text_.size(); ++at) {
    const uint8_t kind = kClasses[static_cast<uint8_t>(text_[at])];
    if (kind == kOpen) open.push_back(at);
    if (kind == kQuote) {
      const size_t end = EndOfString(text_, at);
      if (end == std::string_view::npos) return;
      at = end - 1;
    }
    if (kind != kClose || open.empty()) continue;
    if (text_[open.back()] == '{') closers_.emplace(open.back(), at);
    open.pop_back();
  }
}

size_t Scanner::KnownCloser(size_t at) const {
  if (closers_.empty() || text_[at] != '{') return std::string_view::npos;
  const auto found = closers_.find(at);
  return found == closers_.end() ? std::string_view::npos : found->second;
}

size_t Scanner::Behind(size_t at, size_t& depth) const {
  const uint8_t kind = kClasses[static_cast<uint8_t>(text_[at])];
  if (kind == kQuote) return EndOfString(text_, at);
  if (kind != kOpen) return at + 1;
  ++depth;
  const size_t closer = KnownCloser(at);
  return closer == std::string_view::npos ? at + 1 : closer;
}

std::string_view Scanner::Balanced() {
  size_t depth = 0;
  for (size_t at = at_; at < text_.size(); at = Behind(at, depth)) {
    if (kClasses[static_cast<uint8_t>(text_[at])] != kClose) continue;
    if (depth <= 1) {
      const size_t begin = at_;
      at_ = at + 1;
      return depth == 1 ? slice(begin, at_) : std::string_view();
    }
    --depth;
  }
  return {};
}

std::string_view Scanner::Value() {
  SkipBlanks();
  const size_t begin = at_;
  size_t depth = 0;
  size_t at = at_;
  for (; at < text_.size(); at = Behind(at, depth)) {
    const uint8_t kind = kClasses[static_cast<uint8_t>(text_[at])];
    const bool may_end = kind == kClose || kind == kComma || kind == kLineEnd;
    if (may_end && depth == 0) {
      at_ = at;
      return Trimmed(slice(begin, at));
    }
    if (kind == kClose) --depth;
  }
  if (depth > 0 || at == std::string_view::npos) return {};
  at_ = text_.size();
  return Trimmed(slice(begin, at_));
}

}  // namespace hespas::read::hlo
