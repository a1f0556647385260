#include "goodput/answer/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "goodput/answer/text.h"
#include "goodput/make_plan.h"
#include "report/page/charts.h"
#include "report/page/html_text.h"
#include "report/page/shell.h"

namespace hespas::goodput {
namespace {

using report::EscapeHtml;

constexpr char kStyle[] = R"(
.steps .row { grid-template-columns: minmax(8em, 12em) 1fr 10em; }
.steps .track { border: 0; background: color-mix(in srgb, var(--line) 40%, transparent); border-radius: 2px; }
.steps .track::before { content: none; }
.useful { background: var(--network); }
.sources td:last-child { min-width: 34ch; }
@media (max-width: 520px) { .steps .row { grid-template: "name by" auto "track track" auto / 1fr auto; } }
@media print { .useful { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
)";

std::string Section(const std::string& id, const std::string& heading, const std::string& text,
                    const std::string& body) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-heading\"><h2 "
      "id=\"{0}-heading\">{1}</h2>\n<p>{2}</p>\n{3}</section>\n",
      id, EscapeHtml(heading), EscapeHtml(text), body);
}

std::string Scroll(const report::Table& table, const std::string& label, const std::string& more = "") {
  return fmt::format(R"(<div class="scroll {}" tabindex="0" role="region" aria-label="Table: {}">{}</div>)", more,
                     label, report::ToHtml(table));
}

std::string Card(const std::string& name, const std::string& figure, const std::string& note) {
  return fmt::format("<div class=\"card\"><dt>{}</dt><dd class=\"figure\">{}</dd><dd class=\"note\">{}</dd></div>\n",
                     EscapeHtml(name), EscapeHtml(figure), EscapeHtml(note));
}

std::string Cards(const Answer& a) {
  std::string out = "<dl class=\"cards\">";
  for (const auto& row : FigureTable(a).rows)
    out += Card(row[0], row[3], fmt::format("{} to {} (5 to 95 %)", row[2], row[4]));
  return out + "</dl>\n";
}

// Each part begins where the one before it ends.
std::string Waterfall(const Answer& a) {
  std::string out = "<figure class=\"steps\">\n";
  double at = 0;
  for (const Bottleneck& part : a.waterfall) {
    if (!(part.seconds > 0)) continue;
    const double share = 100 * part.seconds / a.wall.mean;
    out += fmt::format(
        "<div class=\"row\"><span class=\"name\">{}</span><span class=\"track\" aria-hidden=\"true\"><i class=\"{}\" "
        "style=\"left:{:.2f}%;width:{:.2f}%\"></i></span><span class=\"by\">{} ({:.2f} %)</span></div>\n",
        EscapeHtml(part.name), at == 0 ? "useful" : "slower", std::min(at, 99.7), std::max(share, 0.3),
        HumanDuration(part.seconds), share);
    at += share;
  }
  return out + "</figure>\n";
}

std::string Figure(const std::string& caption, const report::Chart& chart) {
  return fmt::format("<figure><figcaption><h3>{}</h3></figcaption>\n{}</figure>\n", EscapeHtml(caption),
                     report::ScatterSvg(chart));
}

report::Chart CurveChart(const std::vector<CurvePoint>& points, const std::string& label, const std::string& x,
                         double scale) {
  report::Chart chart{.label = label, .x_name = x, .y_name = "wall clock, days", .log_x = true, .series = {}};
  report::Series closed{.name = "closed form", .marks = {}, .line = true};
  report::Series simulated{.name = "simulated", .marks = {}};
  for (const CurvePoint& p : points) {
    closed.marks.push_back({.x = p.at / scale,
                            .y = p.closed / kDay,
                            .title = fmt::format("{}: {}", HumanDuration(p.at), HumanDuration(p.closed)),
                            .link = ""});
    simulated.marks.push_back(
        {.x = p.at / scale,
         .y = p.simulated / kDay,
         .title = fmt::format("{}: {}, simulated", HumanDuration(p.at), HumanDuration(p.simulated)),
         .link = ""});
  }
  chart.series = {closed, simulated};
  return chart;
}

std::string Sensitivity(const Answer& a, const Curves& curves) {
  std::string out = "<div class=\"grid\">";
  out += Figure(
      "Mean time between failures (each with its best checkpoint interval)",
      CurveChart(curves.mtbf, "Wall clock by mean time between failures", "mean time between failures, hours", 3600));
  out += Figure("Checkpoint interval",
                CurveChart(curves.interval, "Wall clock by checkpoint interval", "checkpoint interval, minutes", 60));
  return Section("sensitivity", "What it depends on",
                 fmt::format("The run fails every {} and writes a checkpoint every {}. Young recommends {}, Daly {}.",
                             HumanDuration(a.plan.mtbf()), HumanDuration(a.plan.checkpoint.interval),
                             HumanDuration(a.young), HumanDuration(a.daly)),
                 out + "</div>\n");
}

std::string Scaling(const Curves& curves) {
  if (curves.devices.size() < 2) return "";
  report::Chart time{.label = "Wall clock by number of devices",
                     .x_name = "devices",
                     .y_name = "wall clock, days",
                     .log_x = true,
                     .log_y = true,
                     .series = {}};
  report::Chart price{.label = "Device-hours by number of devices",
                      .x_name = "devices",
                      .y_name = "device-hours, thousands",
                      .log_x = true,
                      .series = {}};
  report::Series days{.name = "days", .marks = {}, .line = true};
  report::Series hours{.name = "device-hours", .marks = {}, .line = true};
  for (const ScalePoint& p : curves.devices) {
    const double wall = p.answer.wall.p50;
    const double spent = wall / 3600 * static_cast<double>(p.devices) / 1e3;
    const auto x = static_cast<double>(p.devices);
    days.marks.push_back(
        {.x = x, .y = wall / kDay, .title = fmt::format("{} devices: {}", p.devices, HumanDuration(wall)), .link = ""});
    hours.marks.push_back({.x = x,
                           .y = spent,
                           .title = fmt::format("{} devices: {:.4g} thousand device-hours", p.devices, spent),
                           .link = ""});
  }
  time.series = {days};
  price.series = {hours};
  const std::string knee =
      curves.knee > 0
          ? fmt::format("The knee is at {} devices: twice as many save less than a third of the time.", curves.knee)
          : "No knee lies in this range: each doubling saves a third of the time or more.";
  return Section(
      "devices", "How many devices",
      "The same tokens on more devices, each with its own share of the batch: the global batch grows with them. " +
          knee,
      "<div class=\"grid\">" + Figure("Wall clock", time) + Figure("Device-hours", price) + "</div>\n" +
          Scroll(ScaleTable(curves), "Numbers of devices"));
}

std::string FailureSection(const Answer& a) {
  report::Table table{.columns = {{"component"}, {"failures a day", report::Align::kRight}, {"takes a node out"}},
                      .rows = {}};
  for (const Component& c : a.components)
    table.rows.push_back({c.name, fmt::format("{:.3g}", c.rate), c.hardware ? "yes" : "no"});
  return Section("failures", "Failures", "Source: " + a.failures_from, Scroll(table, "Failures"));
}

}  // namespace

std::string Page(const Answer& a, const Curves& curves, const std::string& command) {
  std::string body = Cards(a);
  if (!a.unknown.empty())
    body += "<p class=\"notice\">" + EscapeHtml(fmt::format("Unknown and left out: {}.", fmt::join(a.unknown, ", "))) +
            "</p>\n";
  body += Section("waterfall", "Where the days go", "Means over the simulated runs; they add up to the wall clock.",
                  Waterfall(a));
  body += Sensitivity(a, curves) + Scaling(curves);
  body += Section("figures", "The figures", "To send on: mean and percentiles over the simulated runs.",
                  Scroll(FigureTable(a), "Figures"));
  body += FailureSection(a);
  body += Section("assumptions", "Assumptions",
                  "Each is an option of the command. Kinds: given, device, published, assumption, unknown.",
                  Scroll(AssumptionTable(a), "Assumptions", "sources"));
  body += Section("reproduce", "Reproduce", "",
                  "<pre tabindex=\"0\" aria-label=\"Command\">" + EscapeHtml(command) + "</pre>\n");
  const std::string title = fmt::format("What a run costs: {} x {}", a.step.devices, a.step.device);
  return report::PageOf({.title = title,
                         .heading = title,
                         .subtitle = a.step.program,
                         .body = body,
                         .scripts = {},
                         .style = std::string(report::kChartStyle) + kStyle});
}

}  // namespace hespas::goodput
