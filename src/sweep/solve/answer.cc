// A solution for a terminal and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "report/text/efficiency.h"
#include "report/text/table.h"
#include "sweep/columns/json.h"
#include "sweep/solve/solve.h"

namespace hespas::sweep {
namespace {

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

// Of the setting; of a batch the tokens or samples.
std::string Setting(const Solution& s, const Tried& tried) {
  if (s.unknown.kind == Unknown::Kind::kBatch && tried.result.batch())
    return fmt::format("{} {} a step on {:g} devices", report::HumanNumber(*tried.result.batch()),
                       tried.result.throughput->unit, tried.at);
  return HumanQuantity(tried.at, s.unit);
}

std::string HumanValue(const Solution& s, const Tried& tried) {
  return tried.value ? s.target.Human(*tried.value) : "-";
}

// Change of the result in percent for one percent of the setting.
std::optional<double> Elasticity(const Solution& s) {
  if (!s.slope || !s.answer.value || *s.answer.value == 0) return std::nullopt;
  return *s.slope * s.answer.at / *s.answer.value;
}

std::string Verdict(const Solution& s) {
  if (!s.met)
    return fmt::format("nothing between {} and {} meets `{}`; nearest:", HumanQuantity(s.from, s.unit),
                       HumanQuantity(s.to, s.unit), s.target.text);
  const bool border = s.answer.at > s.from && s.answer.at < s.to && s.answer.at != s.now.at;
  if (!border)
    return fmt::format("all of {} to {} meets `{}`:", HumanQuantity(s.from, s.unit), HumanQuantity(s.to, s.unit),
                       s.target.text);
  return fmt::format("`{}` is met {}:", s.target.text, s.rising ? "from here on" : "up to here");
}

Json Point(const Solution& s, const Tried& tried) {
  return {{"at", tried.at},
          {"value", OrNull(tried.value)},
          {"met", tried.value && s.target.Met(*tried.value)},
          {"step_time_s", tried.value ? Json(tried.result.step_time.seconds()) : Json(nullptr)},
          {"npus", tried.value ? Json(tried.result.npus) : Json(nullptr)},
          {"units_per_step", OrNull(tried.result.batch())},
          {"error", tried.error.empty() ? Json(nullptr) : Json(tried.error)}};
}

}  // namespace

std::string ToText(const Solution& s) {
  const Tried& answer = s.answer;
  std::string out = report::Wrapped(Verdict(s)) + "\n";
  const auto line = [&](std::string_view label, const std::string& text) {
    out += fmt::format("{:<16}{}\n", label, text);
  };
  const std::string name = s.unknown.kind == Unknown::Kind::kDimension ? "bind." + s.unknown.name : s.unknown.name;
  line(name.size() < 16 ? name : name + " ", Setting(s, answer));
  line("gives", fmt::format("{}, step time {}", HumanValue(s, answer), report::HumanTime(answer.result.step_time)));
  if (s.today && s.now.value)
    line("today", fmt::format("{}: {}, step time {}", HumanQuantity(*s.today, s.unit), HumanValue(s, s.now),
                              report::HumanTime(s.now.result.step_time)));
  if (const auto elasticity = Elasticity(s))
    line("slope", fmt::format("1 % more of it changes the result by {:+.2g} % there", *elasticity));
  line("found by", fmt::format("{} of {} runs from {} to {}",
                               s.unknown.whole() ? "doubling"
                               : s.monotone      ? "bisection"
                                                 : "scan",
                               s.runs, HumanQuantity(s.from, s.unit), HumanQuantity(s.to, s.unit)));
  line("reproduce with", "hespas run ... " + s.unknown.OptionFor(answer.at));
  return out;
}

std::string ToJson(const Solution& s, const std::string& command) {
  Json points = Json::array();
  for (const Tried& tried : s.tried) points.push_back(Point(s, tried));
  const Json out{{"schema_version", 1},
                 {"find", s.unknown.kind == Unknown::Kind::kDimension ? "bind." + s.unknown.name : s.unknown.name},
                 {"until", s.target.text},
                 {"met", s.met},
                 {"value", s.answer.at},
                 {"text", Setting(s, s.answer)},
                 {"result", OrNull(s.answer.value)},
                 {"bound", s.target.bound},
                 {"of_step", s.target.of_step},
                 {"side", s.rising ? "from" : "up to"},
                 {"today", OrNull(s.today)},
                 {"result_today", OrNull(s.now.value)},
                 {"slope", OrNull(s.slope)},
                 {"elasticity", OrNull(Elasticity(s))},
                 {"method", s.unknown.whole() ? "doubling"
                            : s.monotone      ? "bisection"
                                              : "scan"},
                 {"runs", s.runs},
                 {"range", {s.from, s.to}},
                 {"option", s.unknown.OptionFor(s.answer.at)},
                 {"answer", Point(s, s.answer)},
                 {"points", std::move(points)},
                 {"reproduce", {{"command", command}}}};
  return JsonText(out, 2) + "\n";
}

}  // namespace hespas::sweep
