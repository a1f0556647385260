#include "simulate/astra_sim/collective_graph.h"

#include <fmt/format.h>

namespace hespas::simulate {

using trace::NodeKind;

namespace {

constexpr int32_t kWorkloadTags = 500'000'000;

uint32_t IndexOf(GraphProgram& graph, uint64_t id) {
  const auto [at, added] = graph.index.try_emplace(id, static_cast<uint32_t>(graph.nodes.size()));
  if (added) graph.nodes.push_back({.id = id});
  return at->second;
}

// The containers and their order of insertion are those of spec astra-sim section 9.3: the result is an order of
// iteration.
void Connect(const trace::Program& program, GraphProgram& graph) {
  std::unordered_map<uint64_t, bool> order;
  std::unordered_map<uint64_t, std::unordered_set<uint64_t>> children;
  for (const trace::Node& node : program.nodes) {
    std::unordered_set<uint64_t> parents;
    for (uint32_t i = 0; i < node.dependency_count; ++i) {
      parents.insert(program.dependencies[node.first_dependency + i]);
    }
    GraphProgram::Node& compiled = graph.nodes[IndexOf(graph, node.id)];
    compiled.node = &node;
    compiled.chunks = program.DetailsOf(node).chunks;
    compiled.total_chunks = program.DetailsOf(node).total_chunks;
    order.try_emplace(node.id);
    for (const uint64_t parent : parents) {
      IndexOf(graph, parent);
      order.try_emplace(parent);
      if (children[parent].insert(node.id).second) ++graph.nodes[graph.index[node.id]].parents;
    }
  }
  for (const auto& [id, unused] : order) {
    const GraphProgram::Node& node = graph.nodes[graph.index[id]];
    if (node.parents == 0) graph.first.push_back(id);
  }
  for (const auto& [parent, ids] : children) {
    GraphProgram::Node& node = graph.nodes[graph.index[parent]];
    for (const uint64_t id : ids) node.children.push_back(graph.index[id]);
  }
}

}  // namespace

Result<GraphProgram> CompileGraph(const trace::Program& program, const std::string& name) {
  GraphProgram graph;
  Connect(program, graph);
  if (graph.first.empty()) {
    return MakeError(kBadTrace, fmt::format("{}: no node of the collective graph is free of dependencies", name));
  }
  for (const GraphProgram::Node& node : graph.nodes) {
    if (node.node == nullptr) {
      return MakeError(kBadTrace, fmt::format("{}: node {} is a dependency but not defined", name, node.id));
    }
  }
  return graph;
}

CollectiveGraphs::CollectiveGraphs(Core& core, Network& network, Pool<Stream>& streams, PhaseEnds& ends)
    : core_(core), network_(network), streams_(streams), ends_(ends) {}

const GraphProgram* CollectiveGraphs::Find(const trace::TraceGraph& trace, const std::string& prefix,
                                           uint32_t rank_in_group) {
  auto& ranks = compiled_[prefix];
  if (const auto at = ranks.find(rank_in_group); at != ranks.end()) return at->second.get();
  const std::string name = fmt::format("{}.{}.et", prefix, rank_in_group);
  const auto graphs = trace.collectives.find(prefix);
  const trace::Program* program = nullptr;
  if (graphs != trace.collectives.end()) {
    const auto at = graphs->second.ranks.find(rank_in_group);
    if (at != graphs->second.ranks.end()) program = &at->second;
  }
  if (program == nullptr) {
    core_.Fail(kBadTrace, fmt::format("the custom collective `{}` was not found", name),
               "check the path prefix in the system description; relative ones start at the working directory");
    return nullptr;
  }
  Result<GraphProgram> compiled = CompileGraph(*program, name);
  if (!compiled) {
    if (!core_.failure) core_.failure = compiled.error();
    return nullptr;
  }
  return (ranks[rank_in_group] = std::make_unique<GraphProgram>(*std::move(compiled))).get();
}

void CollectiveGraphs::Start(uint32_t index) {
  GraphRun& run = *streams_[index].graph;
  for (const GraphProgram::Node& node : run.program->nodes) run.parents_left.push_back(node.parents);
  for (const uint64_t id : run.program->first) run.free.insert(id);
  IssueFree(index);
}

void CollectiveGraphs::IssueFree(uint32_t index) {
  GraphRun& run = *streams_[index].graph;
  const std::vector<uint64_t> snapshot(run.free.begin(), run.free.end());
  for (const uint64_t id : snapshot) {
    run.free.erase(id);
    ++run.taken;
    Issue(index, run.program->index.at(id));
    if (core_.failure) return;
  }
}

void CollectiveGraphs::Issue(uint32_t index, uint32_t at) {
  const GraphRun& run = *streams_[index].graph;
  const uint32_t rank = streams_[index].rank;
  const trace::Node& node = *run.program->nodes[at].node;
  if (node.kind == NodeKind::kCompute) {
    const uint64_t ns = std::max<uint64_t>(1, static_cast<uint64_t>(node.duration.value) / 1000);
    core_.agenda.Schedule(rank, ns * core_.ticks_per_ns, {ActionKind::kGraphNodeDone, index, at});
    return;
  }
  if (node.kind != NodeKind::kSend && node.kind != NodeKind::kReceive) return;  // never ends, as in ASTRA-sim
  const uint32_t limit = run.members != nullptr ? static_cast<uint32_t>(run.members->size()) : core_.ranks;
  if (node.peer < 0 || static_cast<uint32_t>(node.peer) >= limit) {
    core_.Fail(kBadTrace, fmt::format("NPU {}: node {} of the custom collective names rank {} of {}", rank, node.id,
                                      node.peer, limit));
    return;
  }
  const auto listed = static_cast<uint32_t>(node.peer);
  const uint32_t peer = run.members != nullptr ? (*run.members)[listed] : listed;
  const GraphProgram::Node& part = run.program->nodes[at];
  const uint64_t size =
      part.total_chunks > 0 ? run.size * part.chunks / part.total_chunks : static_cast<uint64_t>(node.size.value);
  const auto tag = static_cast<uint32_t>(node.tag % kWorkloadTags);
  const Callback done{CallbackKind::kGraphNode, index, at};
  if (node.kind == NodeKind::kSend) {
    network_.Send({.size = size, .tag = tag, .source = rank, .destination = peer}, done);
  } else {
    network_.Receive({.size = size, .tag = tag, .source = peer, .destination = rank}, done);
  }
  if (core_.failure) core_.AddPlace(fmt::format("{}, node {} of its graph", ends_.Describe(streams_[index]), node.id));
}

void CollectiveGraphs::NodeDone(uint32_t index, uint32_t at) {
  GraphRun& run = *streams_[index].graph;
  --run.taken;
  for (const uint32_t child : run.program->nodes[at].children) {
    if (--run.parents_left[child] == 0) run.free.insert(run.program->nodes[child].id);
  }
  IssueFree(index);
  if (core_.failure) return;
  if (run.taken == 0 && run.free.empty()) ends_.PhaseEnd(index);
}

}  // namespace hespas::simulate
