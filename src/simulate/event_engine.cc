#include "simulate/event_engine.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/interrupt.h"
#include "simulate/deadlock.h"

namespace hespas::simulate {
namespace {

constexpr uint64_t kEventsBetweenAsking = 4096;

}  // namespace

EventEngine::EventEngine(const trace::TraceGraph& trace, const hardware::System& system, const SimulateOptions& options,
                         const GroupFamilies* one_for_all)
    : core_(system, options, one_for_all),
      network_(core_, *this),
      statistics_(core_, result_),
      workload_(core_, network_, trace, statistics_) {
  result_.ranks.resize(core_.ranks);
  result_.tick = Time(static_cast<int64_t>(1000 / core_.ticks_per_ns));
  result_.method = "events";
}

Result<result::SimResult> EventEngine::Run() {
  if (Status started = Start(0, core_.simulated); !started) return started.error();
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

Result<result::SimResult> EventEngine::Finish() {
  if (core_.failure) return *core_.failure;
  if (asymmetric()) return result_;
  if (result_.order.size() < core_.locals) return ExplainDeadlock(core_, network_, workload_);
  if (core_.orders) SpreadToAll();
  result_.messages = network_.transport().started;
  result_.events = core_.queue.popped();
  if (core_.options.record_links) result_.links = network_.transport().Use();
  return std::move(result_);
}

void EventEngine::SpreadToAll() {
  std::fill(result_.ranks.begin() + 1, result_.ranks.end(), result_.ranks[0]);
  result_.order = core_.orders->Evaluate(core_.finish_order);
  result_.method = "symmetry";
}

void EventEngine::RunEvents() {
  const uint64_t limit = core_.options.event_limit;
  Event event;
  while (!core_.failure && !asymmetric() && core_.queue.Pop(event)) {
    if (core_.queue.popped() % kEventsBetweenAsking == 0 && Interrupted()) {
      core_.failure = InterruptedError();
      return;
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
