// Shortest decimal digits of doubles (std::to_chars), from fmt's.
#include "missing_from_libcxx.h"

#ifdef _LIBCPP_VERSION
#if _LIBCPP_VERSION < 14000
#include <cmath>
#include <cstdlib>
#include <string_view>

_LIBCPP_BEGIN_NAMESPACE_STD
namespace {

struct Digits {
  string text;       // without point
  int exponent = 0;  // of the first digit
};

// fmt's shortest text, in either of its forms, as digits and exponent.
Digits DigitsOf(double magnitude) {
  string text = fmt::format("{}", magnitude);
  Digits digits;
  const size_t e = text.find('e');
  int exponent = e == string::npos ? 0 : atoi(text.c_str() + e + 1);
  if (e != string::npos) text.resize(e);
  const size_t point = text.find('.');
  exponent += static_cast<int>(point == string::npos ? text.size() : point) - 1;
  if (point != string::npos) text.erase(point, 1);
  const size_t first = text.find_first_not_of('0');
  if (first == string::npos) return {.text = "0", .exponent = 0};
  const size_t last = text.find_last_not_of('0');
  return {.text = text.substr(first, last + 1 - first), .exponent = exponent - static_cast<int>(first)};
}

string Scientific(const Digits& digits) {
  string text = digits.text.substr(0, 1);
  if (digits.text.size() > 1) text += "." + digits.text.substr(1);
  return text + fmt::format("e{}{:02}", digits.exponent < 0 ? '-' : '+', abs(digits.exponent));
}

string Fixed(const Digits& digits, double magnitude) {
  const int size = static_cast<int>(digits.text.size());
  if (digits.exponent + 1 >= size) return fmt::format("{:.0f}", magnitude);
  if (digits.exponent < 0) return "0." + string(static_cast<size_t>(-digits.exponent - 1), '0') + digits.text;
  string text = digits.text;
  return text.insert(static_cast<size_t>(digits.exponent + 1), ".");
}

string Text(double value, bool scientific) {
  const string sign = signbit(value) ? "-" : "";
  if (isnan(value)) return sign + "nan";
  if (isinf(value)) return sign + "inf";
  const double magnitude = fabs(value);
  const Digits digits = DigitsOf(magnitude);
  const string exponential = Scientific(digits);
  if (scientific) return sign + exponential;
  const string plain = Fixed(digits, magnitude);
  return sign + (plain.size() <= exponential.size() ? plain : exponential);
}

to_chars_result Put(char* first, char* last, const string& text) {
  if (static_cast<size_t>(last - first) < text.size()) return {last, errc::value_too_large};
  return {copy(text.begin(), text.end(), first), errc()};
}

}  // namespace

to_chars_result to_chars(char* first, char* last, double value) { return Put(first, last, Text(value, false)); }
to_chars_result to_chars(char* first, char* last, double value, chars_format format) {
  return Put(first, last, Text(value, format == chars_format::scientific));
}

_LIBCPP_END_NAMESPACE_STD
#endif
#endif
