#include "simulate/engine/event_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/interrupt.h"
#include "simulate/engine/deadlock.h"

namespace hespas::simulate {
namespace {

constexpr uint64_t kEventsBetweenAsking = 4096;

}  // namespace

EventEngine::EventEngine(const trace::TraceGraph& trace, const hardware::System& system, const SimulateOptions& options,
                         const EquivalentRanks* rank_classes)
    : core_(system, options, rank_classes),
      network_(core_, *this),
      statistics_(core_, result_),
      workload_(core_, network_, trace, statistics_) {
  result_.ranks.resize(core_.ranks);
  result_.tick = Time(static_cast<int64_t>(1000 / core_.ticks_per_ns));
  result_.method = "events";
}

Result<result::SimResult> EventEngine::Run() {
  if (Status started = core_.classes != nullptr ? StartClasses() : Start(0, core_.ranks); !started)
    return started.error();
  RunEvents();
  return Finish();
}

void EventEngine::RunOver(EventClock& clock, MessageCarrier& carrier) {
  core_.queue.LendTo(clock);
  core_.carrier = &carrier;
}

Status EventEngine::Start(uint32_t first_rank, uint32_t ranks) {
  if (Status loaded = workload_.Load(); !loaded) return loaded.error();
  core_.first_local = first_rank;
  core_.locals = ranks;
  for (uint32_t i = 0; i < ranks && !core_.failure; ++i) workload_.Start(first_rank + i);
  return {};
}

Status EventEngine::StartClasses() {
  if (Status loaded = workload_.Load(); !loaded) return loaded.error();
  for (uint32_t i = 0; i < core_.locals && !core_.failure; ++i) {
    core_.queue.SetOrder(i);
    workload_.Start(core_.classes->members[i][0]);
  }
  return {};
}

Result<result::SimResult> EventEngine::Finish() {
  const bool ended = !core_.failure && result_.order.size() == core_.locals;
  if (core_.orders && core_.locals > 1 && !ended) core_.asymmetric = "not all ranks finish";
  if (asymmetric()) return result_;
  if (core_.failure) return *core_.failure;
  if (result_.order.size() < core_.locals) return ExplainDeadlock(core_, network_, workload_);
  if (core_.orders) SpreadToAll();
  result_.messages = network_.transport().started;
  result_.events = core_.queue.popped();
  if (core_.options.record_links) result_.links = network_.transport().Use();
  return std::move(result_);
}

void EventEngine::SpreadToAll() {
  for (uint32_t rank = 0; rank < core_.ranks; ++rank) result_.ranks[rank] = result_.ranks[core_.classes->first(rank)];
  SpreadOrder();
  result_.method = "symmetry";
  if (core_.locals == 1) return;
  result_.method += fmt::format(" of {} classes of ranks", core_.locals);
  std::vector<result::NodeInterval> all;
  for (const result::NodeInterval& interval : result_.intervals) {
    for (const uint32_t rank : core_.classes->members[core_.classes->class_of[interval.rank]]) {
      all.push_back({interval.node, rank, interval.start, interval.end});
    }
  }
  result_.intervals = std::move(all);
}

// The first ranks finished in `result_.order`. Whose ranks come first where two classes finish together is not known.
void EventEngine::SpreadOrder() {
  std::vector<uint32_t> order;
  uint64_t last = 0;
  for (const uint32_t first : result_.order) {
    const uint64_t finish = result_.ranks[first].finish;
    if (core_.options.keep_order && !order.empty() && finish == last)
      core_.asymmetric = "two classes of ranks finish at the same tick";
    last = finish;
    const std::vector<uint32_t> members = core_.orders->Evaluate(core_.finish_orders[core_.classes->class_of[first]]);
    order.insert(order.end(), members.begin(), members.end());
  }
  result_.order = std::move(order);
}

void EventEngine::RunEvents() {
  const uint64_t limit = core_.options.event_limit;
  Event event;
  while (!core_.failure && !asymmetric() && core_.queue.Pop(event)) {
    if (core_.queue.popped() % kEventsBetweenAsking == 0) {
      if (Interrupted()) core_.failure = InterruptedError();
      if (core_.failure) return;
      if (core_.options.progress != nullptr) core_.options.progress->Done(workload_.done());
    }
    if (limit != 0 && core_.queue.popped() > limit) {
      core_.Fail(kNeverFinishes, fmt::format("stopped after {} events", limit), "raise the limit of events");
      return;
    }
    Handle(event);
  }
}

void EventEngine::Handle(const Event& event) {
  if (core_.failure) return;
  switch (event.kind) {
    case EventKind::kAgenda:
      return DrainAgenda(event.a);
    case EventKind::kStep:
      return network_.ArriveStep(event);
    case EventKind::kArrive:
      return network_.Arrive(event.a);
    case EventKind::kLinkFree:
      return network_.LinkFree(event.a);
    case EventKind::kCallback:
      return Run({event.callback, event.a, event.b});
  }
}

void EventEngine::DrainAgenda(uint32_t rank) {
  Action action;
  while (core_.agenda.Next(rank, action)) {
    RunAction(rank, action);
    if (core_.failure) return;
  }
}

void EventEngine::RunAction(uint32_t rank, const Action& action) {
  switch (action.kind) {
    case ActionKind::kEndpointDone:
      return workload_.system_layer().algorithms().EndpointDone(action.a, action.delay);
    case ActionKind::kGeneral:
      return workload_.system_layer().algorithms().General(action.a);
    case ActionKind::kNodeDone:
      return workload_.NodeDone(rank, action.a);
    case ActionKind::kGraphNodeDone:
      return workload_.system_layer().graphs().NodeDone(action.a, action.b);
    case ActionKind::kMemoryFree:
      return workload_.MemoryFree(action.a);
    case ActionKind::kBus:
      return workload_.system_layer().algorithms().buses().Run(action.a, action.b);
  }
}

void EventEngine::Run(Callback callback) {
  switch (callback.kind) {
    case CallbackKind::kNone:
      return;
    case CallbackKind::kStream:
      return Received(callback.owner);
    case CallbackKind::kNode:
      return workload_.NodeDone(callback.owner, callback.index);
    case CallbackKind::kGraphNode:
      return workload_.system_layer().graphs().NodeDone(callback.owner, callback.index);
    case CallbackKind::kRendezvousSend:
      return network_.ClearanceCame(callback.owner);
    case CallbackKind::kRendezvousReceive:
      return network_.ClearanceGone(callback.owner);
  }
}

}  // namespace hespas::simulate
