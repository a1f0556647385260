#include "report/export/smpi_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <queue>
#include <unordered_map>
#include <vector>

namespace hespas::report {
namespace {

using trace::Collective;
using trace::Node;
using trace::NodeKind;

// Indices of a program's nodes, each behind what it depends on; fewer where they wait for each other.
std::vector<size_t> Order(const trace::Program& program) {
  std::unordered_map<uint64_t, size_t> index_of;
  for (size_t i = 0; i < program.nodes.size(); ++i) index_of.emplace(program.nodes[i].id, i);
  std::vector<std::vector<size_t>> children(program.nodes.size());
  std::vector<size_t> waits(program.nodes.size());
  for (size_t i = 0; i < program.nodes.size(); ++i) {
    const Node& node = program.nodes[i];
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const auto parent = index_of.find(program.dependencies[node.first_dependency + d]);
      if (parent == index_of.end()) continue;
      children[parent->second].push_back(i);
      ++waits[i];
    }
  }
  const auto later = [&](size_t a, size_t b) { return program.nodes[a].id > program.nodes[b].id; };
  std::priority_queue<size_t, std::vector<size_t>, decltype(later)> ready(later);
  for (size_t i = 0; i < waits.size(); ++i) {
    if (waits[i] == 0) ready.push(i);
  }
  std::vector<size_t> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (const size_t child : children[order.back()]) {
      if (--waits[child] == 0) ready.push(child);
    }
  }
  return order;
}

// "count ... datatype": SMPI counts in `int`, so large sizes are doubles (0), others bytes (6).
struct Counted {
  explicit Counted(uint64_t bytes) : count(bytes % 8 == 0 ? bytes / 8 : bytes), type(bytes % 8 == 0 ? 0 : 6) {}
  uint64_t count;
  int type;
};

class Writer {
 public:
  Writer(const trace::TraceGraph& trace, uint32_t rank) : trace_(trace), rank_(rank) {}

  Result<std::string> Run() {
    const trace::Program& program = trace_.ProgramOf(rank_);
    Line("init");
    const std::vector<size_t> order = Order(program);
    if (order.size() < program.nodes.size()) {
      return MakeError(kNotForSmpi, fmt::format("NPU {}: some nodes wait for each other", rank_));
    }
    for (const size_t i : order) {
      const Node& node = program.nodes[i];
      if (Add(node)) continue;
      return MakeError(kNotForSmpi,
                       fmt::format("NPU {}: node {} (`{}`) has no action in SMPI's traces", rank_, node.id, node.name));
    }
    Line("waitall");
    Line("finalize");
    return std::move(text_);
  }

 private:
  template <class... Arguments>
  void Line(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), "{} ", rank_);
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
    text_ += '\n';
  }

  bool Add(const Node& node) {
    switch (node.kind) {
      case NodeKind::kInvalid:
      case NodeKind::kMetadata:
        return true;
      case NodeKind::kCompute:
        if (node.duration.value > 0) Line("sleep {}", static_cast<double>(node.duration.value) * 1e-12);
        return true;
      case NodeKind::kSend:
        Send(trace_.PeerOf(rank_, node), node.tag, node.size.value);
        return true;
      case NodeKind::kReceive:
        Receive(trace_.PeerOf(rank_, node), node.tag, node.size.value);
        return true;
      case NodeKind::kCollective:
        return AddCollective(node);
      default:
        return false;
    }
  }

  void Send(int64_t to, int tag, uint64_t bytes) {
    const Counted what(bytes);
    Line("isend {} {} {} {}", to, tag, what.count, what.type);
  }
  void Receive(int64_t from, int tag, uint64_t bytes) {
    const Counted what(bytes);
    Line("recv {} {} {} {}", from, tag, what.count, what.type);
  }

  bool AddCollective(const Node& node) {
    const uint64_t bytes = node.size.value;
    const uint32_t group = trace_.GroupOf(rank_, node);
    const auto members = trace_.groups.find(group);
    if (group != 0 && members != trace_.groups.end()) return AddGroups(node.collective, bytes, members->second);
    const uint64_t ranks = trace_.program_of_rank.size();
    switch (node.collective) {
      case Collective::kAllReduce: {
        const Counted what(bytes);
        Line("allreduce {} 0 {}", what.count, what.type);
        return true;
      }
      case Collective::kAllGather: {
        const Counted what(bytes);
        Line("allgather {0} {0} {1} {1}", what.count, what.type);
        return true;
      }
      case Collective::kAllToAll: {
        const Counted what(bytes / ranks);
        Line("alltoall {0} {0} {1} {1}", what.count, what.type);
        return true;
      }
      case Collective::kReduceScatter:
      case Collective::kReduceScatterBlock: {
        const Counted what(bytes / ranks);
        Line("reducescatter {} 0 {}", fmt::join(std::vector<uint64_t>(ranks, what.count), " "), what.type);
        return true;
      }
      case Collective::kBarrier:
        Line("barrier");
        return true;
      default:
        return false;
    }
  }

  bool AddGroups(Collective kind, uint64_t bytes, const std::vector<uint32_t>& members) {
    const size_t n = members.size();
    const auto me = static_cast<size_t>(std::find(members.begin(), members.end(), rank_) - members.begin());
    if (me == n) return true;
    const bool gathers = kind == Collective::kAllGather;
    const bool scatters = kind == Collective::kReduceScatter || kind == Collective::kReduceScatterBlock;
    const bool exchanges = kind == Collective::kAllToAll;
    if (!gathers && !scatters && !exchanges && kind != Collective::kAllReduce) return false;
    const size_t steps = kind == Collective::kAllReduce ? 2 * (n - 1) : n - 1;
    for (size_t step = 1; step <= steps; ++step) {
      const size_t distance = exchanges ? step : 1;
      Send(members[(me + distance) % n], 0, gathers ? bytes : bytes / n);
      Receive(members[(me + n - distance) % n], 0, gathers ? bytes : bytes / n);
    }
    return true;
  }

  const trace::TraceGraph& trace_;
  uint32_t rank_;
  std::string text_;
};

}  // namespace

Result<std::string> SmpiTrace(const trace::TraceGraph& trace, uint32_t rank) { return Writer(trace, rank).Run(); }

}  // namespace hespas::report
