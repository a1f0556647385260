#include "simulate/engine/workload.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "trace/asynchronous.h"
#include "trace/first_ranks.h"

namespace hespas::simulate {

using trace::Node;
using trace::NodeKind;

namespace {

constexpr int32_t kWorkloadTags = 500'000'000;

Slot SlotOf(const Node& node) {
  if (trace::IsInComputeStream(node)) return Slot::kComputeStream;
  if (node.is_cpu) return Slot::kCpu;
  if (node.kind == NodeKind::kCompute) return Slot::kCompute;
  return node.kind == NodeKind::kReceive ? Slot::kNone : Slot::kCommunication;
}

// The records of a program by ascending id, equal ids together; empty where they lie so and no two are equal.
std::vector<uint32_t> RecordsById(const trace::Program& program) {
  const auto falls = [](const Node& a, const Node& b) { return a.id >= b.id; };
  if (std::adjacent_find(program.nodes.begin(), program.nodes.end(), falls) == program.nodes.end()) return {};
  std::vector<uint32_t> order(program.nodes.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [&](uint32_t a, uint32_t b) { return program.nodes[a].id < program.nodes[b].id; });
  return order;
}

uint64_t Scramble(uint64_t x) {  // splitmix64 (Steele et al. 2014)
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

double Uniform(uint64_t bits) { return (static_cast<double>(bits >> 11) + 0.5) * 0x1p-53; }

// Log-normal with mean 1, a function of seed, rank and node alone: the order of events has no say.
double NoiseFactor(const SimulateOptions& options, uint32_t rank, uint64_t node) {
  const uint64_t first = Scramble(Scramble(options.noise_seed) ^ Scramble(node) ^ Scramble(uint64_t{rank} << 32 | 1));
  const double radius = std::sqrt(-2 * std::log(Uniform(first)));  // Box and Muller 1958
  const double normal = radius * std::cos(6.283185307179586 * Uniform(Scramble(first)));
  return std::exp(options.noise * normal - options.noise * options.noise / 2);
}

// Finds the index of an id; ids that count up from 0 need no search.
class IdIndex {
 public:
  explicit IdIndex(const CompiledProgram& program) : program_(program), size_(program.size()) {
    dense_ = size_ > 0 && program.node(0).id == 0 && program.node(size_ - 1).id == size_ - 1;
  }
  std::optional<uint32_t> Find(uint64_t id) const {
    if (dense_) return id < size_ ? std::optional(static_cast<uint32_t>(id)) : std::nullopt;
    uint32_t first = 0;
    for (uint32_t end = size_; first < end;) {
      const uint32_t middle = first + (end - first) / 2;
      if (program_.node(middle).id < id) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first < size_ && program_.node(first).id == id ? std::optional(first) : std::nullopt;
  }

 private:
  const CompiledProgram& program_;
  uint32_t size_;
  bool dense_ = false;
};

// Parents of all nodes, one node after the other; `compiled.parents` gets their numbers. `records`: by RecordsById.
// Collectives in the stream of the computation wait for the one before, lest two ranks begin with different ones.
Result<std::vector<uint32_t>> ParentsOf(const std::vector<uint32_t>& records, CompiledProgram& compiled,
                                        uint32_t rank) {
  const trace::Program& program = *compiled.program;
  const IdIndex index(compiled);
  std::vector<uint32_t> parents;
  parents.reserve(program.dependencies.size());
  compiled.parents.reserve(compiled.size());
  size_t at = 0;
  std::optional<uint32_t> in_stream;
  for (uint32_t n = 0; n < compiled.size(); ++n) {
    const size_t first = parents.size();
    const uint64_t own_id = compiled.node(n).id;
    for (; at < program.nodes.size(); ++at) {
      const Node& node = program.nodes[records.empty() ? at : records[at]];
      if (node.id != own_id) break;
      for (uint32_t i = 0; i < node.dependency_count; ++i) {
        const uint64_t id = program.dependencies[node.first_dependency + i];
        const auto parent = index.Find(id);
        if (!parent) {
          return MakeError(kBadTrace, fmt::format("NPU {}: node {} (`{}`) depends on node {}, which the trace lacks",
                                                  rank, node.id, node.name, id));
        }
        parents.push_back(*parent);
      }
    }
    if (trace::IsInComputeStream(compiled.node(n))) {
      if (in_stream) parents.push_back(*in_stream);
      in_stream = n;
    }
    const auto own = parents.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(own, parents.end());
    parents.erase(std::unique(own, parents.end()), parents.end());
    compiled.parents.push_back(static_cast<uint32_t>(parents.size() - first));
  }
  return parents;
}

void TurnRound(const std::vector<uint32_t>& parents, CompiledProgram& compiled) {
  const size_t count = compiled.size();
  compiled.first_child.assign(count + 1, 0);
  compiled.children.resize(parents.size());
  for (const uint32_t parent : parents) ++compiled.first_child[parent + 1];
  for (size_t i = 0; i < count; ++i) compiled.first_child[i + 1] += compiled.first_child[i];
  std::vector<uint32_t> next(compiled.first_child.begin(), compiled.first_child.end() - 1);
  size_t at = 0;
  for (uint32_t child = 0; child < count; ++child) {
    for (uint32_t i = 0; i < compiled.parents[child]; ++i) compiled.children[next[parents[at++]]++] = child;
  }
}

}  // namespace

Result<CompiledProgram> CompileProgram(const trace::Program& program, uint32_t rank) {
  CompiledProgram compiled{.program = &program, .records = {}, .parents = {}, .first_child = {}, .children = {}};
  const std::vector<uint32_t> records = RecordsById(program);
  for (const uint32_t record : records) {
    std::vector<uint32_t>& last = compiled.records;
    if (!last.empty() && program.nodes[last.back()].id == program.nodes[record].id) last.pop_back();
    last.push_back(record);
  }
  const Result<std::vector<uint32_t>> parents = ParentsOf(records, compiled, rank);
  if (!parents) return parents.error();
  TurnRound(*parents, compiled);
  if (std::find(compiled.parents.begin(), compiled.parents.end(), 0u) == compiled.parents.end()) {
    return MakeError(
        kBadTrace, program.nodes.empty()
                       ? fmt::format("NPU {}: the trace has no node", rank)
                       : fmt::format("NPU {}: no node of the trace is free of dependencies, for example node {} (`{}`) "
                                     "waits in a cycle",
                                     rank, compiled.node(0).id, compiled.node(0).name));
  }
  return compiled;
}

Workload::Workload(Core& core, Network& network, const trace::TraceGraph& trace, Statistics& statistics)
    : core_(core),
      network_(network),
      trace_(trace),
      statistics_(statistics),
      system_layer_(core, network, trace, *this),
      memory_(core),
      npus_(core.simulated) {}

Status Workload::Load() {
  const std::vector<uint32_t> first_rank = trace::FirstRanks(trace_, core_.ranks);
  for (size_t i = 0; i < trace_.programs.size(); ++i) {
    if (!Runs(first_rank[i])) {
      programs_.emplace_back();
      continue;
    }
    Result<CompiledProgram> compiled = CompileProgram(trace_.programs[i], first_rank[i]);
    if (!compiled) return compiled.error();
    programs_.push_back(*std::move(compiled));
  }
  // The last rank of a program takes its list.
  std::vector<uint32_t> last_rank(trace_.programs.size(), 0);
  for (uint32_t rank = 0; rank < core_.simulated; ++rank) {
    if (Runs(rank)) last_rank[trace_.program_of_rank[rank]] = rank;
  }
  size_t nodes = 0;
  for (uint32_t rank = 0; rank < core_.simulated; ++rank) {
    if (!Runs(rank)) continue;
    CompiledProgram& compiled = programs_[trace_.program_of_rank[rank]];
    nodes += compiled.size();
    if (last_rank[trace_.program_of_rank[rank]] == rank) {
      npus_[rank].parents_left = std::move(compiled.parents);
    } else {
      npus_[rank].parents_left = compiled.parents;
    }
  }
  if (core_.options.progress != nullptr) core_.options.progress->Begin("simulate", nodes);
  return {};
}

void Workload::Start(uint32_t rank) {
  const CompiledProgram& compiled = program(rank);
  for (uint32_t node = 0; node < compiled.size(); ++node) {
    if (npus_[rank].parents_left[node] == 0) MakeReady(rank, node);
  }
  Pump(rank);
  CheckFinished(rank);
}

void Workload::MakeReady(uint32_t rank, uint32_t node) {
  Npu& npu = npus_[rank];
  if (npu.pumping) {
    npu.fresh.push_back(node);
    return;
  }
  std::vector<uint32_t>& heap = npu.ready[static_cast<size_t>(SlotOf(program(rank).node(node)))];
  heap.push_back(node);
  std::push_heap(heap.begin(), heap.end(), std::greater<>());
}

// Of a slot with a free node.
bool Workload::MayIssue(const Npu& npu, Slot slot) const {
  if (slot == Slot::kNone) return true;
  if (slot == Slot::kComputeStream) return HasRoom(npu, Slot::kCompute) && HasRoom(npu, Slot::kCommunication);
  const std::vector<uint32_t>& stream = npu.ready[static_cast<size_t>(Slot::kComputeStream)];
  if (slot == Slot::kCompute && !stream.empty() && stream.front() < npu.ready[static_cast<size_t>(slot)].front())
    return false;
  return HasRoom(npu, slot);
}

// The smallest free node whose slot is free; kNothing if there is none.
uint32_t Workload::NextReady(Npu& npu) {
  std::vector<uint32_t>* best = nullptr;
  for (size_t slot = 0; slot < npu.ready.size(); ++slot) {
    std::vector<uint32_t>& heap = npu.ready[slot];
    if (heap.empty() || !MayIssue(npu, static_cast<Slot>(slot))) continue;
    if (best == nullptr || heap.front() < best->front()) best = &heap;
  }
  if (best == nullptr) return kNothing;
  std::pop_heap(best->begin(), best->end(), std::greater<>());
  const uint32_t node = best->back();
  best->pop_back();
  return node;
}

// Nodes that become free meanwhile wait for the next completion (spec astra-sim, A5).
void Workload::Pump(uint32_t rank) {
  Npu& npu = npus_[rank];
  npu.pumping = true;
  for (uint32_t node = NextReady(npu); node != kNothing && !core_.failure; node = NextReady(npu)) Issue(rank, node);
  npu.pumping = false;
  for (const uint32_t node : npu.fresh) MakeReady(rank, node);
  npu.fresh.clear();
}

void Workload::Occupy(Npu& npu, Slot slot, bool begins) {
  const auto count = [&](Slot taken) {
    uint32_t& nodes = npu.occupied[static_cast<size_t>(taken)];
    nodes = begins ? nodes + 1 : nodes - 1;
  };
  if (slot != Slot::kComputeStream) return count(slot);
  count(Slot::kCompute);
  count(Slot::kCommunication);
}

void Workload::Issue(uint32_t rank, uint32_t index) {
  Npu& npu = npus_[rank];
  const Node& node = program(rank).node(index);
  const Slot slot = SlotOf(node);
  if (slot != Slot::kNone) {
    Occupy(npu, slot, true);
    npu.occupants.push_back(index);
  }
  ++npu.taken;
  statistics_.Issued(rank, node);
  if (node.kind == NodeKind::kMetadata) {
    core_.Fail(kBadTrace,
               fmt::format("NPU {}, node {} (`{}`): metadata nodes cannot be executed", rank, node.id, node.name),
               "remove metadata nodes from the trace");
  } else if (core_.system.replay_only) {
    const uint64_t ticks = DurationTicks(rank, node);
    if (!node.is_cpu) statistics_.AddBusy(rank, ticks);
    Wait(rank, ticks, index);
  } else {
    IssueByKind(rank, index, node);
  }
}

void Workload::IssueByKind(uint32_t rank, uint32_t index, const Node& node) {
  switch (node.kind) {
    case NodeKind::kCompute:
      return IssueCompute(rank, index, node);
    case NodeKind::kMemoryLoad:
    case NodeKind::kMemoryStore:
      return memory_.Access(rank, index, static_cast<uint64_t>(program(rank).details(index).tensor_size.value),
                            node.id);
    case NodeKind::kSend:
    case NodeKind::kReceive:
      return IssueMessage(rank, index, node);
    case NodeKind::kCollective:
      return IssueCollective(rank, index, node);
    default:
      return Release(rank, index);
  }
}

void Workload::IssueCompute(uint32_t rank, uint32_t index, const Node& node) {
  if (core_.system.roofline && !node.is_cpu) return IssueRoofline(rank, index, node);
  const uint64_t ticks = DurationTicks(rank, node);
  if (!node.is_cpu) statistics_.AddBusy(rank, ticks);
  Wait(rank, ticks, index);
}

// Spec astra-sim section 8.4: performance is the smaller of bandwidth times intensity and the peak.
void Workload::IssueRoofline(uint32_t rank, uint32_t index, const Node& node) {
  const trace::NodeDetails& details = program(rank).details(index);
  if (details.tensor_size.value == 0) return Release(rank, index);
  const double peak = core_.system.peak_teraflops * 1e12;
  const double bandwidth = core_.system.memory_bandwidth * 1e9;
  const auto operations = static_cast<double>(details.operations);
  const double intensity = operations / static_cast<double>(details.tensor_size.value);
  const double performance = std::min(bandwidth * intensity, peak);
  const double seconds = operations / performance;
  if (!(seconds >= 0 && seconds < 1e9)) {
    core_.Fail(kNotPossible,
               fmt::format("NPU {}, node {} (`{}`): the roofline gives no duration", rank, node.id, node.name),
               "`peak-perf`, `local-mem-bw` and the node's `num_ops` must be above 0");
    return;
  }
  const uint64_t ticks = static_cast<uint64_t>(seconds * 1e9) * core_.ticks_per_ns;
  statistics_.AddBusy(rank, ticks);
  statistics_.AddRoofline(rank, ticks,
                          {.compute_bound = bandwidth * intensity >= peak ? 100.0 : 0.0,
                           .compute_utilisation = performance / peak * 100,
                           .memory_utilisation = performance / intensity / bandwidth * 100,
                           .operation_intensity = intensity});
  Wait(rank, ticks, index);
}

// ASTRA-sim takes a duration of 0 for 1 ns; with exact picoseconds it stays 0.
uint64_t Workload::DurationTicks(uint32_t rank, const Node& node) const {
  const SimulateOptions& options = core_.options;
  auto picoseconds = static_cast<uint64_t>(std::max<int64_t>(0, node.duration.value));
  double factor = rank < options.compute_scale.size() ? options.compute_scale[rank] : 1.0;
  if (options.noise != 0) factor *= NoiseFactor(options, rank, node.id);
  if (factor != 1.0) picoseconds = static_cast<uint64_t>(std::min(static_cast<double>(picoseconds) * factor, 9e18));
  if (core_.ticks_per_ns == 1000) return picoseconds;
  return std::max<uint64_t>(1, picoseconds / 1000);
}

void Workload::IssueMessage(uint32_t rank, uint32_t index, const Node& node) {
  const bool send = node.kind == NodeKind::kSend;
  const int32_t partner = trace_.PeerOf(rank, node);
  if (partner < 0 || static_cast<uint32_t>(partner) >= core_.ranks) {
    core_.Fail(kBadTrace, fmt::format("NPU {}, node {} (`{}`): {} NPU {}, but there are {} NPUs", rank, node.id,
                                      node.name, send ? "sends to" : "receives from", partner, core_.ranks));
    return;
  }
  const auto peer = static_cast<uint32_t>(partner);
  const MatchKey key{.size = static_cast<uint64_t>(node.size.value),
                     .tag = static_cast<uint32_t>(node.tag % kWorkloadTags),
                     .source = send ? rank : peer,
                     .destination = send ? peer : rank};
  const Callback done{CallbackKind::kNode, rank, index};
  if (send) {
    network_.Send(key, done);
  } else {
    network_.Receive(key, done);
  }
  if (core_.failure) core_.AddPlace(fmt::format("NPU {}, node {} (`{}`)", rank, node.id, node.name));
}

void Workload::IssueCollective(uint32_t rank, uint32_t index, const Node& node) {
  switch (node.collective) {
    case trace::Collective::kAllReduce:
    case trace::Collective::kAllGather:
    case trace::Collective::kReduceScatter:
    case trace::Collective::kAllToAll:
      return system_layer_.Request(rank, index, node);
    case trace::Collective::kBroadcast:
      return Wait(rank, DurationTicks(rank, node), index);
    default:
      core_.Fail(kNotPossible,
                 fmt::format("NPU {}, node {} (`{}`): collectives of type {} are not supported", rank, node.id,
                             node.name, static_cast<int>(node.collective)),
                 "supported are all-reduce, all-gather, reduce-scatter, all-to-all and broadcast");
  }
}

void Workload::Release(uint32_t rank, uint32_t index) {
  Npu& npu = npus_[rank];
  const CompiledProgram& compiled = program(rank);
  const Slot slot = SlotOf(compiled.node(index));
  if (slot != Slot::kNone) {
    Occupy(npu, slot, false);
    std::erase(npu.occupants, index);
  }
  --npu.taken;
  ++done_;
  statistics_.Ended(rank, compiled.node(index));
  for (uint32_t i = compiled.first_child[index]; i < compiled.first_child[index + 1]; ++i) {
    const uint32_t child = compiled.children[i];
    if (--npu.parents_left[child] == 0) MakeReady(rank, child);
  }
}

void Workload::NodeDone(uint32_t rank, uint32_t node) {
  if (core_.orders) core_.NoteTouch(rank, Core::kNode, Core::kNode);
  Release(rank, node);
  Pump(rank);
  CheckFinished(rank);
}

void Workload::CheckFinished(uint32_t rank) {
  Npu& npu = npus_[rank];
  if (npu.taken > 0 || npu.finished) return;
  if (std::any_of(npu.ready.begin(), npu.ready.end(), [](const auto& heap) { return !heap.empty(); })) return;
  npu.finished = true;
  statistics_.Finished(rank);
}

std::optional<uint32_t> Workload::Unissued(uint32_t rank) const {
  for (const std::vector<uint32_t>& heap : npus_[rank].ready) {
    if (!heap.empty()) return heap.front();
  }
  return std::nullopt;
}

}  // namespace hespas::simulate
