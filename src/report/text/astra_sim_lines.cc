#include "report/text/astra_sim_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "report/text/simulation.h"

namespace hespas::report {
namespace {

using result::NodeInterval;
using result::RankResult;

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

void AddFinish(const RankResult& rank, uint32_t id, Lines& lines) {
  lines.Add("workload", "info", "sys[{}] finished, {} cycles, exposed communication {} cycles.", id, rank.finish,
            rank.exposed);
  lines.Add("statistics", "info", "sys[{}]. Post statistics processing start.", id);
  if (!rank.wall) {
    lines.Add("system", "critical",
              "warning! a callable is removed before call Only GPU and COMM types are supported for overlap "
              "extraction");
    return;
  }
  lines.Add("statistics", "info", "sys[{}]. Post statistics processing end.", id);
  AddStatistics(rank, id, lines);
  if (!rank.peak_memory) return;
  lines.Add("statistics", "info", "sys[{}] peak memory usage: {:.2f} MiB", id,
            static_cast<double>(*rank.peak_memory) / (1 << 20));
}

// Issue or completion of a node. Completions come before the issues that they allow, but for nodes that take no time.
struct NodeEvent {
  uint64_t tick = 0;
  bool issue = false;
  const NodeInterval* interval = nullptr;
  auto Order() const { return std::tuple(tick, interval->start == interval->end ? 2 : issue ? 1 : 0); }
};

std::vector<NodeEvent> NodeEvents(const std::vector<NodeInterval>& intervals) {
  std::vector<NodeEvent> events;
  for (const NodeInterval& interval : intervals) {
    events.push_back({interval.start, true, &interval});
    events.push_back({interval.end, false, &interval});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const NodeEvent& a, const NodeEvent& b) { return a.Order() < b.Order(); });
  return events;
}

class NodeLookup {
 public:
  explicit NodeLookup(const trace::TraceGraph& trace) : trace_(trace), by_program_(trace.programs.size()) {}
  const trace::Node& Find(const NodeInterval& interval) {
    const uint32_t program = trace_.program_of_rank[interval.rank];
    auto& nodes = by_program_[program];
    if (nodes.empty()) {
      for (const trace::Node& node : trace_.programs[program].nodes) nodes[node.id] = &node;
    }
    return *nodes.at(interval.node);
  }

 private:
  const trace::TraceGraph& trace_;
  std::vector<std::unordered_map<uint64_t, const trace::Node*>> by_program_;
};

}  // namespace

std::string AstraSimLines(const result::SimResult& result, const hardware::System& system, const std::string& time) {
  Lines lines(time);
  AddRings(system, lines);
  for (const uint32_t id : result.order) AddFinish(result.ranks[id], id, lines);
  lines.Add("system", "warning", "Exiting");
  return lines.Take();
}

std::string AstraSimLog(const result::SimResult& result, const hardware::System& system, const trace::TraceGraph& trace,
                        const std::string& time) {
  Lines lines(time);
  AddRings(system, lines);
  NodeLookup nodes(trace);
  auto finished = result.order.begin();
  const auto finish_before = [&](uint64_t tick) {
    for (; finished != result.order.end() && result.ranks[*finished].finish < tick; ++finished) {
      AddFinish(result.ranks[*finished], *finished, lines);
    }
  };
  for (const NodeEvent& event : NodeEvents(result.intervals)) {
    finish_before(event.tick);
    const trace::Node& node = nodes.Find(*event.interval);
    lines.Add("workload", "debug", "{},sys->id={}, tick={}, node->id={}, node->name={}, node->type={}",
              event.issue ? "issue" : "callback", event.interval->rank, event.tick, node.id, node.name,
              static_cast<int>(node.kind));
  }
  finish_before(~uint64_t{0});
  lines.Add("system", "warning", "Exiting");
  return lines.Take();
}

}  // namespace hespas::report
