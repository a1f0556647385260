#include "sweep/solve/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text/suggest.h"
#include "report/text/efficiency.h"
#include "report/text/headline.h"
#include "report/text/table.h"
#include "sweep/columns/columns.h"
#include "sweep/file/expression.h"

namespace hespas::sweep {
namespace {

constexpr double kPercent = 0.01;

std::string_view Trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

Error Bad(const std::string& text, std::string what, std::string help = {}) {
  return MakeError(kBadTarget, fmt::format("`{}`: {}", text, what), {},
                   help.empty() ? "for example \"mfu > 40 %\" or \"step_time < 20 ms\"" : std::move(help));
}

bool IsTime(std::string_view column) { return column.ends_with("_s"); }
bool IsFraction(std::string_view column) { return column.ends_with("_utilisation"); }

}  // namespace

Result<Target> Target::Parse(const std::string& text) {
  const size_t at = text.find_first_of("<>");
  if (at == std::string::npos) return Bad(text, "there is no < or >");
  Target target{.text = text, .below = text[at] == '<', .strict = text.compare(at + 1, 1, "=") != 0};
  const std::string name(Trimmed(std::string_view(text).substr(0, at)));
  const auto column = ColumnCalled(name);
  if (!column) return Bad(text, fmt::format("there is no result `{}`", name), DidYouMean(name, ResultNames()));
  target.column = *column;
  std::string_view amount = Trimmed(std::string_view(text).substr(at + (target.strict ? 1 : 2)));
  const bool percent = amount.ends_with('%');
  if (percent) amount = Trimmed(amount.substr(0, amount.size() - 1));
  const auto bound = NumberOf(Json(std::string(amount)));
  if (!bound) return Bad(text, fmt::format("`{}` is no quantity", amount));
  if (percent && !IsTime(target.column) && !IsFraction(target.column))
    return Bad(text, fmt::format("`{}` is neither a time nor a fraction, so % means nothing", name));
  target.of_step = percent && IsTime(target.column);
  target.bound = percent ? *bound * kPercent : *bound;
  return target;
}

std::optional<double> Target::ValueOf(const result::RunResult& result) const {
  Json row = Json::object();
  AddColumns(&result, {}, row);
  const auto value = NumberOf(row.at(column));
  const double step = result.step_time.seconds();
  if (!value || !of_step) return value;
  return step > 0 ? std::optional(*value / step) : std::nullopt;
}

bool Target::Met(double value) const {
  const double miss = Miss(value);
  return strict ? miss < 0 : miss <= 0;
}

std::string Target::Human(double value) const {
  if (of_step) return report::HumanPercent(value) + " of the step";
  if (IsFraction(column)) return report::HumanPercent(value);
  if (IsTime(column)) return report::HumanTime(Time::Seconds(value));
  if (column.ends_with("_bytes")) return report::HumanBytes(Bytes(internal::SaturatingRound(value)));
  if (column.ends_with("_j")) return report::HumanEnergy(value);
  return report::HumanNumber(value);
}

}  // namespace hespas::sweep
