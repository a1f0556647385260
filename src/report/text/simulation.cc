#include "report/text/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text/json.h"

namespace hespas::report {
namespace {

using nlohmann::ordered_json;
using result::RankResult;

struct Figure {
  const char* name;
  std::optional<uint64_t> RankResult::*member;
};

constexpr Figure kFigures[] = {{"wall", &RankResult::wall},
                               {"gpu", &RankResult::gpu},
                               {"comm", &RankResult::comm},
                               {"overlap", &RankResult::overlap}};

ordered_json RankJson(const RankResult& rank, size_t id) {
  ordered_json out = {{"id", id}, {"finish", rank.finish}, {"exposed", rank.exposed}};
  for (const Figure& figure : kFigures) {
    if (const auto& value = rank.*figure.member) out[figure.name] = *value;
  }
  if (rank.peak_memory) out["peak_memory_bytes"] = *rank.peak_memory;
  if (!rank.roofline) return out;
  for (const RooflineFigure& figure : kRooflineFigures) out["roofline"][figure.key] = (*rank.roofline).*figure.member;
  return out;
}

ordered_json LinkJson(const result::LinkUse& link) {
  return {{"link", link.name},
          {"messages", link.messages},
          {"bytes", link.bytes},
          {"busy", link.busy},
          {"queued", link.queued}};
}

ordered_json PathJson(const result::PathStep& step) {
  return {{"npu", step.rank}, {"node", step.node},   {"name", step.name},
          {"why", step.why},  {"start", step.start}, {"end", step.end}};
}

ordered_json CollectiveJson(const result::CollectiveUse& use) {
  ordered_json out = {{"node", use.node},       {"name", use.name},     {"members", use.members},
                      {"bytes", use.bytes},     {"start", use.start},   {"end", use.end},
                      {"exposed", use.exposed}, {"waited", use.waited}, {"last_member", use.last_member}};
  if (!use.model.empty())
    out.update({{"model", use.model}, {"algorithm", use.algorithm}, {"levels", use.levels}, {"bound", use.bound}});
  return out;
}

}  // namespace

std::string SimulationJson(const result::SimResult& result) {
  ordered_json out;
  out["schema_version"] = 1;
  out["npus"] = ordered_json::array();
  for (size_t id = 0; id < result.ranks.size(); ++id) out["npus"].push_back(RankJson(result.ranks[id], id));
  out["order"] = result.order;
  for (const result::LinkUse& link : result.links) out["links"].push_back(LinkJson(link));
  for (const result::CollectiveUse& use : result.collectives) out["collectives"].push_back(CollectiveJson(use));
  for (const result::PathStep& step : result.critical_path) out["critical_path"].push_back(PathJson(step));
  out["method"] = result.method;
  out["messages"] = result.messages;
  return JsonText(out) + "\n";
}

Table SimulationTable(const result::SimResult& result) {
  Table table;
  table.columns = {{"npu", Align::kRight}, {"finish", Align::kRight}, {"exposed", Align::kRight}};
  for (const Figure& figure : kFigures) table.columns.push_back({figure.name, Align::kRight});
  for (size_t id = 0; id < result.ranks.size(); ++id) {
    const RankResult& rank = result.ranks[id];
    std::vector<std::string> row = {fmt::format("{}", id), fmt::format("{}", rank.finish),
                                    fmt::format("{}", rank.exposed)};
    for (const Figure& figure : kFigures) {
      const auto& value = rank.*figure.member;
      row.push_back(value ? fmt::format("{}", *value) : "");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table LinkTable(const result::SimResult& result) {
  Table table;
  table.columns = {{"link", Align::kLeft},
                   {"messages", Align::kRight},
                   {"bytes", Align::kRight},
                   {"busy", Align::kRight},
                   {"queued", Align::kRight}};
  for (const result::LinkUse& link : result.links) {
    table.rows.push_back({link.name, fmt::format("{}", link.messages), fmt::format("{}", link.bytes),
                          fmt::format("{}", link.busy), fmt::format("{}", link.queued)});
  }
  return table;
}

Table CollectiveTable(const result::SimResult& result) {
  Table table;
  table.columns = {{"collective", Align::kLeft}, {"node", Align::kRight},          {"members", Align::kRight},
                   {"bytes", Align::kRight},     {"start", Align::kRight},         {"end", Align::kRight},
                   {"exposed", Align::kRight},   {"of it waiting", Align::kRight}, {"last to come", Align::kRight}};
  const bool priced = std::any_of(result.collectives.begin(), result.collectives.end(),
                                  [](const result::CollectiveUse& use) { return !use.model.empty(); });
  for (const char* column : {"model", "algorithm", "levels", "bound"}) {
    if (priced) table.columns.push_back({column, Align::kLeft});
  }
  for (const result::CollectiveUse& use : result.collectives) {
    table.rows.push_back({use.name, fmt::format("{}", use.node), fmt::format("{}", use.members),
                          fmt::format("{}", use.bytes), fmt::format("{}", use.start), fmt::format("{}", use.end),
                          fmt::format("{}", use.exposed), fmt::format("{}", use.waited),
                          fmt::format("NPU {}", use.last_member)});
    for (const std::string* text : {&use.model, &use.algorithm, &use.levels, &use.bound}) {
      if (priced) table.rows.back().push_back(*text);
    }
  }
  return table;
}

Table PathTable(const result::SimResult& result) {
  Table table;
  table.columns = {{"critical path", Align::kLeft}, {"npu", Align::kRight}, {"node", Align::kRight},
                   {"start", Align::kRight},        {"end", Align::kRight}, {"why", Align::kLeft}};
  for (const result::PathStep& step : result.critical_path) {
    table.rows.push_back({step.name, fmt::format("{}", step.rank), fmt::format("{}", step.node),
                          fmt::format("{}", step.start), fmt::format("{}", step.end), step.why});
  }
  return table;
}

}  // namespace hespas::report
