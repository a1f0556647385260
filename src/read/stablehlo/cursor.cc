#include "read/stablehlo/cursor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "read/stablehlo/errors.h"

namespace hespas::read {
namespace {

const char* EndOfLine(const char* p, const char* end) {
  const void* newline = std::memchr(p, '\n', static_cast<size_t>(end - p));
  return newline ? static_cast<const char*>(newline) : end;
}

char Closer(char open) { return open == '(' ? ')' : open == '[' ? ']' : open == '{' ? '}' : '>'; }

}  // namespace

void Cursor::SkipSpace() {
  while (true) {
    while (IsSpace(*p_)) ++p_;
    if (*p_ != '/' || p_[1] != '/') return;
    p_ = EndOfLine(p_, end_);
  }
}

bool Cursor::EatArrow() {
  if (Peek() != '-' || p_[1] != '>') return false;
  p_ += 2;
  return true;
}

bool Cursor::EatWord(std::string_view word) {
  Space();
  if (static_cast<size_t>(end_ - p_) < word.size() || std::memcmp(p_, word.data(), word.size()) != 0) return false;
  if (IsIdent(p_[word.size()])) return false;
  p_ += word.size();
  return true;
}

std::string_view Cursor::Word() {
  Space();
  const char* start = p_;
  if (!IsLetter(*p_)) return {};
  while (IsIdent(*p_)) ++p_;
  return From(start);
}

bool Cursor::String(std::string_view& out) {
  if (Peek() != '"') return FailExpected("\"");
  constexpr ptrdiff_t kBlock = ptrdiff_t{1} << 15;  // looked at twice while it is in the cache
  const char* const start = p_;
  const char* p = p_ + 1;
  bool broken = false;
  while (true) {
    const auto block = static_cast<size_t>(std::min(end_ - p, kBlock));
    const char* const quote = static_cast<const char*>(std::memchr(p, '"', block));
    const char* const stop = quote ? quote : p + block;
    broken = broken || std::memchr(p, '\n', static_cast<size_t>(stop - p));
    if (!quote && stop == end_) {
      return Fail(kTruncated, offset(), "this string never ends", "the file was probably cut off");
    }
    p = stop;
    if (!quote) continue;
    size_t backslashes = 0;
    while (quote[-1 - static_cast<ptrdiff_t>(backslashes)] == '\\') ++backslashes;
    ++p;
    if (backslashes % 2 == 0) break;
  }
  p_ = p;
  out = From(start);
  if (!broken) return true;
  return Fail(kSyntax, static_cast<size_t>(start - begin_), "a string may not hold a line break", "close the string");
}

bool Cursor::Symbol(std::string_view& out) {
  if (Peek() != '@') return FailExpected("@name");
  const char* start = p_;
  while (true) {
    ++p_;
    if (*p_ == '"') {
      std::string_view name;
      if (!String(name)) return false;
    } else {
      if (!IsLetter(*p_)) return FailExpected("a name after `@`");
      while (IsIdent(*p_) || (*p_ == '-' && IsIdent(p_[1]))) ++p_;
    }
    if (p_[0] != ':' || p_[1] != ':' || p_[2] != '@') break;
    p_ += 2;
  }
  out = From(start);
  return true;
}

bool Cursor::Integer(std::string_view& out) {
  Space();
  const char* start = p_;
  const char* p = p_;
  if (*p == '-') ++p;
  if (!IsDigit(*p)) return FailExpected("an integer");
  while (IsDigit(*p)) ++p;
  p_ = p;
  out = From(start);
  return true;
}

bool Cursor::SkipBalanced() {
  const size_t start = offset();
  std::string closers(1, Closer(*p_++));
  while (!closers.empty()) {
    const char c = Peek();
    switch (c) {
      case '(':
      case '[':
      case '{':
      case '<':
        closers.push_back(Closer(c));
        break;
      case ')':
      case ']':
      case '}':
      case '>':
        if (c != closers.back()) return FailExpected(std::string(1, closers.back()));
        closers.pop_back();
        break;
      case '"': {
        std::string_view text;
        if (!String(text)) return false;
        continue;
      }
      case '-':
      case '=':
        if (c == '-' ? p_[1] == '>' : false) ++p_;
        break;
      case '\0':
        if (AtEnd()) return Fail(kTruncated, start, "this bracket is never closed", "the file was probably cut off");
        break;
      default:
        break;
    }
    ++p_;
    // `>=` in affine sets closes nothing.
    if (*p_ == '>' && p_[1] == '=' && closers.size() > 1 && closers.back() == ')') p_ += 2;
  }
  return true;
}

bool Cursor::Fail(const DiagnosticKind& kind, size_t offset, std::string message, std::string help) {
  if (failed_) return false;
  failed_ = true;
  error_offset_ = offset;
  error_ = MakeError(kind, std::move(message), {}, std::move(help));
  return false;
}

std::string Cursor::Found() {
  Space();
  if (AtEnd()) return "the end of the file";
  const char* p = p_;
  if (*p == '%' || *p == '@' || *p == '^' || *p == '#' || *p == '!') ++p;
  while (p < end_ && IsIdent(*p)) ++p;
  if (p == p_) ++p;
  const auto c = static_cast<unsigned char>(*p_);
  if (c < 0x20 || c >= 0x7F) return fmt::format("byte 0x{:02X}", c);
  return fmt::format("`{}`", std::string_view(p_, std::min<size_t>(static_cast<size_t>(p - p_), 60)));
}

bool Cursor::FailExpected(std::string_view what) {
  const std::string found = Found();
  const std::string quoted = what.find(' ') == std::string_view::npos ? fmt::format("`{}`", what) : std::string(what);
  if (AtEnd()) return Fail(kTruncated, offset(), fmt::format("expected {}, but the file ends here", quoted));
  size_t at = offset();
  if (!IsLetter(what[0])) {
    // Punctuation missing at the end of a line is reported there, not where the next line begins.
    const char* p = p_;
    while (p > begin_ && IsSpace(p[-1])) --p;
    if (std::memchr(p, '\n', static_cast<size_t>(p_ - p)) && p > begin_) at = static_cast<size_t>(p - begin_);
  }
  return Fail(kSyntax, at, fmt::format("expected {}, found {}", quoted, found));
}

}  // namespace hespas::read
