// Scanning that the decoders of attribute texts share. Positions past the end mean "not found".
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace hespas::ir::scan {

constexpr bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsWord(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '$';
}
constexpr bool IsOpening(char c) { return c == '[' || c == '(' || c == '{' || c == '<'; }
constexpr bool IsClosing(char c) { return c == ']' || c == ')' || c == '}' || c == '>'; }

// The value of a hexadecimal digit, or -1.
constexpr int HexDigit(char c) {
  if (IsDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

size_t SkipSpace(std::string_view text, size_t at);
// Past the closing quote of the string that opens at `at`.
size_t SkipString(std::string_view text, size_t at);
// The first `stop` (a comma, an equals sign or none) outside brackets and strings, from `at`; the end, or a bracket
// that closes more than was opened.
size_t FindTopLevel(std::string_view text, size_t at, char stop);
// The inside of the bracket pair that opens at `at`.
std::string_view Inside(std::string_view text, size_t at);
// Takes a whole word and the white space behind it off the front.
bool ConsumeWord(std::string_view& text, std::string_view word);
// Reads one integer or boolean and moves `at` past it.
bool ScanInteger(std::string_view text, size_t& at, int64_t& value);
// Skips the ` : i64` that may follow a number.
size_t SkipNumberType(std::string_view text, size_t at);

}  // namespace hespas::ir::scan
