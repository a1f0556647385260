#include "simulate/collective/analytical.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "simulate/collective/beside.h"
#include "simulate/collective/equivalent_in_groups.h"
#include "simulate/collective/rank_state.h"
#include "simulate/collective/rendezvous.h"
#include "simulate/collective/shared_links.h"
#include "simulate/collective/ties.h"
#include "simulate/engine/loops.h"
#include "simulate/simulate.h"
#include "trace/asynchronous.h"
#include "trace/priority.h"

namespace hespas::simulate {
namespace {

using trace::NodeKind;

struct Event {
  uint64_t time;
  uint32_t rank;
  uint32_t node;
  bool operator>(const Event& o) const { return std::tie(time, rank, node) > std::tie(o.time, o.rank, o.node); }
};

constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();  // ps, in which times are kept

class AnalyticalSimulation {
 public:
  AnalyticalSimulation(const trace::TraceGraph& trace, const AnalyticalPlan& plan, const CommunicationTime& time_of,
                       const AnalyticalOptions& options, bool equivalent)
      : trace_(trace),
        time_of_(time_of),
        held_(options.held),
        compute_scale_(options.compute_scale),
        units_beside_(options.units_beside),
        memory_share_(options.memory_share),
        memory_bandwidth_(options.memory_bandwidth),
        equivalent_(equivalent),
        record_(options.record_nodes || !trace.loops.empty()),
        plans_(plan.programs),
        ranks_(equivalent ? 1 : trace.program_of_rank.size()),
        rendezvous_(trace) {
    if (options.share_links) shared_.emplace(ranks_.size());
  }

  // Whether something happened that ranks of several kinds of groups may decide differently.
  bool Tied() const { return ties_.Any(); }

  Result<result::SimResult> Run() {
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) Begin(rank);
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) StartNext(rank, 0);
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.time > kLongest)
        return MakeError(kNotPossible, fmt::format("NPU {} would be busy for more than 106 days", event.rank), {},
                         "look at the units of the network's bandwidth and latency");
      Finish(event);
    }
    if (auto stuck = Stuck()) return *std::move(stuck);
    return Answer();
  }

 private:
  // A transfer that shares links.
  struct Shared {
    RendezvousKey queue;
    std::vector<std::pair<uint32_t, uint32_t>> here;
    double memory_share = 0;
    uint64_t begin = 0, end = 0;
    size_t first_interval = 0;  // its records, in order of `here`
    size_t ended = 0;           // members whose end was seen
  };
  const trace::Program& program(uint32_t rank) const { return trace_.ProgramOf(rank); }
  const AnalyticalPlan::Program& plan(uint32_t rank) const { return plans_[trace_.program_of_rank[rank]]; }

  void Begin(uint32_t rank) {
    ranks_[rank].waits = plan(rank).waits;
    for (uint32_t i = 0; i < program(rank).nodes.size(); ++i) {
      if (ranks_[rank].waits[i] == 0) Ready(rank, i, 0);
    }
  }

  void Ready(uint32_t rank, uint32_t position, uint64_t now) {
    const trace::Node& node = program(rank).nodes[position];
    const bool holds = HoldsCompute(rank, node);
    if (Communicates(node) && !holds) {
      Arrive(rank, position, now);
    } else if (holds && NextToHold(rank) != position) {
      ranks_[rank].early.insert(position);
    } else {
      UnitOf(rank, node).ready.emplace(node.tag != trace::kRunsFirst, position);
    }
  }

  // Looked up when the first one is ready: most devices have none.
  uint32_t NextToHold(uint32_t rank) {
    RankState& state = ranks_[rank];
    const bool first = state.holding.empty();
    for (uint32_t i = 0; first && i < program(rank).nodes.size(); ++i) {
      if (HoldsCompute(rank, program(rank).nodes[i])) state.holding.push_back(i);
    }
    return state.holding[state.held];
  }

  // The next of the collectives that hold the compute unit may be ready already.
  void TakeTurn(uint32_t rank) {
    RankState& state = ranks_[rank];
    if (++state.held == state.holding.size()) return;
    const uint32_t next = state.holding[state.held];
    if (state.early.erase(next) > 0)
      state.compute.ready.emplace(program(rank).nodes[next].tag != trace::kRunsFirst, next);
  }

  bool HoldsCompute(uint32_t rank, const trace::Node& node) const {
    return trace::IsInComputeStream(node) || (held_ && node.kind == NodeKind::kCollective &&
                                              (held_(node, rendezvous_.Members(rank, node)) & kHoldsCompute) != 0);
  }

  ComputeUnit& UnitOf(uint32_t rank, const trace::Node& node) {
    return node.is_cpu ? ranks_[rank].host : ranks_[rank].compute;
  }

  void StartNext(uint32_t rank, uint64_t now) {
    StartNext(rank, ranks_[rank].compute, now);
    StartNext(rank, ranks_[rank].host, now);
  }

  void StartNext(uint32_t rank, ComputeUnit& unit, uint64_t now) {
    if (unit.busy || unit.ready.empty()) return;
    const uint32_t position = unit.ready.top().second;
    unit.ready.pop();
    const trace::Node& node = program(rank).nodes[position];
    unit.busy = true;
    if (Communicates(node)) {
      TakeTurn(rank);
      return Arrive(rank, position, now);
    }
    const uint64_t work = DurationOf(rank, node);
    RankState& state = ranks_[rank];
    uint64_t end = now + work;
    if (Slows() && !node.is_cpu) {
      std::erase_if(state.beside, [&](const Beside& collective) { return collective.end <= now; });
      unit.needs = {.units_left = units_beside_, .memory_share = MemoryShareOf(rank, node, work)};
      end = EndBeside(now, work, state.beside, unit.needs);
    }
    unit.node = position;
    unit.start = now;
    unit.work = work;
    unit.end = end;
    if (!node.is_cpu) state.times.Compute(now, end);
    unit.interval = intervals_.size();
    Record(rank, node.id, now, end);
    events_.push({end, rank, position});
  }

  bool Slows() const { return units_beside_ < 1 || memory_share_; }

  // Of a kernel that runs alone.
  double MemoryShareOf(uint32_t rank, const trace::Node& node, uint64_t work) const {
    const auto bytes = static_cast<double>(program(rank).DetailsOf(node).tensor_size.value);
    const double moved = static_cast<double>(work) * 1e-12 * memory_bandwidth_.value;
    return moved > 0 ? std::min(1.0, bytes / moved) : 0;
  }

  // A collective that begins while a kernel runs, or whose end moves, makes the kernel end at another time.
  void SlowDown(uint32_t rank, const Beside& collective) {
    RankState& state = ranks_[rank];
    const auto known = std::ranges::find(state.beside, collective.transfer, &Beside::transfer);
    if (known != state.beside.end()) {
      *known = collective;
    } else {
      const auto later = [](uint64_t begin, const Beside& other) { return begin < other.begin; };
      const auto place = std::upper_bound(state.beside.begin(), state.beside.end(), collective.begin, later);
      state.beside.insert(place, collective);
    }
    ComputeUnit& unit = state.compute;
    if (!unit.busy || unit.work == 0 || unit.end <= collective.begin) return;
    const uint64_t end = EndBeside(unit.start, unit.work, state.beside, unit.needs);
    if (end == unit.end) return;
    state.times.MoveEnd(unit.end, end);
    if (record_) intervals_[unit.interval].end = end;
    unit.end = end;
    events_.push({end, rank, unit.node});
  }

  uint64_t DurationOf(uint32_t rank, const trace::Node& node) const {
    const auto duration = static_cast<uint64_t>(std::max<int64_t>(0, node.duration.value));
    if (rank >= compute_scale_.size() || compute_scale_[rank] == 1) return duration;
    return static_cast<uint64_t>(std::llround(static_cast<double>(duration) * compute_scale_[rank]));
  }

  void Record(uint32_t rank, uint64_t node, uint64_t start, uint64_t end) {
    ++executed_;
    if (record_) intervals_.push_back({.node = node, .rank = rank, .start = start, .end = end});
  }

  void Arrive(uint32_t rank, uint32_t position, uint64_t now) {
    const trace::Node& node = program(rank).nodes[position];
    if (equivalent_) {
      ties_.Arrive(now, node);
      return Transfer({.here = {{rank, position}}, .ready = now}, rank, node);
    }
    const Rendezvous* const complete = rendezvous_.Arrive(rank, position, plan(rank).ordinal[position], now);
    if (complete != nullptr) Transfer(*complete, rank, node);
  }

  // Calls `use` with each of the rank's ports that the bits of `held` name.
  void OnPorts(uint32_t rank, uint32_t held, const auto& use) {
    auto& ports = ranks_[rank].ports;
    if (ports.size() < static_cast<size_t>(std::bit_width(held)))
      ports.resize(static_cast<size_t>(std::bit_width(held)));
    for (; held != 0; held &= held - 1) use(ports[static_cast<size_t>(std::countr_zero(held))]);
  }

  // A communicator has one stream: transfers of one group, or between two ranks, run one after the other.
  void Enqueue(const Rendezvous& rendezvous, uint32_t rank, const trace::Node& node) {
    const RendezvousKey key = rendezvous_.KeyOf(rank, node, 0);
    auto& queue = queues_[key];
    queue.push_back(rendezvous);
    if (queue.size() == 1) BeginShared(key, rendezvous.ready);
  }

  void BeginShared(const RendezvousKey& key, uint64_t now) {
    const Rendezvous& rendezvous = queues_.at(key).front();
    const auto [last, at] = rendezvous.here.back();
    const trace::Node& node = program(last).nodes[at];
    const uint32_t pair[2] = {rendezvous.here.front().first, last};
    const auto members =
        node.kind == NodeKind::kCollective ? rendezvous_.Members(last, node) : std::span<const uint32_t>(pair);
    const uint64_t transfer = ++transfers_;
    shared_transfers_[transfer] = {.queue = key,
                                   .here = rendezvous.here,
                                   .memory_share = memory_share_ ? memory_share_(node, members) : 0,
                                   .begin = now,
                                   .first_interval = intervals_.size()};
    std::vector<SharedLinks::Port> ports;
    for (const auto& [rank, position] : rendezvous.here) {
      const trace::Node& own = program(rank).nodes[position];
      ports.push_back({.rank = rank, .sends = own.kind != NodeKind::kReceive, .receives = own.kind != NodeKind::kSend});
      ranks_[rank].in_flight[position] = transfer;
      Record(rank, own.id, now, now);
    }
    const auto work = static_cast<uint64_t>(std::max<int64_t>(0, time_of_(node, members).value));
    const uint32_t held = held_ ? held_(node, members) & ~kHoldsCompute : 1;
    for (const SharedLinks::End& end : shared_->Begin(transfer, std::move(ports), held, work, now)) MoveEnd(end);
  }

  void MoveEnd(const SharedLinks::End& moved) {
    Shared& transfer = shared_transfers_.at(moved.transfer);
    if (transfer.end == moved.at && moved.at > transfer.begin) return;
    transfer.end = moved.at;
    for (const auto& [rank, position] : transfer.here) {
      events_.push({moved.at, rank, position});
      if (Slows() && moved.at > transfer.begin)
        SlowDown(rank, {.begin = transfer.begin,
                        .end = moved.at,
                        .memory_share = transfer.memory_share,
                        .transfer = moved.transfer});
    }
  }

  // False for an event of an end that has moved.
  bool FinishShared(const Event& event) {
    RankState& state = ranks_[event.rank];
    const auto found = state.in_flight.find(event.node);
    if (found == state.in_flight.end()) return false;
    const uint64_t id = found->second;
    Shared& transfer = shared_transfers_.at(id);
    if (transfer.end != event.time) return false;
    state.in_flight.erase(found);
    if (event.time > transfer.begin) state.times.Communicate(transfer.begin, event.time);
    const bool first = transfer.ended++ == 0;
    if (first && record_) {
      for (size_t i = 0; i < transfer.here.size(); ++i) intervals_[transfer.first_interval + i].end = event.time;
    }
    const RendezvousKey queue = transfer.queue;
    if (transfer.ended == transfer.here.size()) shared_transfers_.erase(id);
    if (!first) return true;
    for (const SharedLinks::End& end : shared_->Finish(id, event.time)) MoveEnd(end);
    auto& waiting = queues_.at(queue);
    waiting.pop_front();
    if (!waiting.empty()) BeginShared(queue, event.time);
    return true;
  }

  void Transfer(const Rendezvous& rendezvous, uint32_t arrived, const trace::Node& node) {
    if (shared_) return Enqueue(rendezvous, arrived, node);
    uint32_t pair[2] = {rendezvous.here.front().first, rendezvous.here.back().first};
    const auto members =
        node.kind == NodeKind::kCollective ? rendezvous_.Members(pair[1], node) : std::span<const uint32_t>(pair);
    const uint32_t held = held_ ? held_(node, members) & ~kHoldsCompute : 1;
    Beside taken{.memory_share = memory_share_ ? memory_share_(node, members) : 0, .transfer = ++transfers_};
    uint64_t start = rendezvous.ready;
    for (const auto& [rank, position] : rendezvous.here) {
      const NodeKind kind = program(rank).nodes[position].kind;
      OnPorts(rank, held, [&](const LinkPorts& ports) {
        if (kind != NodeKind::kReceive) start = std::max(start, ports.send_free);
        if (kind != NodeKind::kSend) start = std::max(start, ports.receive_free);
      });
    }
    const auto duration = static_cast<uint64_t>(std::max<int64_t>(0, time_of_(node, members).value));
    if (duration == 0 && members.size() > 1) ties_.Found();
    taken.begin = start;
    taken.end = start + duration;
    for (const auto& [rank, position] : rendezvous.here) {
      RankState& state = ranks_[rank];
      const NodeKind kind = program(rank).nodes[position].kind;
      OnPorts(rank, held, [&](LinkPorts& ports) {
        if (kind != NodeKind::kReceive) ports.send_free = start + duration;
        if (kind != NodeKind::kSend) ports.receive_free = start + duration;
      });
      if (duration > 0) state.times.Communicate(start, start + duration);
      if (duration > 0 && Slows()) SlowDown(rank, taken);
      Record(rank, program(rank).nodes[position].id, start, start + duration);
      events_.push({start + duration, rank, position});
    }
  }

  void Finish(const Event& event) {
    RankState& state = ranks_[event.rank];
    const trace::Node& node = program(event.rank).nodes[event.node];
    const bool computes = !Communicates(node) && !node.is_cpu;
    const ComputeUnit& unit = state.compute;
    if (computes && (!unit.busy || unit.node != event.node || unit.end != event.time)) return;  // its end has moved
    if (shared_ && Communicates(node) && !FinishShared(event)) return;
    const bool held = std::ranges::binary_search(state.holding, event.node);
    if (!Communicates(node) || held) UnitOf(event.rank, node).busy = false;
    ++state.done;
    state.times.Finish(event.time);
    const AnalyticalPlan::Program& waiting = plan(event.rank);
    for (uint32_t i = waiting.first_user[event.node]; i < waiting.first_user[event.node + 1]; ++i) {
      const uint32_t user = waiting.users[i];
      if (--state.waits[user] == 0) Ready(event.rank, user, event.time);
    }
    StartNext(event.rank, event.time);
  }

  std::optional<Error> Stuck() const {
    for (uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (ranks_[rank].done == program(rank).nodes.size()) continue;
      if (auto incomplete = rendezvous_.Incomplete()) return incomplete;
      return MakeError(kNeverFinishes, fmt::format("NPU {} has nodes that depend on each other", rank));
    }
    return std::nullopt;
  }

  result::SimResult Answer() {
    result::SimResult answer;
    answer.tick = Time(1);
    answer.method = equivalent_ ? "symmetry" : "given times";
    for (RankState& rank : ranks_) answer.ranks.push_back(std::move(rank.times).Result());
    if (equivalent_) answer.ranks.resize(trace_.program_of_rank.size(), answer.ranks.front());
    answer.order.resize(answer.ranks.size());
    std::iota(answer.order.begin(), answer.order.end(), 0u);
    std::stable_sort(answer.order.begin(), answer.order.end(),
                     [&](uint32_t a, uint32_t b) { return answer.ranks[a].finish < answer.ranks[b].finish; });
    answer.events = executed_;
    answer.intervals = std::move(intervals_);
    return answer;
  }

  const trace::TraceGraph& trace_;
  const CommunicationTime& time_of_;
  const CommunicationHold& held_;
  const std::vector<double>& compute_scale_;
  double units_beside_;
  const CommunicationShare& memory_share_;
  BytesPerSecond memory_bandwidth_;
  bool equivalent_;
  bool record_;
  uint64_t executed_ = 0;
  const std::vector<AnalyticalPlan::Program>& plans_;
  std::vector<RankState> ranks_;
  RendezvousTable rendezvous_;
  uint64_t transfers_ = 0;
  std::optional<SharedLinks> shared_;  // where transfers do not queue for links
  std::map<uint64_t, Shared> shared_transfers_;
  std::map<RendezvousKey, std::deque<Rendezvous>> queues_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<result::NodeInterval> intervals_;
  Ties ties_;
};

bool HasMessages(const trace::Program& program) {
  return std::any_of(program.nodes.begin(), program.nodes.end(),
                     [](const trace::Node& node) { return trace::IsMessage(node.kind); });
}

// One rank in the place of all; nothing where they may differ.
std::optional<Result<result::SimResult>> OfOneRank(const trace::TraceGraph& trace, const AnalyticalPlan& plan,
                                                   const CommunicationTime& time_of, const AnalyticalOptions& options) {
  if (!options.compute_scale.empty() || trace.programs.size() != 1 || HasMessages(trace.programs.front())) return {};
  const Equivalence equivalence = EquivalentInGroups(trace, time_of, options).Find();
  if (equivalence == Equivalence::kNone) return {};
  AnalyticalSimulation simulation(trace, plan, time_of, options, true);
  auto result = simulation.Run();
  if (equivalence == Equivalence::kWithoutTies && simulation.Tied()) return {};
  return result;
}

}  // namespace

Result<result::SimResult> SimulateAnalytical(const trace::TraceGraph& trace, const CommunicationTime& time_of,
                                             const AnalyticalOptions& options) {
  if (trace.program_of_rank.empty()) return result::SimResult{};
  std::optional<AnalyticalPlan> own;
  if (options.plan == nullptr) {
    auto made = PlanAnalytical(trace);
    if (!made) return made.error();
    own = *std::move(made);
  }
  const AnalyticalPlan& plan = own ? *own : *options.plan;
  auto result = OfOneRank(trace, plan, time_of, options);
  if (!result) result = AnalyticalSimulation(trace, plan, time_of, options, false).Run();
  if (*result && !trace.loops.empty()) RepeatLoops(trace, **result);
  return *std::move(result);
}

}  // namespace hespas::simulate
