#include "report/step/critical_path.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/step/account.h"
#include "report/step/kernel_name.h"

namespace hespas::report {
namespace {

constexpr std::string_view kNothing = "nothing to do";

std::vector<PathRow> WithoutNetwork(const StepView& step) {
  std::vector<PathRow> path;
  KernelNames names(step);
  Time at;
  for (uint32_t i = 0; i < step.blocks.blocks.size(); ++i) {
    const graph::Estimate* estimate = step.estimates.Of(graph::BlockId(size_t{i}));
    if (estimate == nullptr || estimate->time == Time()) continue;
    path.push_back({.start = at, .duration = estimate->time, .node = names.Of(i), .why = "compute", .block = i});
    at += estimate->time;
  }
  return path;
}

}  // namespace

std::vector<PathRow> CriticalPath(const StepView& step) {
  if (step.simulated == nullptr) return WithoutNetwork(step);
  const NodeIndex nodes(step.traces);
  KernelNames names(step);
  std::vector<PathRow> path;
  Time until;
  const auto fill = [&](Time to, uint32_t rank) {
    if (to > until)
      path.push_back({.start = until, .duration = to - until, .rank = rank, .why = std::string(kNothing)});
    until = std::max(until, to);
  };
  for (const result::PathStep& entry : step.simulated->critical_path) {
    const Time end = std::min(step.simulated->time(entry.end), step.step_time);
    fill(step.simulated->time(entry.start), entry.rank);
    if (end <= until) continue;
    const uint32_t block = nodes.at(entry.rank, entry.node).block;
    const std::string name = block < step.blocks.blocks.size() ? names.Of(block) : std::string();
    path.push_back({.start = until,
                    .duration = end - until,
                    .rank = entry.rank,
                    .node = name.empty() ? entry.name : name,
                    .why = entry.why,
                    .block = block});
    until = end;
  }
  fill(step.step_time, path.empty() ? 0 : path.back().rank);
  return path;
}

std::vector<PathRow> Joined(const std::vector<PathRow>& path) {
  std::vector<PathRow> out;
  Time longest;
  for (const PathRow& row : path) {
    if (out.empty() || out.back().rank != row.rank || out.back().why != row.why) {
      out.push_back(row);
      longest = row.duration;
      continue;
    }
    out.back().duration += row.duration;
    ++out.back().nodes;
    if (row.duration <= longest) continue;
    longest = row.duration;
    out.back().node = row.node;
    out.back().block = row.block;
  }
  return out;
}

Table PathTable(const std::vector<PathRow>& path, bool human) {
  Table table{.columns = {{human ? "start" : "start_ps", Align::kRight},
                          {human ? "time" : "time_ps", Align::kRight},
                          {"rank", Align::kRight},
                          {"why"},
                          {"nodes", Align::kRight},
                          {"block", Align::kRight},
                          {"node"}},
              .rows = {}};
  Time total;
  const auto cell = [&](Time time) { return human ? HumanTime(time) : std::to_string(time.value); };
  for (const PathRow& row : path) {
    table.rows.push_back({cell(row.start), cell(row.duration), std::to_string(row.rank), row.why,
                          std::to_string(row.nodes), row.block == trace::kNoBlock ? "" : std::to_string(row.block),
                          row.node});
    total += row.duration;
  }
  if (human) table.rows.push_back({"", cell(total), "", fmt::format("in all ({} ps)", total.value), "", "", ""});
  return table;
}

}  // namespace hespas::report
