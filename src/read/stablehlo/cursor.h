// A position in MLIR text: white space and comments, single tokens, and the first error of the op being read.
//
// - The text ends with a NUL byte, so one character can always be looked at.
// - After a failure every caller returns false up to the op loop, which reports and recovers.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/diagnostic.h"

namespace hespas::read {

enum CharClass : uint8_t { kOther = 0, kLetter = 1, kDigit = 2, kSpace = 4, kIdent = 8, kHexLetter = 16 };

constexpr std::array<uint8_t, 256> MakeCharClasses() {
  std::array<uint8_t, 256> table{};
  for (size_t c = 'a'; c <= 'z'; ++c) table[c] = table[c - 32] = kLetter | kIdent | (c <= 'f' ? kHexLetter : kOther);
  for (size_t c = '0'; c <= '9'; ++c) table[c] = kDigit | kIdent;
  table['_'] = kLetter | kIdent;
  table['$'] = table['.'] = kIdent;
  table[' '] = table['\t'] = table['\n'] = table['\r'] = kSpace;
  return table;
}
inline constexpr std::array<uint8_t, 256> kCharClass = MakeCharClasses();

inline bool IsDigit(char c) { return c >= '0' && c <= '9'; }
inline bool IsSpace(char c) { return kCharClass[static_cast<uint8_t>(c)] & kSpace; }
// Characters of an identifier after its first: letters, digits, `_`, `$`, `.`.
inline bool IsIdent(char c) { return kCharClass[static_cast<uint8_t>(c)] & kIdent; }
inline bool IsLetter(char c) { return kCharClass[static_cast<uint8_t>(c)] & kLetter; }
inline bool IsHexDigit(char c) { return kCharClass[static_cast<uint8_t>(c)] & (kDigit | kHexLetter); }

class Cursor {
 public:
  Cursor() = default;
  // `text` must be followed by a NUL byte.
  explicit Cursor(std::string_view text) : begin_(text.data()), p_(begin_), end_(begin_ + text.size()) {}

  const char* at() const { return p_; }
  const char* end() const { return end_; }
  size_t offset() const { return static_cast<size_t>(p_ - begin_); }
  void MoveTo(const char* p) { p_ = p; }
  void MoveTo(size_t offset) { p_ = begin_ + offset; }
  void Advance(size_t n = 1) { p_ += n; }
  bool AtEnd() const { return p_ >= end_; }
  char operator*() const { return *p_; }
  char operator[](ptrdiff_t i) const { return p_[i]; }
  std::string_view From(const char* start) const { return {start, static_cast<size_t>(p_ - start)}; }

  void Space() {
    if (*p_ == ' ') ++p_;  // most often the only one
    if (IsSpace(*p_) || *p_ == '/') SkipSpace();
  }
  char Peek() {
    Space();
    return *p_;
  }
  bool Eat(char c) {
    if (Peek() != c) return false;
    ++p_;
    return true;
  }
  bool Expect(char c) { return Eat(c) || FailExpected(std::string(1, c)); }
  bool EatArrow();  // `->`
  bool ExpectArrow() { return EatArrow() || FailExpected("->"); }
  // A whole word, for example `dims`.
  bool EatWord(std::string_view word);
  bool ExpectWord(std::string_view word) { return EatWord(word) || FailExpected(word); }
  // letter or `_`, then letters, digits, `_ $ .`; empty where there is none.
  std::string_view Word();
  // Text of a string literal with its quotes.
  bool String(std::string_view& out);
  // `@name` or `@"name"`, and `@a::@b`, as written.
  bool Symbol(std::string_view& out);
  // A decimal integer, possibly negative.
  bool Integer(std::string_view& out);
  // Steps over `( [ { <` to its matching closer; strings, comments, `->` and `>=` are understood.
  bool SkipBalanced();

  bool failed() const { return failed_; }
  const Diagnostic& error() const { return error_; }
  size_t error_offset() const { return error_offset_; }
  void ClearError() { failed_ = false; }
  // Notes the first failure; always false.
  bool Fail(const DiagnosticKind& kind, size_t offset, std::string message, std::string help = {});
  bool Fail(const DiagnosticKind& kind, std::string message) { return Fail(kind, offset(), std::move(message)); }
  // "expected `X`, found `Y`" at the current token.
  bool FailExpected(std::string_view what);
  // "`Y`", a word for the token at the cursor.
  std::string Found();

 private:
  void SkipSpace();

  const char* begin_ = nullptr;
  const char* p_ = nullptr;
  const char* end_ = nullptr;
  bool failed_ = false;
  size_t error_offset_ = 0;
  Diagnostic error_;
};

}  // namespace hespas::read
