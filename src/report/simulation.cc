#include "report/simulation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

namespace hespas::report {
namespace {

using nlohmann::ordered_json;
using result::RankResult;
using result::RooflineAverages;

struct Figure {
  const char* name;
  std::optional<uint64_t> RankResult::*member;
};

constexpr Figure kFigures[] = {{"wall", &RankResult::wall},
                               {"gpu", &RankResult::gpu},
                               {"comm", &RankResult::comm},
                               {"overlap", &RankResult::overlap}};

struct RooflineFigure {
  const char* key;
  const char* label;
  const char* unit;
  double RooflineAverages::*member;
};

constexpr RooflineFigure kRooflineFigures[] = {
    {"compute_bound_percentage", "Compute bound percentage", "%", &RooflineAverages::compute_bound},
    {"average_compute_utilization", "Average compute utilization", "%", &RooflineAverages::compute_utilisation},
    {"average_memory_utilization", "Average memory utilization", "%", &RooflineAverages::memory_utilisation},
    {"average_operation_intensity", "Average operation intensity", "", &RooflineAverages::operation_intensity}};

ordered_json RankJson(const RankResult& rank, size_t id) {
  ordered_json out = {{"id", id}, {"finish", rank.finish}, {"exposed", rank.exposed}};
  for (const Figure& figure : kFigures) {
    if (const auto& value = rank.*figure.member) out[figure.name] = *value;
  }
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
  return {{"node", use.node},       {"name", use.name},     {"members", use.members},
          {"bytes", use.bytes},     {"start", use.start},   {"end", use.end},
          {"exposed", use.exposed}, {"waited", use.waited}, {"last_member", use.last_member}};
}

class Lines {
 public:
  explicit Lines(const std::string& time) : time_(time) {}

  template <class... Arguments>
  void Add(std::string_view logger, std::string_view level, fmt::format_string<Arguments...> text,
           Arguments&&... arguments) {
    text_ += fmt::format("[{}] [{}] [{}] ", time_, logger, level);
    text_ += fmt::format(text, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }
  std::string Take() { return std::move(text_); }

 private:
  const std::string& time_;
  std::string text_;
};

// The logical rings that ASTRA-sim tells of when it builds NPU 0.
void AddRings(const hardware::System& system, Lines& lines) {
  int id = 0;
  for (const hardware::CollectiveSettings& collective : system.collectives) {
    uint64_t stride = 1;
    const auto& algorithms = collective.algorithms.value_or(std::vector<hardware::Algorithm>{});
    for (size_t d = 0; d < algorithms.size(); ++d) {
      const hardware::Algorithm& algorithm = algorithms[d];
      const uint64_t size = algorithm.flat ? system.npus() : system.dimensions[d].npus;
      if (algorithm.kind != hardware::AlgorithmKind::kDoubleBinaryTree) {
        lines.Add("system::topology::RingTopology", "info",
                  "ring of node 0, id: {} dimension: local total nodes in ring: {} index in ring: 0 offset: {}total "
                  "nodes in ring: {}",
                  id++, size, algorithm.flat ? 1 : stride, size);
      }
      if (algorithm.flat) break;
      stride *= size;
    }
  }
}

void AddStatistics(const RankResult& rank, uint32_t id, Lines& lines) {
  lines.Add("statistics", "info", "sys[{}], Wall time: {}", id, *rank.wall);
  if (rank.gpu) lines.Add("statistics", "info", "sys[{}], GPU time: {}", id, *rank.gpu);
  if (rank.comm) lines.Add("statistics", "info", "sys[{}], Comm time: {}", id, *rank.comm);
  if (rank.overlap) {
    lines.Add("statistics", "info", "sys[{}], Total compute-communication overlap: {}", id, *rank.overlap);
  }
  if (!rank.roofline) return;
  for (const RooflineFigure& figure : kRooflineFigures) {
    lines.Add("statistics", "info", "sys[{}], {}: {:.3f}{}", id, figure.label, (*rank.roofline).*figure.member,
              figure.unit);
  }
}

}  // namespace

std::string SimulationJson(const result::SimResult& result) {
  ordered_json out;
  out["npus"] = ordered_json::array();
  for (size_t id = 0; id < result.ranks.size(); ++id) out["npus"].push_back(RankJson(result.ranks[id], id));
  out["order"] = result.order;
  for (const result::LinkUse& link : result.links) out["links"].push_back(LinkJson(link));
  for (const result::CollectiveUse& use : result.collectives) out["collectives"].push_back(CollectiveJson(use));
  for (const result::PathStep& step : result.critical_path) out["critical_path"].push_back(PathJson(step));
  out["method"] = result.method;
  out["messages"] = result.messages;
  return out.dump() + "\n";
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

std::string AstraSimLines(const result::SimResult& result, const hardware::System& system, const std::string& time) {
  Lines lines(time);
  AddRings(system, lines);
  for (const uint32_t id : result.order) {
    const RankResult& rank = result.ranks[id];
    lines.Add("workload", "info", "sys[{}] finished, {} cycles, exposed communication {} cycles.", id, rank.finish,
              rank.exposed);
    lines.Add("statistics", "info", "sys[{}]. Post statistics processing start.", id);
    if (!rank.wall) {
      lines.Add("system", "critical",
                "warning! a callable is removed before call Only GPU and COMM types are supported for overlap "
                "extraction");
      continue;
    }
    lines.Add("statistics", "info", "sys[{}]. Post statistics processing end.", id);
    AddStatistics(rank, id, lines);
  }
  lines.Add("system", "warning", "Exiting");
  return lines.Take();
}

}  // namespace hespas::report
