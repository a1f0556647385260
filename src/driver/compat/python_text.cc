#include "driver/compat/python_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace hespas::driver::compat {
namespace {

// Digits without a point, and the power of ten of the first digit.
struct Decimal {
  bool negative = false;
  std::string digits;
  int exponent = 0;
};

Decimal Shortest(double x) {
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, x, std::chars_format::scientific).ptr;
  std::string_view text(buffer, static_cast<size_t>(end - buffer));
  Decimal out;
  if (text.starts_with('-')) {
    out.negative = true;
    text.remove_prefix(1);
  }
  const size_t e = text.find('e');
  for (const char c : text.substr(0, e)) {
    if (c != '.') out.digits += c;
  }
  out.exponent = std::atoi(std::string(text.substr(e + 1)).c_str());
  return out;
}

}  // namespace

std::string Repr(double x) {
  if (std::isnan(x)) return "nan";
  if (std::isinf(x)) return x < 0 ? "-inf" : "inf";
  Decimal d = Shortest(x);
  std::string out;
  if (d.exponent < -4 || d.exponent >= 16) {
    out = d.digits.substr(0, 1);
    if (d.digits.size() > 1) out += "." + d.digits.substr(1);
    out += fmt::format("e{}{:02}", d.exponent < 0 ? '-' : '+', std::abs(d.exponent));
  } else if (d.exponent < 0) {
    out = "0." + std::string(static_cast<size_t>(-d.exponent - 1), '0') + d.digits;
  } else {
    const auto whole = static_cast<size_t>(d.exponent) + 1;
    if (d.digits.size() < whole) d.digits.append(whole - d.digits.size(), '0');
    out = d.digits.substr(0, whole) + "." + (d.digits.size() > whole ? d.digits.substr(whole) : "0");
  }
  return d.negative ? "-" + out : out;
}

std::string RoundedRepr(double x) {
  if (!std::isfinite(x)) return Repr(x);
  // Correctly rounded, as Python's round: the exact binary value, half to even.
  return Repr(std::strtod(fmt::format("{:.3f}", x).c_str(), nullptr));
}

std::string WithPrefix(double value, std::string_view unit) {
  constexpr std::string_view kUp[] = {"", "k", "M", "G", "T", "P", "E", "Z", "Y", "R", "Q"};
  constexpr std::string_view kDown[] = {"", "m", "u", "n", "p", "f", "a", "z", "y", "r", "q"};
  size_t up = 0;
  size_t down = 0;
  while (value >= 1000 && up + 1 < std::size(kUp)) {
    value /= 1000;
    ++up;
  }
  while (up == 0 && value <= 0.001 && down + 1 < std::size(kDown)) {
    value *= 1000;
    ++down;
  }
  return fmt::format("{} {}{}", RoundedRepr(value), up > 0 ? kUp[up] : kDown[down], unit);
}

std::string JsonString(std::string_view text) { return AsciiJsonText(nlohmann::json(std::string(text))); }

}  // namespace hespas::driver::compat
