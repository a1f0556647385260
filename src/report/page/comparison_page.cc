// A comparison as a page: totals, what contributes to the difference, tables. It needs no program to be read.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "report/compare/comparison.h"
#include "report/compare/comparison_models.h"
#include "report/page/html_text.h"
#include "report/page/shell.h"

namespace hespas::report {
namespace {

constexpr size_t kMostRows = 200;
constexpr size_t kMostBars = 12;

std::string Scroll(const Table& table, const std::string& label) {
  return fmt::format(R"(<div class="scroll" tabindex="0" role="region" aria-label="Table: {}">{}</div>)", label,
                     ToHtml(table));
}

std::string Section(const std::string& id, const std::string& heading, const std::string& text,
                    const std::string& body) {
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-heading\"><h2 id=\"{0}-heading\">{1}</h2>\n{2}{3}"
      "</section>\n",
      id, EscapeHtml(heading), text.empty() ? "" : "<p>" + EscapeHtml(text) + "</p>\n", body);
}

std::string Signed(Time time) { return (time > Time() ? "+" : "") + HumanTime(time); }

std::string Cards(const Comparison& comparison) {
  std::string out = "<dl class=\"cards\">";
  const Time first = comparison.results[0].step_time;
  for (size_t side = 0; side < comparison.labels.size(); ++side) {
    const Time time = comparison.results[side].step_time;
    const double ratio = first.value == 0 ? 1 : static_cast<double>(time.value) / static_cast<double>(first.value);
    const auto& sigma = comparison.results[side].step_time_sigma;
    const std::string spread = sigma ? " ± " + HumanTime(*sigma) : "";
    const std::string note = side == 0 ? "what the others are compared with"
                                       : fmt::format("{} ({:+.1f} %)", Signed(time - first), 100 * (ratio - 1));
    out += fmt::format("<div class=\"card\"><dt>{}</dt><dd class=\"figure\">{}</dd><dd class=\"note\">{}</dd></div>\n",
                       EscapeHtml(comparison.labels[side]), HumanTime(time) + spread, note);
  }
  return out + "</dl>\n";
}

// A bar to the right of the middle for what got slower, to the left for what got faster.
std::string Bars(const std::vector<ComparedRow>& rows, size_t side) {
  const size_t shown = std::min(kMostBars, rows.size());
  int64_t most = 1;
  for (size_t i = 0; i < shown; ++i) {
    most = std::max<int64_t>(most, std::llabs((rows[i].time[side] - rows[i].time[0]).value));
  }
  std::string out = "<div class=\"change\">\n";
  for (size_t i = 0; i < shown; ++i) {
    const ComparedRow& row = rows[i];
    const Time change = row.time[side] - row.time[0];
    const double width = 50 * static_cast<double>(std::llabs(change.value)) / static_cast<double>(most);
    const bool slower = change > Time();
    out += fmt::format(
        "<div class=\"row\"><span class=\"name\">{}</span><span class=\"track\" aria-hidden=\"true\"><i class=\"{}\" "
        "style=\"left:{:.2f}%;width:{:.2f}%\"></i></span><span class=\"by\">{}</span></div>\n",
        EscapeHtml(row.op), slower ? "slower" : "faster", slower ? 50.0 : 50 - width, width, Signed(change));
  }
  return out + "</div>\n";
}

std::string Changes(const Comparison& comparison, const std::vector<ComparedRow>& rows) {
  std::string out;
  for (size_t side = 1; side < comparison.labels.size(); ++side) {
    out += fmt::format("<figure><figcaption><h3>{} against {}</h3></figcaption>\n{}</figure>\n",
                       EscapeHtml(comparison.labels[side]), EscapeHtml(comparison.labels[0]), Bars(rows, side));
  }
  return "<div class=\"grid\">" + out + "</div>\n";
}

std::string Unmatched(const Comparison& comparison) {
  std::vector<ComparedRow> rows;
  for (const ComparedRow& row : comparison.groups) {
    if (!row.matched()) rows.push_back(row);
  }
  if (rows.empty()) return "<p>None: every block has a partner.</p>\n";
  const DifferenceStyle style{.title = "operation", .shown = kMostRows, .page = true, .shapes = true};
  return Scroll(DifferenceTable(comparison, rows, style), "Blocks without a partner");
}

}  // namespace

std::string ComparisonPage(const Comparison& comparison) {
  const result::RunResult& first = comparison.results[0];
  const DifferenceStyle kinds{.title = "kind", .shown = kMostRows, .page = true};
  const DifferenceStyle blocks{.title = "operation", .shown = kMostRows, .page = true, .shapes = true};
  std::string commands;
  for (const result::RunResult& r : comparison.results) {
    if (r.reproduce.command.empty() || commands.find(r.reproduce.command) != std::string::npos) continue;
    commands += r.reproduce.command + "\n";
  }
  std::string body;
  for (const std::string& note : comparison.notes) body += "<p class=\"notice\">" + EscapeHtml(note) + "</p>\n";
  body += Cards(comparison);
  body += Section(
      "kinds", "What contributes", "Differences of the step time by kind of operation; they add up to it.",
      Changes(comparison, comparison.kinds) + Scroll(DifferenceTable(comparison, comparison.kinds, kinds), "Kinds"));
  if (!comparison.layers.empty()) {
    const DifferenceStyle layers{.title = "layer and kind", .shown = kMostRows, .page = true};
    body += Section("layers", "By layer", "Layers of one stack count together, backward and recomputed work apart.",
                    Changes(comparison, comparison.layers) +
                        Scroll(DifferenceTable(comparison, comparison.layers, layers), "Layers"));
  }
  body += Section("totals", "Parts of the step", "", Scroll(TotalsTable(comparison), "Parts of the step"));
  body += Section("work", "Work and efficiency", ModelsText(comparison),
                  Scroll(WorkTable(comparison), "Work and efficiency"));
  body += Section("blocks", "Largest differences", "Equal blocks are counted together.",
                  Scroll(DifferenceTable(comparison, comparison.groups, blocks), "Largest differences"));
  body += Section("unmatched", "Without a partner", "No kernel of another side computes or writes the same.",
                  Unmatched(comparison));
  if (!commands.empty()) {
    body += Section("reproduce", "Reproduce", "",
                    "<pre tabindex=\"0\" aria-label=\"Command\">" + EscapeHtml(commands) + "</pre>\n");
  }
  std::string title = comparison.title;
  title[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(title[0])));
  return PageOf(
      {.title = title, .heading = title, .subtitle = first.program.path, .body = body, .scripts = {}, .style = {}});
}

}  // namespace hespas::report
