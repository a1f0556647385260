#include "base/text/unit_text.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>

namespace hespas {
namespace {

struct Spelling {
  std::string_view text;
  double factor;
};

// A decimal prefix is joined to the digits as an exponent, so that "989.4 T" is the double nearest to 989.4e12.
struct Prefix {
  std::string_view text;
  int exponent;       // decimal
  double factor = 1;  // binary
};

constexpr Prefix kPrefixes[] = {
    {"Ki", 0, 1024.0},
    {"Mi", 0, 1048576.0},
    {"Gi", 0, 1073741824.0},
    {"Ti", 0, 1099511627776.0},
    {"Pi", 0, 1125899906842624.0},
    {"k", 3},
    {"K", 3},
    {"M", 6},
    {"G", 9},
    {"T", 12},
    {"P", 15},
    {"E", 18},
    {"m", -3},
    {"u", -6},
    {"\xc2\xb5", -6},
    {"n", -9},
    {"p", -12},
};

struct Scale {
  int exponent = 0;
  double factor = 1;
};

constexpr Spelling kByteUnits[] = {{"B", 1}, {"bytes", 1}, {"byte", 1}, {"b", 0.125}, {"bit", 0.125}};
constexpr Spelling kRateUnits[] = {{"B/s", 1}, {"Bps", 1}, {"b/s", 0.125}, {"bit/s", 0.125}, {"bps", 0.125}};
constexpr Spelling kFlopUnits[] = {{"FLOP/s", 1}, {"FLOPS", 1}, {"FLOPs", 1},  {"flop/s", 1},
                                   {"OP/s", 1},   {"OPS", 1},   {"FLOPs/s", 1}};
constexpr Spelling kTimeUnits[] = {{"s", 1}, {"sec", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
constexpr Spelling kClockUnits[] = {{"Hz", 1}};
constexpr Spelling kPowerUnits[] = {{"W", 1}};

std::span<const Spelling> UnitsOf(Unit unit) {
  switch (unit) {
    case Unit::kNumber:
      return {};
    case Unit::kBytes:
      return kByteUnits;
    case Unit::kBytesPerSecond:
      return kRateUnits;
    case Unit::kFlopsPerSecond:
      return kFlopUnits;
    case Unit::kSeconds:
      return kTimeUnits;
    case Unit::kHertz:
      return kClockUnits;
    case Unit::kWatts:
      return kPowerUnits;
  }
  return {};
}

std::string_view Trim(std::string_view text) {
  const size_t from = text.find_first_not_of(" \t");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t") - from + 1);
}

std::optional<Scale> ScaleOf(std::string_view text, Unit unit) {
  if (text.empty()) return Scale{};
  for (const Spelling& base : UnitsOf(unit)) {
    if (!text.ends_with(base.text)) continue;
    const std::string_view prefix = text.substr(0, text.size() - base.text.size());
    if (prefix.empty()) return Scale{0, base.factor};
    for (const Prefix& p : kPrefixes) {
      if (prefix == p.text) return Scale{p.exponent, p.factor * base.factor};
    }
  }
  return std::nullopt;
}

double Scaled(std::string_view digits, double number, const Scale& scale) {
  if (scale.exponent == 0) return number * scale.factor;
  double exact = number * std::pow(10.0, scale.exponent);
  if (digits.find_first_of("eE") == std::string_view::npos) {
    const std::string text = fmt::format("{}e{}", digits, scale.exponent);
    std::from_chars(text.data(), text.data() + text.size(), exact);
  }
  return exact * scale.factor;
}

std::string_view Example(Unit unit) {
  switch (unit) {
    case Unit::kNumber:
      return "a plain number";
    case Unit::kBytes:
      return "for example \"80 GB\" or \"40 MiB\"";
    case Unit::kBytesPerSecond:
      return "for example \"3.35 TB/s\" or \"400 Gbit/s\"";
    case Unit::kFlopsPerSecond:
      return "for example \"312 TFLOP/s\"";
    case Unit::kSeconds:
      return "for example \"900 ns\" or \"1.5 us\"";
    case Unit::kHertz:
      return "for example \"1.41 GHz\"";
    case Unit::kWatts:
      return "for example \"400 W\"";
  }
  return "";
}

}  // namespace

Result<double> ParseQuantity(std::string_view text, Unit unit) {
  const std::string_view trimmed = Trim(text);
  double number = 0;
  const auto [rest, error] = std::from_chars(trimmed.data(), trimmed.data() + trimmed.size(), number);
  const auto fail = [&](std::string_view what) {
    return MakeError(kBadQuantity, fmt::format("{} in `{}`", what, text.substr(0, 60)), {},
                     fmt::format("write {}", Example(unit)));
  };
  if (error != std::errc{} || !std::isfinite(number)) return fail("no number");
  const std::string_view suffix =
      Trim(std::string_view(rest, static_cast<size_t>(trimmed.data() + trimmed.size() - rest)));
  const std::optional<Scale> scale = ScaleOf(suffix, unit);
  if (!scale) return fail(fmt::format("unknown unit `{}`", suffix.substr(0, 20)));
  return Scaled(trimmed.substr(0, static_cast<size_t>(rest - trimmed.data())), number, *scale);
}

}  // namespace hespas
