#include "driver/serving/report_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/serving/chart.h"
#include "report/page/charts.h"
#include "report/page/html_text.h"
#include "report/page/shell.h"

namespace hespas::driver {
namespace {

std::string Card(const std::string& label, const std::string& figure, const std::string& note) {
  return fmt::format("<div class=\"card\"><dt>{}</dt><dd class=\"figure\">{}</dd><dd class=\"note\">{}</dd></div>\n",
                     label, figure, note);
}

std::string Milliseconds(double seconds) {
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : fmt::format("{:.3g} s", seconds);
}

std::string Cards(const ServeAnswer& a) {
  const serve::Figures& f = a.figures;
  std::string out = "<dl class=\"cards\">";
  out += Card("Time to first token", Milliseconds(f.ttft.mean), fmt::format("mean; p99 {}", Milliseconds(f.ttft.p99)));
  out +=
      Card("Time per output token", Milliseconds(f.tpot.mean), fmt::format("mean; p99 {}", Milliseconds(f.tpot.p99)));
  out +=
      Card("Output tokens a second and device", fmt::format("{:.4g}", f.tokens_per_s / static_cast<double>(a.devices)),
           fmt::format("{:.3g} requests a second in all", f.requests_per_s));
  out +=
      Card("Mean batch", fmt::format("{:.3g}", f.mean_batch), fmt::format("{} preemptions", a.run.counts.preemptions));
  return out + "</dl>\n";
}

std::string Section(const std::string& heading, const std::string& body) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", heading, body);
}

std::string Grid(const std::string& charts) { return "<div class=\"grid\">" + charts + "</div>\n"; }

// Shares of requests up to each time.
ChartLine Cumulative(const std::string& name, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  ChartLine line{.name = name, .points = {}};
  for (size_t i = 0; i < values.size(); ++i)
    line.points.emplace_back(values[i], static_cast<double>(i + 1) / static_cast<double>(values.size()));
  return line;
}

std::string Distributions(const ServeAnswer& a) {
  std::vector<double> first;
  std::vector<double> each;
  std::vector<double> whole;
  for (size_t i = 0; i < a.run.records.size(); ++i) {
    const serve::Record& r = a.run.records[i];
    if (r.sent < 0) continue;
    const auto tokens = static_cast<double>(a.workload.requests[i].output);
    first.push_back(r.first - r.sent);
    whole.push_back(r.last - r.sent);
    if (tokens > 1) each.push_back(1e3 * (r.last - r.first) / (tokens - 1));
  }
  return Chart({Cumulative("time to first token", std::move(first))}, "s", "share of requests") +
         Chart({Cumulative("time per output token", std::move(each))}, "ms", "share of requests") +
         Chart({Cumulative("end to end", std::move(whole))}, "s", "share of requests");
}

std::string Occupancy(const ServeAnswer& a) {
  ChartLine running{.name = "running", .points = {}};
  ChartLine waiting{.name = "waiting", .points = {}};
  ChartLine blocks{.name = "blocks of the cache", .points = {}};
  for (const serve::Moment& moment : a.run.timeline) {
    running.points.emplace_back(moment.time, moment.running);
    waiting.points.emplace_back(moment.time, moment.waiting);
    blocks.points.emplace_back(moment.time, moment.blocks_used);
  }
  return Chart({running, waiting}, "s", "requests") + Chart({blocks}, "s", "blocks");
}

std::string Steps(const ServeAnswer& a) {
  std::vector<ChartBar> bars;
  for (const serve::StepRecord& step : a.run.steps)
    bars.push_back({.from = step.start, .to = step.end, .lower = step.decode_rows, .upper = step.prompt_tokens});
  return BarChart(bars, {"rows of decodes", "tokens of prompts"}, "s", "rows");
}

std::string AllFigures(const ServeAnswer& a) {
  report::Table table{.columns = {{"figure"}, {"value", report::Align::kRight}}, .rows = {}};
  for (const auto& [name, value] : ToRows(a)) table.rows.push_back({name, value});
  return report::ToHtml(table);
}

}  // namespace

std::string ServePage(const ServeAnswer& answer) {
  std::string body;
  for (const Diagnostic& warning : answer.warnings)
    body += "<p class=\"notice\">" + report::EscapeHtml(warning.message) + "</p>\n";
  body += Cards(answer) + Section("Latencies", Grid(Distributions(answer))) +
          Section("Batch and cache over time", Grid(Occupancy(answer))) +
          Section(fmt::format("The first {} steps", answer.run.steps.size()), Grid(Steps(answer))) +
          Section("A decode step", report::ToHtml(ExplainTable(answer))) + Section("All figures", AllFigures(answer)) +
          Section("Reproduce", "<pre>" + report::EscapeHtml(answer.command_line) + "</pre>");
  const std::string title = fmt::format("{} on {} x {}", answer.model, answer.devices, answer.device);
  return report::PageOf({.title = title,
                         .heading = title,
                         .subtitle = fmt::format("{} {}", answer.engine, answer.engine_version),
                         .body = body,
                         .scripts = {},
                         .style = report::kChartStyle});
}

std::string SearchPage(const SearchAnswer& answer, const ServeOptions& options) {
  ChartLine all{.name = "layouts", .points = {}, .dots = true};
  ChartLine front{.name = "those that none beats", .points = {}};
  for (const SearchPoint& point : answer.points) {
    all.points.emplace_back(point.tokens_per_s_per_user, point.tokens_per_s_per_device);
    if (point.pareto) front.points.push_back(all.points.back());
  }
  std::sort(front.points.begin(), front.points.end());
  const std::string body = Section("Speed for a user against yield of a device",
                                   Grid(Chart({all, front}, "tokens/s of a user", "tokens/s of a device"))) +
                           Section("Layouts", report::ToHtml(SearchTable(answer))) +
                           Section("Reproduce", "<pre>" + report::EscapeHtml(options.command_line) + "</pre>");
  const std::string title = fmt::format("{} on {} x {}", options.model, options.devices, options.device.name);
  return report::PageOf({.title = title,
                         .heading = title,
                         .subtitle = fmt::format("{} candidates, {} excluded and {} dominated before simulating",
                                                 answer.candidates, answer.excluded, answer.dominated),
                         .body = body,
                         .scripts = {},
                         .style = report::kChartStyle});
}

}  // namespace hespas::driver
