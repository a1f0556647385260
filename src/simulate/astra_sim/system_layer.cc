#include "simulate/astra_sim/system_layer.h"

#include <fmt/format.h>

#include <algorithm>

namespace hespas::simulate {

using hardware::Algorithm;
using hardware::AlgorithmKind;
using hardware::NativeCollective;
using hardware::SchedulingPolicy;

namespace {

constexpr uint64_t kTags = 500'000'000;  // collective tags are in [kTags, 2 * kTags)
constexpr uint64_t kStreamsOfGroup = 1'000'000;

constexpr std::string_view kKeys[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};

NativeCollective NativeOf(trace::Collective kind) {
  switch (kind) {
    case trace::Collective::kAllGather:
      return NativeCollective::kAllGather;
    case trace::Collective::kReduceScatter:
      return NativeCollective::kReduceScatter;
    case trace::Collective::kAllToAll:
      return NativeCollective::kAllToAll;
    default:
      return NativeCollective::kAllReduce;
  }
}

}  // namespace

SystemLayer::SystemLayer(Core& core, Network& network, const trace::TraceGraph& trace, CollectiveEnds& ends)
    : core_(core),
      trace_(trace),
      ends_(ends),
      algorithms_(core, network, streams_, *this),
      graphs_(core, network, streams_, *this),
      npus_(core.simulated),
      ring_only_{Algorithm{}} {
  const size_t dimensions = core.system.dimensions.size();
  const uint32_t queues = core.options.queues_per_dimension;
  for (Npu& npu : npus_) {
    npu.round_robin.assign(dimensions, RoundRobin{.last = queues / 2});
    npu.queues.resize(dimensions * queues);
    npu.trees_given.assign(hardware::kNativeCollectives * dimensions, 0);
  }
  const auto active = static_cast<uint64_t>(std::max<int64_t>(0, core.system.active_chunks));
  running_limit_ = (active + queues - 1) / queues;
}

void SystemLayer::Request(uint32_t rank, uint32_t index, const trace::Node& node) {
  const Context context{rank, node, NativeOf(node.collective), trace_.GroupOf(rank, node)};
  Plan plan;
  Chunks chunks;
  if (!Choose(context, plan) || !Cut(context, chunks)) return;
  Npu& npu = npus_[rank];
  const bool listed = core_.system.scheduling == SchedulingPolicy::kExplicit;
  const int64_t priority = listed ? DetailsOf(context).priority : npu.priority;
  npu.priority += core_.system.scheduling == SchedulingPolicy::kLifo ? 1 : -1;
  const uint32_t collective = collectives_.Take({.rank = rank, .node = index, .id = node.id, .total = chunks.count});
  if (plan.custom != nullptr) return StartCustom(context, plan, collective, priority);
  for (uint64_t i = 0; i < chunks.count && !core_.failure; ++i) {
    std::vector<Phase> phases;
    if (!MakePhases(context, plan, chunks.size, phases)) return;
    const uint32_t stream = NewStream(context, collective, priority);
    streams_[stream].phases = std::move(phases);
    EnterNextPhase(stream);
    Kick(rank, streams_[stream].queue);
  }
}

bool SystemLayer::Choose(const Context& context, Plan& plan) {
  const hardware::CollectiveSettings& settings = core_.system.of(context.kind);
  const auto of_node = core_.system.custom_of_node.find(context.node.id);
  if (of_node != core_.system.custom_of_node.end()) {
    plan.custom = &of_node->second;
  } else if (!settings.custom.empty()) {
    plan.custom = &settings.custom;
  }
  if (settings.algorithms) plan.algorithms = &*settings.algorithms;
  plan.involved = DetailsOf(context).involved_dimensions;
  if (plan.custom == nullptr && plan.algorithms == nullptr) {
    const std::string_view key = kKeys[static_cast<size_t>(context.kind)];
    core_.Fail(kNotPossible,
               fmt::format("NPU {}, node {}: the system has no algorithm for {}", context.rank, context.node.id, key),
               fmt::format("add `{}-implementation` to the system description", key));
    return false;
  }
  if (context.group == 0) return true;
  const auto group = trace_.groups.find(context.group);
  if (group == trace_.groups.end()) {
    core_.Fail(kBadTrace,
               fmt::format("NPU {}, node {}: communicator group {} is not defined", context.rank, context.node.id,
                           context.group),
               "give the file with the groups (comm_group.json)");
    return false;
  }
  const auto [known, added] = npus_[context.rank].group_plans.try_emplace({context.group, context.kind});
  if (added) {
    known->second = plan;
    if (!ChooseForGroup(context, group->second, known->second)) return false;
  }
  plan = known->second;
  return true;
}

bool SystemLayer::ChooseForGroup(const Context& context, const std::vector<uint32_t>& members, Plan& plan) {
  plan.involved = ~0u;
  if (members.size() == core_.ranks) return true;
  if (std::find(members.begin(), members.end(), context.rank) == members.end()) {
    core_.Fail(kBadTrace, fmt::format("NPU {}, node {}: the NPU is not a member of communicator group {}", context.rank,
                                      context.node.id, context.group));
    return false;
  }
  plan.members = &members;
  if (plan.custom != nullptr) return true;
  if (plan.algorithms->size() != 1) plan.algorithms = &ring_only_;
  if ((*plan.algorithms)[0].kind != AlgorithmKind::kDoubleBinaryTree) return true;
  core_.Fail(kNotPossible,
             fmt::format("NPU {}, node {}: double binary trees cannot run in communicator group {}", context.rank,
                         context.node.id, context.group),
             "use `ring` or `direct`");
  return false;
}

// Spec astra-sim section 5.2. The smallest chunk has one byte for every NPU, also for groups (A7).
bool SystemLayer::Cut(const Context& context, Chunks& chunks) {
  const int64_t splits = core_.system.dataset_splits;
  const auto never = [&](std::string_view why, std::string help) {
    core_.Fail(kNotPossible,
               fmt::format("NPU {}, node {}: the collective never completes: {}", context.rank, context.node.id, why),
               std::move(help));
    return false;
  };
  if (splits <= 0) return never("it is cut into 0 chunks", "set `preferred-dataset-splits` to at least 1");
  if (context.node.size.value < 0) return never("its size is negative", "");
  auto size = static_cast<uint64_t>(context.node.size.value);
  const auto pieces = static_cast<uint64_t>(splits);
  chunks.size = size / pieces;
  if (context.kind != NativeCollective::kAllGather && chunks.size < core_.ranks) {
    chunks.size = core_.ranks;
    size = pieces * core_.ranks;
  }
  if (chunks.size == 0) {
    return never("an all-gather smaller than its number of chunks has chunks of 0 bytes",
                 "use a larger size or fewer `preferred-dataset-splits`");
  }
  chunks.count = (size + chunks.size - 1) / chunks.size;
  return true;
}

bool SystemLayer::MakePhases(const Context& context, const Plan& plan, uint64_t data, std::vector<Phase>& phases) {
  std::vector<size_t> active{0};
  if (plan.members == nullptr) {
    active.clear();
    const size_t count = LogicalDimensions(*plan.algorithms);
    for (size_t d = 0; d < count; ++d) {
      const bool involved = d >= 32 || (plan.involved >> d & 1u) != 0;
      if (involved) active.push_back(d);
    }
  } else if (plan.members->size() == 1) {
    active.clear();
  }
  if (active.empty()) {
    core_.Fail(
        kNotPossible,
        fmt::format("NPU {}, node {}: the collective has no partner and never completes: {}", context.rank,
                    context.node.id, plan.members != nullptr ? "its group has one member" : "no dimension is involved"),
        "remove collectives over a single NPU");
    return false;
  }
  const NativeCollective kind = context.kind;
  const bool aware = core_.system.optimization == hardware::CollectiveOptimization::kLocalBandwidthAware;
  const auto add = [&](NativeCollective what, size_t d) { return AddPhase(context, plan, what, d, data, phases); };
  if (kind == NativeCollective::kAllGather) std::reverse(active.begin(), active.end());
  if (kind != NativeCollective::kAllReduce || !aware) {
    return std::all_of(active.begin(), active.end(), [&](size_t d) {
      if (!add(kind, d)) return false;
      AssignQueue(npus_[context.rank], d, 'a', phases.back());
      return true;
    });
  }
  const size_t last = active.back();
  active.pop_back();
  const auto with = [&](NativeCollective what, size_t d, char queue) {
    if (!add(what, d)) return false;
    AssignQueue(npus_[context.rank], d, queue, phases.back());
    return true;
  };
  for (const size_t d : active) {
    if (!with(NativeCollective::kReduceScatter, d, 'f')) return false;
  }
  if (!with(NativeCollective::kAllReduce, last, 'f')) return false;
  return std::all_of(active.rbegin(), active.rend(),
                     [&](size_t d) { return with(NativeCollective::kAllGather, d, 'l'); });
}

bool SystemLayer::AddPhase(const Context& context, const Plan& plan, NativeCollective kind, size_t dimension,
                           uint64_t& data, std::vector<Phase>& phases) {
  const Algorithm& algorithm = (*plan.algorithms)[dimension];
  Phase phase{.kind = kind, .algorithm = algorithm, .dimension = static_cast<uint32_t>(dimension), .data = data};
  phase.order_ring = phase.dimension;
  if (plan.members != nullptr && core_.orders) phase.order_ring = core_.orders->RingOfGroup(context.group);
  if (algorithm.kind == AlgorithmKind::kDoubleBinaryTree) {
    if (!AddTree(context, plan, dimension, phase)) return false;
  } else {
    phase.ring = plan.members != nullptr ? RingOfGroup(*plan.members, context.rank)
                                         : RingOfDimension(core_.system, *plan.algorithms, dimension, context.rank);
    if (kind == NativeCollective::kAllGather) data *= phase.ring.size;
    if (kind == NativeCollective::kReduceScatter) data /= phase.ring.size;
  }
  phases.push_back(phase);
  return true;
}

bool SystemLayer::AddTree(const Context& context, const Plan& plan, size_t dimension, Phase& phase) {
  const size_t slot = static_cast<size_t>(context.kind) * core_.system.dimensions.size() + dimension;
  const bool second = npus_[context.rank].trees_given[slot]++ % 2 == 1;
  const auto place = PlaceInTree(core_.system, *plan.algorithms, dimension, context.rank, second);
  if (place) {
    phase.tree = *place;
    return true;
  }
  core_.Fail(kNotPossible,
             fmt::format("NPU {}, node {}: the double binary tree over dimension {} ({} NPUs) has no place for the NPU",
                         context.rank, context.node.id, dimension, core_.system.dimensions[dimension].npus),
             "double binary trees need a power of two of NPUs and an entry for every dimension");
  return false;
}

// Spec astra-sim section 5.4. 'a': any queue, 'f': of the first half, 'l': of the last half.
void SystemLayer::AssignQueue(Npu& npu, size_t dimension, char which, Phase& phase) {
  const uint32_t queues = core_.options.queues_per_dimension;
  const uint32_t half = queues / 2;
  RoundRobin& next = npu.round_robin[dimension];
  uint32_t chosen = 0;
  if (which == 'a') {
    chosen = next.any;
    phase.clockwise = queues == 1 || chosen < half;
    next.any = (chosen + 1) % queues;
  } else if (which == 'f') {
    chosen = next.first;
    next.first = chosen + 1 < half ? chosen + 1 : 0;
  } else {
    chosen = next.last;
    phase.clockwise = false;
    next.last = chosen + 1 < queues ? chosen + 1 : half;
  }
  phase.queue = static_cast<uint32_t>(dimension * queues + chosen);
}

// Group streams count in the NPU's own counter too (spec astra-sim, A2).
uint32_t SystemLayer::NewStream(const Context& context, uint32_t collective, int64_t priority) {
  Npu& npu = npus_[context.rank];
  const uint32_t group = context.group;
  const bool counts = group == 0 || !core_.options.separate_stream_ids;
  uint64_t id = counts ? npu.streams++ : 0;
  if (group != 0) {
    const uint32_t number = core_.orders ? core_.orders->NumberOfGroup(group) : group;
    id = npu.group_streams.try_emplace(group, number * kStreamsOfGroup).first->second++;
  }
  const uint32_t index = streams_.Take();
  Stream& stream = streams_[index];
  stream.rank = context.rank;
  stream.collective = collective;
  stream.priority = priority;
  stream.tag = static_cast<uint32_t>(id % kTags + kTags);
  stream.next_phase = 0;
  stream.queue = kNil;
  stream.graph.reset();
  return index;
}

void SystemLayer::StartCustom(const Context& context, const Plan& plan, uint32_t collective, int64_t priority) {
  if (collectives_[collective].total > 1) {
    core_.Fail(kNotPossible,
               fmt::format("NPU {}, node {}: a custom collective runs once but is cut into {} chunks", context.rank,
                           context.node.id, collectives_[collective].total),
               "set `preferred-dataset-splits` to 1");
    return;
  }
  const std::vector<uint32_t>* members = plan.members;
  if (context.group != 0) members = &trace_.groups.at(context.group);
  uint32_t position = context.rank;
  if (members != nullptr) {
    position = static_cast<uint32_t>(
        std::count_if(members->begin(), members->end(), [&](uint32_t member) { return member < context.rank; }));
  }
  const GraphProgram* program = graphs_.Find(trace_, *plan.custom, position);
  if (program == nullptr) return core_.AddPlace(fmt::format("NPU {}, node {}", context.rank, context.node.id));
  const uint32_t index = NewStream(context, collective, priority);
  Stream& stream = streams_[index];
  stream.phases.assign(1, Phase{.kind = context.kind});
  stream.graph = std::make_unique<GraphRun>(GraphRun{.program = program, .members = members});
  stream.graph->size = static_cast<uint64_t>(context.node.size.value);
  EnterNextPhase(index);
  Kick(context.rank, 0);
}

// Inserts the stream into the queue of its next phase; the caller kicks the queue.
void SystemLayer::EnterNextPhase(uint32_t index) {
  Stream& stream = streams_[index];
  stream.queue = stream.phases[stream.next_phase++].queue;
  stream.running = false;
  Append(npus_[stream.rank].queues[stream.queue], index);
}

// Behind all that run or wait with no smaller priority.
void SystemLayer::Append(Queue& queue, uint32_t index) {
  Stream& stream = streams_[index];
  uint32_t before = queue.last;
  while (before != kNil && !streams_[before].running && streams_[before].priority < stream.priority) {
    before = streams_[before].before;
  }
  stream.before = before;
  stream.after = before == kNil ? queue.first : streams_[before].after;
  (before == kNil ? queue.first : streams_[before].after) = index;
  (stream.after == kNil ? queue.last : streams_[stream.after].before) = index;
  if (queue.first_waiting == kNil || stream.after == queue.first_waiting) queue.first_waiting = index;
}

void SystemLayer::Unlink(Queue& queue, uint32_t index) {
  const Stream& stream = streams_[index];
  if (queue.first_waiting == index) queue.first_waiting = stream.after;
  (stream.before == kNil ? queue.first : streams_[stream.before].after) = stream.after;
  (stream.after == kNil ? queue.last : streams_[stream.after].before) = stream.before;
}

void SystemLayer::Kick(uint32_t rank, uint32_t at) {
  while (!core_.failure) {
    Queue& queue = npus_[rank].queues[at];
    if (queue.first_waiting == kNil || queue.running >= running_limit_) return;
    const uint32_t index = queue.first_waiting;
    queue.first_waiting = streams_[index].after;
    ++queue.running;
    streams_[index].running = true;
    StartPhase(index);
  }
}

void SystemLayer::StartPhase(uint32_t index) {
  if (streams_[index].graph) {
    graphs_.Start(index);
  } else {
    algorithms_.Start(index);
  }
}

std::string SystemLayer::Describe(const Stream& stream) const {
  return fmt::format("NPU {}, node {}", stream.rank, collectives_[stream.collective].id);
}

// The order of these steps is spec astra-sim section 5.5's: the workload learns of the end while the stream still
// counts as running.
void SystemLayer::PhaseEnd(uint32_t index) {
  const uint32_t rank = streams_[index].rank;
  const uint32_t old = streams_[index].queue;
  const bool last = streams_[index].next_phase == streams_[index].phases.size();
  if (last) {
    const uint32_t at = streams_[index].collective;
    if (++collectives_[at].finished == collectives_[at].total) {
      const uint32_t node = collectives_[at].node;
      collectives_.Release(at);
      ends_.CollectiveEnd(rank, node);
    }
  }
  Unlink(npus_[rank].queues[old], index);
  if (!last) EnterNextPhase(index);
  --npus_[rank].queues[old].running;
  Kick(rank, old);
  if (last) {
    streams_[index].graph.reset();
    streams_.Release(index);
  } else {
    Kick(rank, streams_[index].queue);
  }
}

}  // namespace hespas::simulate
