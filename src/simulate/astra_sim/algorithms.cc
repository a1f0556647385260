#include "simulate/astra_sim/algorithms.h"

#include <fmt/format.h>

#include <cmath>

namespace hespas::simulate {

using hardware::AlgorithmKind;
using hardware::NativeCollective;

namespace {

constexpr int64_t kDefaultEndpointDelay = 10;

int64_t EndpointNanoseconds(const hardware::System& system, double scale) {
  if (!system.endpoint_delay) return kDefaultEndpointDelay;
  return static_cast<int64_t>(static_cast<double>(*system.endpoint_delay) * scale);
}

void Advance(HalvingCursor& cursor, NativeCollective kind, uint32_t size) {
  const auto step = [&] {
    cursor.distance = static_cast<uint64_t>(static_cast<double>(cursor.distance) * cursor.factor);
    cursor.message = static_cast<uint64_t>(static_cast<double>(cursor.message) / cursor.factor);
  };
  step();
  if (cursor.distance == size && kind == NativeCollective::kAllReduce) {
    cursor.factor = 0.5;
    step();
  }
}

uint32_t PartnerAt(const HalvingCursor& cursor, const LogicalRing& ring) {
  const bool clockwise = cursor.distance == 0 || (ring.me / cursor.distance) % 2 == 0;
  return ring.Neighbour(ring.me, cursor.distance % ring.size, clockwise);
}

}  // namespace

Algorithms::Algorithms(Core& core, Network& network, Pool<Stream>& streams, PhaseEnds& ends)
    : core_(core),
      network_(network),
      streams_(streams),
      ends_(ends),
      endpoint_delay_(static_cast<uint64_t>(EndpointNanoseconds(core.system, core.options.injection_scale)) *
                      core.ticks_per_ns),
      group_endpoint_delay_(static_cast<uint64_t>(kDefaultEndpointDelay) * core.ticks_per_ns),
      memory_bytes_per_second_(core.system.memory_bandwidth * 1e9),
      buses_(core, *this) {}

// One write and two reads (spec astra-sim section 7.2). Without a memory bandwidth the reduction is free (A9).
uint64_t Algorithms::ReductionTicks(uint64_t size) const {
  if (!(memory_bytes_per_second_ > 0)) return 0;
  return 3 * static_cast<uint64_t>(static_cast<double>(size) / memory_bytes_per_second_ * 1e9) * core_.ticks_per_ns;
}

void Algorithms::Start(uint32_t index) {
  Stream& stream = streams_[index];
  const Phase& phase = stream.phase();
  stream.state = AlgorithmState{};
  stream.state.algorithm = phase.algorithm.kind;
  stream.state.kind = phase.kind;
  stream.state.endpoint_delay = phase.ring.local ? group_endpoint_delay_ : endpoint_delay_;
  if (phase.algorithm.kind != AlgorithmKind::kRing && phase.algorithm.kind != AlgorithmKind::kDirect) {
    BeginMatching(stream, index);
  }
  switch (phase.algorithm.kind) {
    case AlgorithmKind::kRing:
    case AlgorithmKind::kDirect:
      return StartRing(stream, index);
    case AlgorithmKind::kHalvingDoubling:
      return StartHalving(stream, index);
    case AlgorithmKind::kDoubleBinaryTree:
      stream.state.message = phase.data;
      stream.state.reduction = ReductionTicks(phase.data);
      return TreeEvent(stream, index, 's');
  }
}

void Algorithms::StartRing(Stream& stream, uint32_t index) {
  const Phase& phase = stream.phase();
  AlgorithmState& state = stream.state;
  const uint64_t n = phase.ring.size;
  const bool direct = phase.algorithm.kind == AlgorithmKind::kDirect;
  state.message = phase.kind == NativeCollective::kAllGather ? phase.data : phase.data / n;
  state.remaining = phase.kind == NativeCollective::kAllReduce             ? 2 * (n - 1)
                    : phase.kind == NativeCollective::kAllToAll && !direct ? n * (n - 1) / 2
                                                                           : n - 1;
  if (direct) {
    const int32_t window = phase.algorithm.window;
    state.width = window == -1 ? n - 1 : std::min<uint64_t>(static_cast<uint64_t>(std::max(window, 0)), n - 1);
  }
  state.processed_refill = direct && !phase.ring.local ? state.width : (n - 1) * state.width;
  state.reduction = ReductionTicks(state.message);
  BeginMatching(stream, index);
  for (uint64_t i = 0; i < state.width; ++i) InsertRing(stream, index);
}

// Only ring and direct have channels; the matching must know that the others have none.
void Algorithms::BeginMatching(Stream& stream, uint32_t index) {
  if (!network_.stepwise()) return;
  const Phase& phase = stream.phase();
  AlgorithmState& state = stream.state;
  const bool ring = phase.algorithm.kind == AlgorithmKind::kRing;
  const bool steps = ring || phase.algorithm.kind == AlgorithmKind::kDirect;
  state.stepwise = steps && state.message > 0 && phase.ring.size > 1;
  network_.channels().Begin({.stream = index,
                             .rank = stream.rank,
                             .tag = stream.tag,
                             .channels = !state.stepwise ? 0
                                         : ring          ? 1
                                                         : phase.ring.size - 1,
                             .size = state.message,
                             .ring = phase.ring,
                             .clockwise = phase.clockwise});
  if (!state.stepwise) return;
  state.to = phase.ring.Neighbour(phase.ring.me, 1, phase.clockwise);
  state.from = phase.ring.Neighbour(phase.ring.me, 1, !phase.clockwise);
  state.delay = network_.transport().UnawareDelay(stream.rank, state.to, state.message) * core_.ticks_per_ns;
  const bool straight = !phase.ring.local && !phase.algorithm.flat;
  state.even_delay =
      ring || (straight && core_.system.dimensions[phase.dimension].kind != hardware::DimensionKind::kRing);
}

void Algorithms::EndPhase(const Stream& stream, uint32_t index) {
  if (network_.stepwise()) network_.channels().End(stream.rank, stream.tag, index);
  ends_.PhaseEnd(index);
}

uint64_t Algorithms::StepDelay(const Stream& stream, uint32_t steps, uint32_t to) const {
  if (steps == 1 || stream.state.even_delay) return stream.state.delay;
  return network_.transport().UnawareDelay(stream.rank, to, stream.state.message) * core_.ticks_per_ns;
}

// Sends one message `steps` on and posts the receive from as far back.
void Algorithms::Step(const Stream& stream, uint32_t index, uint32_t steps) {
  const AlgorithmState& state = stream.state;
  uint32_t to = state.to;
  uint32_t from = state.from;
  if (steps != 1) {
    const Phase& phase = stream.phase();
    to = phase.ring.Neighbour(phase.ring.me, steps, phase.clockwise);
    from = phase.ring.Neighbour(phase.ring.me, steps, !phase.clockwise);
  }
  const MatchKey sent{.size = state.message, .tag = stream.tag, .source = stream.rank, .destination = to};
  network_.Step(sent, steps, StepDelay(stream, steps, to));
  const MatchKey due{.size = state.message, .tag = stream.tag, .source = from, .destination = stream.rank};
  network_.ReceiveStep(due, steps, index);
}

// Two budgets decide whether a packet is processed (reduced); spec astra-sim section 6.1. Only the shared bus asks for
// the ways: the first packets go from the NPU to the interface, the others come from there and, the last aside, go
// back.
Algorithms::Passage Algorithms::TakeBudget(AlgorithmState& state) {
  if (state.unprocessed_budget == 0 && state.processed_budget == 0) {
    state.unprocessed_budget = state.width;
    state.processed_budget = state.processed_refill;
    state.toggle = !state.toggle;
  }
  if (state.unprocessed_budget > 0) {
    --state.unprocessed_budget;
    return {.to_interface = true};
  }
  const bool sent_back = state.processed_budget > state.width;
  --state.processed_budget;
  const bool reduces =
      state.kind == NativeCollective::kReduceScatter || (state.kind == NativeCollective::kAllReduce && state.toggle);
  return {.processed = reduces, .sent_back = sent_back};
}

void Algorithms::InsertRing(Stream& stream, uint32_t index) {
  AlgorithmState& state = stream.state;
  const Passage passage = TakeBudget(state);
  ++state.inserted;
  Pass(stream, index, passage, state.message, state.reduction);
}

// The k-th packet of `direct` goes to the ring member k steps on and comes from k steps back, itself omitted.
void Algorithms::SendRing(Stream& stream, uint32_t index) {
  AlgorithmState& state = stream.state;
  if (state.sent == state.inserted || state.remaining == 0 || state.free == 0) return;
  if (state.stepwise && state.algorithm == AlgorithmKind::kRing) {
    ++state.sent;
    --state.remaining;
    --state.free;
    return Step(stream, index, 1);
  }
  const Phase& phase = stream.phase();
  const LogicalRing& ring = phase.ring;
  const uint64_t steps = phase.algorithm.kind == AlgorithmKind::kDirect ? state.sent % (ring.size - 1) + 1 : 1;
  if (state.stepwise) {
    ++state.sent;
    --state.remaining;
    --state.free;
    return Step(stream, index, static_cast<uint32_t>(steps));
  }
  const uint32_t to = ring.Neighbour(ring.me, steps, phase.clockwise);
  const uint32_t from = ring.Neighbour(ring.me, steps, !phase.clockwise);
  if (core_.orders) {
    const MatchKey key{.size = state.message, .tag = stream.tag, .source = stream.rank, .destination = to};
    const auto places = static_cast<uint32_t>(steps);
    SendMirrored(stream, key, core_.orders->MirrorSteps(key, phase.order_ring, places, phase.clockwise),
                 OrderOfRingSend(stream, steps));
  } else {
    Send(stream, to, state.message);
  }
  ++state.sent;
  --state.remaining;
  --state.free;
  Receive(stream, index, from, state.message);
}

// The order in which messages of this send arrive at all ranks (order_trace.h).
uint32_t Algorithms::OrderOfRingSend(Stream& stream, uint64_t steps) {
  const Phase& phase = stream.phase();
  AlgorithmState& state = stream.state;
  const uint32_t size = phase.ring.size;
  const uint32_t order = core_.queue.track().order;
  const auto distance = static_cast<uint32_t>(steps);
  if (phase.algorithm.kind == AlgorithmKind::kRing || size == 2) {
    return core_.orders->Shift(order, phase.order_ring, phase.clockwise ? distance : size - distance);
  }
  if (steps == 1) state.batch_event = core_.queue.popped();
  // Only a full round of sends at once has a known order of first arrivals.
  if (state.width != size - 1 || state.batch_event != core_.queue.popped())
    core_.asymmetric = "`direct` sends in parts";
  uint32_t hops = 0;
  if (phase.ring.local) {
    hops = core_.orders->FamilyOf(phase.order_ring).class_of_steps[phase.clockwise ? distance : size - distance];
  } else if (core_.system.dimensions[phase.dimension].kind == hardware::DimensionKind::kRing) {
    hops = std::min(distance, size - distance);
  }
  return core_.orders->Exchange(order, phase.order_ring, hops, phase.clockwise);
}

// `direct` all-reduce, whose gathering half waits for all of the first half.
bool Algorithms::InSecondHalf(const Stream& stream) {
  const AlgorithmState& state = stream.state;
  return state.algorithm == AlgorithmKind::kDirect && state.kind == NativeCollective::kAllReduce &&
         state.remaining < stream.phase().ring.size;
}

void Algorithms::GeneralRing(Stream& stream, uint32_t index) {
  AlgorithmState& state = stream.state;
  ++state.free;
  if (InSecondHalf(stream)) {
    if (state.received + 1 < stream.phase().ring.size) return;
    for (uint64_t i = 0; i < state.width; ++i) SendRing(stream, index);
  } else {
    SendRing(stream, index);
  }
  if (state.remaining == 0 && state.free == state.width) EndPhase(stream, index);
}

void Algorithms::StartHalving(Stream& stream, uint32_t index) {
  const Phase& phase = stream.phase();
  AlgorithmState& state = stream.state;
  if (phase.kind == NativeCollective::kAllToAll) {
    core_.Fail(kNotPossible, ends_.Describe(stream) + ": halving-doubling cannot do an all-to-all",
               "use `ring` or `direct` in `all-to-all-implementation`");
    return;
  }
  const double levels = std::log2(static_cast<double>(phase.ring.size));
  state.processed_refill = static_cast<uint64_t>(std::max(0.0, levels - 1));
  state.remaining = static_cast<uint64_t>(phase.kind == NativeCollective::kAllReduce ? 2 * levels : levels);
  state.insert_cursor = phase.kind == NativeCollective::kAllGather
                            ? HalvingCursor{.message = phase.data, .distance = phase.ring.size / 2, .factor = 0.5}
                            : HalvingCursor{.message = phase.data / 2, .distance = 1, .factor = 2};
  state.send_cursor = state.insert_cursor;
  InsertHalving(stream, index);
}

void Algorithms::InsertHalving(Stream& stream, uint32_t index) {
  const Phase& phase = stream.phase();
  AlgorithmState& state = stream.state;
  const Passage passage = TakeBudget(state);
  const uint64_t size = state.insert_cursor.message;
  ++state.inserted;
  Pass(stream, index, passage, size, passage.processed ? ReductionTicks(size) : 0);
  Advance(state.insert_cursor, phase.kind, phase.ring.size);
}

void Algorithms::GeneralHalving(Stream& stream, uint32_t index) {
  AlgorithmState& state = stream.state;
  const Phase& phase = stream.phase();
  ++state.free;
  if (state.sent < state.inserted && state.remaining > 0) {
    const uint64_t size = state.send_cursor.message;
    const auto distance = static_cast<uint32_t>(state.send_cursor.distance);
    const uint32_t partner = PartnerAt(state.send_cursor, phase.ring);
    Advance(state.send_cursor, phase.kind, phase.ring.size);
    ++state.sent;
    --state.remaining;
    --state.free;
    if (core_.orders) {
      const MatchKey key{.size = size, .tag = stream.tag, .source = stream.rank, .destination = partner};
      SendMirrored(stream, key, core_.orders->MirrorSwap(key, phase.order_ring, distance),
                   core_.orders->Swap(core_.queue.track().order, phase.order_ring, distance));
    } else {
      Send(stream, partner, size);
    }
    Receive(stream, index, partner, size);
  }
  if (state.remaining == 0 && state.free == 1) EndPhase(stream, index);
}

void Algorithms::General(uint32_t index) {
  Stream& stream = streams_[index];
  switch (stream.state.algorithm) {
    case AlgorithmKind::kRing:
    case AlgorithmKind::kDirect:
      return GeneralRing(stream, index);
    case AlgorithmKind::kHalvingDoubling:
      return GeneralHalving(stream, index);
    case AlgorithmKind::kDoubleBinaryTree:
      return TreeEvent(stream, index, 'g');
  }
}

void Algorithms::Received(uint32_t index) {
  Stream& stream = streams_[index];
  ++stream.state.received;
  switch (stream.state.algorithm) {
    case AlgorithmKind::kRing:
    case AlgorithmKind::kDirect:
      return InsertRing(stream, index);
    case AlgorithmKind::kHalvingDoubling:
      return InsertHalving(stream, index);
    case AlgorithmKind::kDoubleBinaryTree:
      return TreeEvent(stream, index, 'r');
  }
}

void Algorithms::EndpointDone(uint32_t index, uint64_t reduction) {
  if (reduction == kNoReduction) return General(index);
  core_.agenda.Schedule(streams_[index].rank, reduction, {ActionKind::kGeneral, index});
}

void Algorithms::TreeEvent(Stream& stream, uint32_t index, char event) {
  const TreePlace& place = stream.phase().tree;
  if (place.parent == TreePlace::kNobody) return TreeRoot(stream, index);
  if (place.left == TreePlace::kNobody && place.right == TreePlace::kNobody) return TreeLeaf(stream, index);
  TreeIntermediate(stream, index, event);
}

void Algorithms::TreeLeaf(Stream& stream, uint32_t index) {
  const uint32_t parent = stream.phase().tree.parent;
  AlgorithmState& state = stream.state;
  switch (state.tree_state) {
    case TreeState::kBegin:
      state.tree_state = TreeState::kUp;
      return Pass(stream, index, {.to_interface = true}, state.message, 0);
    case TreeState::kUp:
      state.tree_state = TreeState::kWaitParent;
      Send(stream, parent, state.message);
      return Receive(stream, index, parent, state.message);
    case TreeState::kWaitParent:
      state.tree_state = TreeState::kEnd;
      return Pass(stream, index, {}, state.message, 0);
    default:
      return EndPhase(stream, index);
  }
}

void Algorithms::TreeIntermediate(Stream& stream, uint32_t index, char event) {
  const TreePlace& place = stream.phase().tree;
  AlgorithmState& state = stream.state;
  const auto on_receive = [&](TreeState next) {
    state.tree_state = next;
    Pass(stream, index, {.processed = true, .sent_back = next != TreeState::kWaitOne}, state.message, state.reduction);
  };
  if (state.tree_state == TreeState::kBegin) {
    state.tree_state = TreeState::kWaitTwo;
    Receive(stream, index, place.left, state.message);
    Receive(stream, index, place.right, state.message);
  } else if (state.tree_state == TreeState::kWaitTwo && event == 'r') {
    on_receive(TreeState::kWaitOne);
  } else if (state.tree_state == TreeState::kWaitOne && event == 'r') {
    on_receive(TreeState::kUp);
  } else if (!state.swallowed && event == 'g') {
    state.swallowed = true;
  } else if (state.tree_state == TreeState::kUp) {
    state.tree_state = TreeState::kWaitParent;
    Send(stream, place.parent, state.message);
    Receive(stream, index, place.parent, state.message);
  } else if (state.tree_state == TreeState::kWaitParent && event == 'r') {
    on_receive(TreeState::kDown);
  } else if (state.tree_state == TreeState::kDown) {
    Send(stream, place.left, state.message);
    Send(stream, place.right, state.message);
    EndPhase(stream, index);
  }
}

void Algorithms::TreeRoot(Stream& stream, uint32_t index) {
  const TreePlace& place = stream.phase().tree;
  const uint32_t child = place.left != TreePlace::kNobody ? place.left : place.right;
  AlgorithmState& state = stream.state;
  if (state.tree_state == TreeState::kBegin) {
    state.tree_state = TreeState::kWaitOne;
    Receive(stream, index, child, state.message);
  } else if (state.tree_state == TreeState::kWaitOne) {
    state.tree_state = TreeState::kDown;
    Pass(stream, index, {.processed = true, .sent_back = true}, state.message, state.reduction);
  } else if (state.tree_state == TreeState::kDown) {
    Send(stream, child, state.message);
    EndPhase(stream, index);
  }
}

void Algorithms::Pass(const Stream& stream, uint32_t index, Passage passage, uint64_t size, uint64_t reduction) {
  const uint64_t after = passage.processed ? reduction : kNoReduction;
  if (core_.system.bus.enabled && !stream.phase().ring.local) {
    buses_.Request(stream.rank, {.stream = index,
                                 .size = size,
                                 .reduction = after,
                                 .to_interface = passage.to_interface,
                                 .processed = passage.processed,
                                 .sent_back = passage.sent_back});
    return;
  }
  const ActionKind next = passage.processed ? ActionKind::kEndpointDone : ActionKind::kGeneral;
  core_.agenda.Schedule(stream.rank, stream.state.endpoint_delay,
                        {.kind = next, .a = index, .delay = passage.processed ? reduction : 0});
}

void Algorithms::Send(const Stream& stream, uint32_t to, uint64_t size) {
  network_.Send({.size = size, .tag = stream.tag, .source = stream.rank, .destination = to}, {});
  if (core_.failure) core_.AddPlace(ends_.Describe(stream));
}

void Algorithms::SendMirrored(const Stream& stream, const MatchKey& key, const MatchKey& mirrored, uint32_t order) {
  if (key.size == 0 || key.destination == stream.rank) {
    Send(stream, key.destination, key.size);  // fails with the reason
    return;
  }
  const Transport& transport = network_.transport();
  const uint64_t delay = transport.UnawareDelay(stream.rank, key.destination, key.size) * core_.ticks_per_ns;
  network_.SendMirrored(mirrored, delay, order);
}

void Algorithms::Receive(const Stream& stream, uint32_t index, uint32_t from, uint64_t size) {
  network_.Receive({.size = size, .tag = stream.tag, .source = from, .destination = stream.rank},
                   {CallbackKind::kStream, index, 0});
}

}  // namespace hespas::simulate
