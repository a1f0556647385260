#include "report/text/headline.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/text/unit_column.h"

namespace hespas::report {
namespace {

constexpr double kCent = 0.01;

std::string HumanAmount(double amount) {
  constexpr double kWhole = 100;
  return amount == 0       ? "0"
         : amount < kCent  ? fmt::format("{:.2g}", amount)
         : amount < kWhole ? fmt::format("{:.3g}", amount)
                           : fmt::format("{:.0f}", amount);
}

double Gain(const result::RunResult& r, const result::WhatIf& row) {
  return r.step_time.value > 0 ? 1 - row.step_time.seconds() / r.step_time.seconds() : 0;
}

}  // namespace

std::string HumanMoney(double amount, const std::string& currency) { return HumanAmount(amount) + " " + currency; }

std::string HumanEnergy(double joules) {
  const std::string number = HumanNumber(joules);
  return number.find(' ') == std::string::npos ? number + " J" : number + "J";
}

std::string ModelsLine(const result::RunResult& r) {
  const std::string network = r.network_model.empty() ? "no network" : fmt::format("{} network model", r.network_model);
  return fmt::format("{} estimator, {}, --optimise {}", r.estimator, network, r.optimise);
}

std::vector<FigureLine> CostLines(const result::RunResult& r) {
  std::vector<FigureLine> lines;
  const std::string million = r.throughput ? fmt::format("per million {}", r.throughput->unit) : "";
  if (const auto energy = r.energy_per_million()) {
    lines.push_back(
        {"energy", HumanEnergy(*energy), fmt::format("{}; {} a device and step", million, HumanEnergy(*r.energy_j))});
  } else if (r.energy_j) {
    lines.push_back({"energy", HumanEnergy(*r.energy_j), "per device and step"});
  }
  if (!r.price) return lines;
  const std::string at = fmt::format("at {:g} per device and hour", r.price->per_hour);
  if (const auto cost = r.cost_per_million()) {
    lines.push_back({"cost", HumanAmount(*cost), fmt::format("{} {}, {}", r.price->currency, million, at)});
  } else {
    const double step = CostOf(*r.price, r.step_time.seconds() * static_cast<double>(r.npus));
    lines.push_back({"cost", HumanAmount(step), fmt::format("{} per step of all devices, {}", r.price->currency, at)});
  }
  return lines;
}

std::vector<result::WhatIf> BestWhatIfs(const result::RunResult& r, size_t most) {
  std::vector<result::WhatIf> rows;
  for (const result::WhatIf& row : r.what_if) {
    if (row.step_time < r.step_time) rows.push_back(row);
  }
  std::ranges::stable_sort(rows, {}, &result::WhatIf::step_time);
  if (rows.size() > most) rows.resize(most);
  return rows;
}

Table WhatIfTable(const result::RunResult& r) {
  const std::vector<result::WhatIf> rows = BestWhatIfs(r);
  UnitColumn names{
      .column = {r.what_if.empty() || !r.what_if.front().estimated ? "would help most" : "would help most, about"},
      .cells = {}};
  UnitColumn gains{.column = {"change", Align::kRight}, .cells = {}};
  UnitColumn options{.column = {"reproduce with"}, .cells = {}};
  std::vector<Time> times;
  for (const result::WhatIf& row : rows) {
    names.cells.push_back(row.name);
    gains.cells.push_back(fmt::format("-{}", HumanPercent(Gain(r, row))));
    options.cells.push_back(row.options);
    times.push_back(row.step_time);
  }
  UnitColumn steps = TimeColumn("step", times);
  Table table;
  AddColumn(table, std::move(names));
  AddColumn(table, std::move(steps));
  AddColumn(table, std::move(gains));
  AddColumn(table, std::move(options));
  return table;
}

}  // namespace hespas::report
