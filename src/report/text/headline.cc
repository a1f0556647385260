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

std::string ShareOfStep(const result::RunResult& r, Time part) {
  const double step = r.step_time.value > 0 ? static_cast<double>(r.step_time.value) : 1;
  return fmt::format("{:>7}", HumanPercent(static_cast<double>(part.value) / step));
}

std::string Capacity(const result::RunResult& r) {
  if (!r.memory_capacity) return {};
  return fmt::format("{} {}", *r.fits_in_memory ? "fits into" : "DOES NOT FIT into", HumanBytes(*r.memory_capacity));
}

// A paragraph that stands out.
std::string Warned(const std::string& sentence, bool colour) {
  return fmt::format("{}{}{}\n", colour ? "\033[1;31m" : "", Wrapped("Warning: " + sentence), colour ? "\033[0m" : "");
}

// What no network was simulated for is not known to be hidden.
FigureLine ExposedLine(const result::RunResult& r) {
  constexpr const char* kLabel = "  exposed communication";
  if (r.network_model.empty() && r.blocks.communication > 0) {
    return {kLabel, "-", fmt::format("no network was simulated for {} collectives", r.blocks.communication)};
  }
  return {kLabel, HumanTime(r.exposed_communication),
          fmt::format("{}  {} in all, {} overlapped", ShareOfStep(r, r.exposed_communication),
                      HumanTime(r.communication_time), HumanTime(r.overlap))};
}

// The step with its uncertainty, and what it consists of.
std::vector<FigureLine> StepLines(const result::RunResult& r) {
  std::vector<FigureLine> lines = {
      {"step time", HumanTime(r.step_time),
       r.step_time_sigma ? fmt::format("+- {} (one standard deviation)", HumanTime(*r.step_time_sigma)) : ""}};
  if (r.measured_step) {
    const double error = r.step_time.seconds() / r.measured_step->time.seconds() - 1;
    lines.push_back({"measured step", HumanTime(r.measured_step->time),
                     fmt::format("on {}; error of the prediction {:+.1f} %", r.measured_step->platform, 100 * error)});
  }
  lines.push_back({"  compute", HumanTime(r.compute_time), ShareOfStep(r, r.compute_time)});
  lines.push_back(ExposedLine(r));
  lines.push_back({"  idle", HumanTime(r.idle), ShareOfStep(r, r.idle)});
  return lines;
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

std::string LineText(const FigureLine& line) {
  return fmt::format("{:<24}{:>9}{}{}\n", line.label, line.figure, line.note.empty() ? "" : "  ", line.note);
}

std::string HeadlineText(const result::RunResult& r, bool colour) {
  std::string out = fmt::format("{}\non {} x {} ({})\n{}\n", r.program.path, r.npus, r.device,
                                r.system.empty() ? "no network" : r.system, Wrapped(ModelsLine(r)));
  for (const std::string& warning : {FitWarning(r), UnknownWarning(r)}) {
    if (!warning.empty()) out += Warned(warning, colour);
  }
  std::vector<FigureLine> lines = StepLines(r);
  for (FigureLine& line : EfficiencyLines(r)) lines.push_back(std::move(line));
  lines.push_back({"work", HumanFlops(r.flops),
                   fmt::format("{} of traffic, {} of bandwidth", HumanBytes(r.bytes_accessed),
                               HumanPercent(r.memory_bandwidth_utilisation))});
  if (r.peak_memory) lines.push_back({"peak memory", HumanBytes(*r.peak_memory), Capacity(r)});
  if (r.schedule_limit) {
    lines.push_back({"schedule", "limited", "by the device's memory, as XLA's is (--schedule-limit)"});
  }
  for (FigureLine& line : CostLines(r)) lines.push_back(std::move(line));
  for (const FigureLine& line : lines) out += LineText(line);
  return out;
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
