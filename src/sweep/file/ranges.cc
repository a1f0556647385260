#include "sweep/file/ranges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text/json.h"
#include "base/text/suggest.h"

namespace hespas::sweep {
namespace {

constexpr uint64_t kMostSteps = 1'000'000;

Error Bad(const std::string& name, const std::string& what) {
  return MakeError(kBadSweep, fmt::format("range of `{}`: {}", name, what), {},
                   "{from: \"1 TB/s\", to: \"4 TB/s\", steps: 7, scale: linear or log}; `step` in place of `steps`");
}

std::string UnitOf(const Json& value) {
  if (!value.is_string()) return {};
  const auto& text = value.get_ref<const std::string&>();
  const size_t at = text.find_last_of("0123456789. ");
  return at == std::string::npos ? std::string() : text.substr(at + 1);
}

struct Ends {
  double from = 0;
  double to = 0;
  double step = 0;
  double steps = 0;
};

Status CheckKeys(const std::string& name, const Json& range) {
  static const std::vector<std::string> kKeys = {"from", "to", "steps", "step", "scale"};
  for (const auto& [key, value] : range.items()) {
    if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
      return Bad(name, fmt::format("unknown key `{}`{}", key, DidYouMean(key, kKeys)));
  }
  if (range.contains("scale") && range["scale"] != "log" && range["scale"] != "linear")
    return Bad(name, "`scale` is linear or log");
  return {};
}

// In the unit of `from`.
Result<Ends> ReadEnds(const std::string& name, const Json& range, double unit) {
  Ends ends;
  for (const auto& [key, member] : {std::pair("from", &Ends::from), {"to", &Ends::to}, {"step", &Ends::step}}) {
    if (!range.contains(key)) {
      if (member == &Ends::step) continue;
      return Bad(name, fmt::format("`{}` is missing", key));
    }
    const auto number = NumberOf(range[key]);
    if (!number || !std::isfinite(*number)) return Bad(name, fmt::format("{} is no quantity", JsonText(range[key])));
    ends.*member = *number / unit;
  }
  if (range.contains("steps")) {
    ends.steps = range["steps"].is_number() ? range["steps"].get<double>() : -1;
    if (!(ends.steps >= 1) || ends.steps > kMostSteps || ends.steps != std::floor(ends.steps))
      return Bad(name, fmt::format("`steps` is a whole number from 1 to {}", kMostSteps));
  }
  return ends;
}

// Without the last digits, which are what arithmetic left, and whole where it is.
Json Number(double value, const std::string& unit) {
  const std::string text = fmt::format("{:.12g}", value);
  if (!unit.empty()) return text + " " + unit;
  const double rounded = std::strtod(text.c_str(), nullptr);
  if (rounded == std::floor(rounded) && std::abs(rounded) < 1e15) return static_cast<int64_t>(rounded);
  return rounded;
}

}  // namespace

Json ValueAt(const Range& range, double share) {
  const double value = range.logarithmic ? range.from * std::pow(range.to / range.from, share)
                                         : range.from + share * (range.to - range.from);
  return Number(value, range.unit);
}

Result<Axis> ReadRange(const std::string& name, const Json& range) {
  if (Status keys = CheckKeys(name, range); !keys) return keys.error();
  const std::string unit = range.contains("from") ? UnitOf(range["from"]) : std::string();
  const auto one = unit.empty() ? std::optional(1.0) : NumberOf("1 " + unit);
  const auto ends = ReadEnds(name, range, one.value_or(1.0));
  if (!ends) return ends.error();
  Range values{
      .from = ends->from, .to = ends->to, .logarithmic = range.value("scale", "linear") == "log", .unit = unit};
  if (values.logarithmic && !(values.from > 0 && values.to > 0)) return Bad(name, "a log scale needs ends above 0");
  Axis axis{.name = name, .values = {}, .range = {}};
  if (ends->step != 0) {
    const double count = std::floor((values.to - values.from) / ends->step * (1 + 1e-12));
    if (values.logarithmic || !(count >= 0) || count > kMostSteps) return Bad(name, "`step` does not lead to `to`");
    for (double i = 0; i <= count; ++i) axis.values.push_back(Number(values.from + i * ends->step, unit));
  } else if (ends->steps > 0) {
    for (double i = 0; i < ends->steps; ++i)
      axis.values.push_back(ValueAt(values, ends->steps > 1 ? i / (ends->steps - 1) : 0));
  } else {
    axis.range = values;
  }
  return axis;
}

}  // namespace hespas::sweep
