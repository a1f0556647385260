#include "goodput/answer/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "goodput/make_plan.h"

namespace hespas::goodput {
namespace {

using report::Align;

constexpr double kMegawattHour = 1e3 * kKilowattHour;

std::string Short(double value) {
  if (value == 0) return "0";
  const double magnitude = std::fabs(value);
  if (magnitude >= 1e15 || magnitude < 1e-3) return fmt::format("{:.3g}", value);
  constexpr std::pair<double, const char*> kPrefixes[] = {{1e12, " T"}, {1e9, " G"}, {1e6, " M"}, {1e4, " k"}};
  for (const auto& [scale, name] : kPrefixes) {
    if (magnitude >= scale) {
      const double thousands = scale == 1e4 ? 1e3 : scale;
      return fmt::format("{:.{}f}{}", value / thousands,
                         value / thousands < 10    ? 2
                         : value / thousands < 100 ? 1
                                                   : 0,
                         name);
    }
  }
  return fmt::format("{:.{}f}", value, magnitude < 10 ? 2 : magnitude < 100 ? 1 : 0);
}

std::string Percent(double fraction) { return fmt::format("{:.1f} %", 100 * fraction); }

// A setting's value with its unit.
std::string ValueText(const SettingInfo& info, double value) {
  switch (info.unit) {
    case Unit::kSeconds:
      return HumanDuration(value);
    case Unit::kBytesPerSecond:
      return Short(value) + "B/s";
    case Unit::kWatts:
      return fmt::format("{:.4g} W", value);
    default:
      return fmt::format("{:.4g}", value);
  }
}

template <class Text>
void Add(report::Table& table, std::string name, const Spread& spread, Text text) {
  table.rows.push_back({std::move(name), text(spread.mean), text(spread.p5), text(spread.p50), text(spread.p95)});
}

std::string CheckpointLine(const Answer& a) {
  const Checkpoint& c = a.plan.checkpoint;
  std::string out = fmt::format("{} of {}, every {}, {} of pause", a.options.checkpoint,
                                report::HumanBytes(Bytes{static_cast<int64_t>(a.checkpoint_bytes)}),
                                HumanDuration(c.interval), HumanDuration(c.stall));
  if (c.lag > 0) out += fmt::format(", {} to write", HumanDuration(c.lag));
  if (c.tiers) out += fmt::format("; each {}. to storage, {} to write", c.persist_every, HumanDuration(c.persist_lag));
  return out;
}

}  // namespace

std::string HumanDuration(double seconds) {
  if (seconds == 0) return "0 s";
  if (seconds >= 2 * kDay) return fmt::format("{:.{}f} d", seconds / kDay, seconds < 100 * kDay ? 1 : 0);
  if (seconds >= 2 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  if (seconds >= 120) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds >= 1) return fmt::format("{:.3g} s", seconds);
  return fmt::format("{:.3g} ms", seconds * 1e3);
}

report::Table FigureTable(const Answer& a) {
  report::Table table{.columns = {{"figure"},
                                  {"mean", Align::kRight},
                                  {"5 %", Align::kRight},
                                  {"median", Align::kRight},
                                  {"95 %", Align::kRight}},
                      .rows = {}};
  Add(table, "wall clock", a.wall, HumanDuration);
  Add(table, "goodput", a.goodput, Percent);
  Add(table, a.step.unit + " a day", a.tokens_per_day, Short);
  Add(table, "failures", a.failures, Short);
  if (a.energy) {
    const auto megawatt_hours = [](double joules) { return fmt::format("{:.4g}", joules / kMegawattHour); };
    Add(table, "energy, MWh", *a.energy, megawatt_hours);
    Add(table, "CO2, t", *a.carbon, [](double kg) { return fmt::format("{:.4g}", kg / 1000); });
  }
  if (a.cost)
    Add(table, "cost, " + (a.step.price ? a.step.price->currency : "as the electricity price"), *a.cost, Short);
  return table;
}

report::Table WaterfallTable(const Answer& a) {
  report::Table table{.columns = {{"where the time goes"}, {"mean", Align::kRight}, {"of the run", Align::kRight}},
                      .rows = {}};
  for (const Bottleneck& part : a.waterfall) {
    if (part.seconds > 0)
      table.rows.push_back(
          {part.name, HumanDuration(part.seconds), fmt::format("{:.2f} %", 100 * part.seconds / a.wall.mean)});
  }
  return table;
}

report::Table AssumptionTable(const Answer& a) {
  report::Table table{.columns = {{"setting"}, {"value", Align::kRight}, {"kind"}, {"meaning"}, {"source"}},
                      .rows = {}};
  for (const SettingInfo& info : kSettings) {
    const SettingValue& value = a.settings.At(info.setting);
    table.rows.push_back(
        {std::string(info.name), ValueText(info, value.value), value.kind, std::string(info.help), value.source});
  }
  return table;
}

report::Table ScaleTable(const Curves& curves) {
  report::Table table{.columns = {{"devices", Align::kRight},
                                  {"step", Align::kRight},
                                  {"wall clock", Align::kRight},
                                  {"goodput", Align::kRight},
                                  {"device-hours", Align::kRight},
                                  {"energy, MWh", Align::kRight},
                                  {"cost", Align::kRight}},
                      .rows = {}};
  for (const ScalePoint& point : curves.devices) {
    const Answer& a = point.answer;
    table.rows.push_back({std::to_string(point.devices), HumanDuration(a.step.seconds), HumanDuration(a.wall.p50),
                          Percent(a.goodput.p50), Short(a.wall.p50 / 3600 * static_cast<double>(point.devices)),
                          a.energy ? fmt::format("{:.4g}", a.energy->p50 / kMegawattHour) : "-",
                          a.cost ? Short(a.cost->p50) : "-"});
  }
  return table;
}

std::string ScaleText(const Curves& curves) {
  const std::string knee =
      curves.knee == 0 ? "none of these: doubling still saves a third of the time and more"
                       : fmt::format("{} devices; twice as many save less than a third of the time", curves.knee);
  return report::ToText(ScaleTable(curves)) + fmt::format("knee          {}\n", knee);
}

std::string Summary(const Answer& a) {
  const Plan& plan = a.plan;
  std::string out = fmt::format("{}\non {} x {}, {} nodes and {} spare\n\n", a.step.program, a.step.devices,
                                a.step.device, plan.pool.nodes, plan.pool.spares);
  const auto line = [&](std::string_view name, const std::string& text) {
    out += fmt::format("{:<14}{}\n", name, text);
  };
  line("run", fmt::format("{} {}, {} steps of {} {} in {} (+- {:.1f} %)", Short(a.options.tokens), a.step.unit,
                          Short(static_cast<double>(a.steps)), Short(a.step.batch), a.step.unit,
                          HumanDuration(a.step.seconds), 100 * a.step.sigma));
  line("failures", fmt::format("one in {} (Weibull shape {:.3g}), recovery {}", HumanDuration(plan.mtbf()),
                               plan.failures.shape, HumanDuration(plan.MeanRecovery())));
  line("checkpoints", CheckpointLine(a));
  line("intervals",
       fmt::format("Young {}, Daly {}, best {}", HumanDuration(a.young), HumanDuration(a.daly), HumanDuration(a.best)));
  line("closed form", fmt::format("{} ({}); simulated {} runs", HumanDuration(a.closed_form.wall),
                                  a.closed_form.exact ? "exact" : "first order", a.options.runs));
  if (a.power) {
    line("power",
         fmt::format("{:.0f} W a device, {:.2f} kW a node while training, {:.2f} kW in pauses; PUE {:.3g}",
                     a.power->device_w, a.power->node_w / 1e3, a.power->pause_w / 1e3, a.settings[Setting::kPue]));
    if (a.power->clock < 1)
      line("power cap", fmt::format("clock {:.1f} % of the maximum, a step takes {:.1f} % longer", 100 * a.power->clock,
                                    100 * (a.power->step - 1)));
  }
  out += "\n" + report::ToText(FigureTable(a)) + "\n" + report::ToText(WaterfallTable(a));
  if (!a.power) out += "\nUnknown: power, because the device file has no TDP.\n";
  if (!a.unknown.empty())
    out += "\n" + report::Wrapped(
                      fmt::format("Unknown and left out: {}. Each is an option; docs/goodput.md lists all assumptions.",
                                  fmt::join(a.unknown, ", ")));
  return out;
}

}  // namespace hespas::goodput
