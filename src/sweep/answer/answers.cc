#include "sweep/answer/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>

#include "base/text/json.h"
#include "report/text/efficiency.h"

namespace hespas::sweep {
namespace {

struct Question {
  std::string_view text;
  std::string_view column;
  bool most = false;      // rather than least
  bool must_fit = false;  // in memory
};

constexpr Question kQuestions[] = {
    {"fewest devices that fit", "npus", false, true},
    {"most per second and device", "units_per_second_per_device", true},
    {"least energy a step", "energy_all_devices_j"},
    {"lowest cost a step", "cost_per_step"},
    {"fastest run", "run_time_s"},
    {"least energy a run", "run_energy_j"},
    {"lowest cost a run", "run_cost"},
};

Json BestOf(const std::vector<const Json*>& rows, const Question& question) {
  const Json* best = nullptr;
  double best_value = 0;
  double best_time = 0;
  for (const Json* row : rows) {
    const Json value = ValueOf(*row, std::string(question.column));
    if (!value.is_number() || (question.must_fit && row->value("fits_in_memory", Json()) == false)) continue;
    const double amount = question.most ? -value.get<double>() : value.get<double>();
    const double time = row->at("step_time_s").get<double>();
    if (best != nullptr && (amount > best_value || (amount == best_value && time >= best_time))) continue;
    best = row;
    best_value = amount;
    best_time = time;
  }
  return best != nullptr ? *best : Json();
}

std::string Significant(double value, std::string_view unit) {
  return fmt::format("{:.4g}{}{}", value, unit.empty() ? "" : " ", unit);
}

}  // namespace

std::vector<const Json*> Feasible(const std::vector<Json>& rows, const std::vector<Expression>& constraints) {
  std::vector<const Json*> feasible;
  for (const Json& row : rows) {
    if (!row.value("error", Json()).is_null()) continue;
    const auto lookup = [&](const std::string& name) { return ValueOf(row, name); };
    const bool meets = std::all_of(constraints.begin(), constraints.end(),
                                   [&](const Expression& constraint) { return constraint.Holds(lookup); });
    if (meets) feasible.push_back(&row);
  }
  return feasible;
}

std::string WorkNote(const std::vector<Json>& rows) {
  std::vector<report::WorkOfStep> work;
  for (const Json& row : rows) {
    const Json flops = row.value("flops_all_devices", Json());
    if (!flops.is_number()) continue;
    const Json batch = row.value("units_per_step", Json());
    const Json unit = row.value("unit", Json());
    work.push_back({.flops = flops.get<double>(),
                    .batch = batch.is_number() ? std::optional(batch.get<double>()) : std::nullopt,
                    .unit = unit.is_string() ? unit.get<std::string>() : ""});
  }
  return report::UnequalWork(work);
}

std::vector<Answer> AnswersOf(const std::vector<Json>& rows, const std::vector<Expression>& constraints,
                              const std::string& minimise) {
  const std::vector<const Json*> feasible = Feasible(rows, constraints);
  const std::string goal = ColumnCalled(minimise).value_or(minimise);
  const std::string unequal = WorkNote(rows).empty() ? "" : " (UNEQUAL WORK)";
  std::vector<Answer> answers = {{"least " + minimise + unequal, goal, BestOf(feasible, {.text = "", .column = goal})}};
  for (const Question& question : kQuestions) {
    const std::string column(question.column);
    const bool known =
        std::any_of(rows.begin(), rows.end(), [&](const Json& row) { return row.value(column, Json()).is_number(); });
    if (!known || column == goal) continue;
    std::string text(question.text);
    if (question.must_fit && !constraints.empty()) text += " and meet the constraints";
    answers.push_back({std::move(text), column, BestOf(feasible, question)});
  }
  return answers;
}

std::vector<std::string> ProgramsOf(const std::vector<Json>& rows) {
  std::vector<std::string> programs;
  for (const Json& row : rows) {
    std::string program = TextOf(row.value("program", Json("")));
    if (std::find(programs.begin(), programs.end(), program) == programs.end()) programs.push_back(std::move(program));
  }
  return programs;
}

std::vector<Json> RowsOf(const std::vector<Json>& rows, const std::string& program) {
  std::vector<Json> own;
  std::copy_if(rows.begin(), rows.end(), std::back_inserter(own),
               [&](const Json& row) { return TextOf(row.value("program", Json(""))) == program; });
  return own;
}

std::vector<Answer> AnswersByProgram(const std::vector<Json>& rows, const std::vector<Expression>& constraints,
                                     const std::string& minimise) {
  std::vector<Answer> answers;
  for (const std::string& program : ProgramsOf(rows)) {
    for (Answer& answer : AnswersOf(RowsOf(rows, program), constraints, minimise)) answers.push_back(std::move(answer));
  }
  return answers;
}

std::string HumanValue(const std::string& column, const Json& value) {
  if (value.is_null()) return "-";
  if (!value.is_number()) return TextOf(value);
  const double number = value.get<double>();
  if (column == "run_time_s") return number < 7200 ? Significant(number, "s") : Significant(number / 3600, "h");
  if (column.ends_with("_s")) return report::HumanTime(Time::Seconds(number));
  if (column.ends_with("_bytes")) return report::HumanBytes(Bytes(static_cast<int64_t>(number)));
  if (column == "mfu" || column == "hfu" || column.ends_with("_utilisation")) return report::HumanPercent(number);
  if (column.starts_with("units_per_second")) return report::HumanNumber(number);
  if (column.ends_with("_j")) return number < 1e6 ? Significant(number, "J") : Significant(number / 3.6e6, "kWh");
  return Significant(number, "");
}

std::string ShortText(const Json& value) {
  const std::string text = TextOf(value);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || text.find('.') == std::string::npos) return text;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  const bool plain = unit.empty() || unit.front() == ' ';  // "8x64" is a shape
  return plain ? fmt::format("{:.4g}{}", number, unit) : text;
}

report::Table TableOf(const std::vector<Answer>& answers, const std::vector<std::string>& axes) {
  report::Table table{.columns = {{"question"}, {"answer", report::Align::kRight}, {"point", report::Align::kRight}},
                      .rows = {}};
  for (const std::string& axis : axes) table.columns.push_back({axis});
  table.columns.push_back({"devices", report::Align::kRight});
  table.columns.push_back({"batch", report::Align::kRight});
  table.columns.push_back({"FLOPs", report::Align::kRight});
  table.columns.push_back({"step", report::Align::kRight});
  for (const Answer& answer : answers) {
    if (answer.row.is_null()) {
      std::vector<std::string> none(table.columns.size());
      none[0] = answer.question;
      none[1] = "none";
      table.rows.push_back(std::move(none));
      continue;
    }
    std::vector<std::string> row = {answer.question, HumanValue(answer.column, answer.row.at(answer.column)),
                                    JsonText(answer.row.at("point"))};
    for (const std::string& axis : axes) row.push_back(TextOf(answer.row.value(axis, Json())));
    row.push_back(JsonText(answer.row.at("npus")));
    for (const char* column : {"units_per_step", "flops_all_devices"}) {
      const Json amount = answer.row.value(column, Json());
      row.push_back(amount.is_number() ? report::HumanNumber(amount.get<double>()) : "-");
    }
    row.push_back(HumanValue("step_time_s", answer.row.at("step_time_s")));
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace hespas::sweep
