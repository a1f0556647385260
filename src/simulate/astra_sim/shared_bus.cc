#include "simulate/astra_sim/shared_bus.h"

#include <algorithm>

namespace hespas::simulate {
namespace {

constexpr double kMemoryGapPerByte = 0.0038;  // ns
constexpr uint32_t kBurst = 8;
constexpr uint64_t kProcessingBase = 50;  // ns

}  // namespace

SharedBuses::SharedBuses(Core& core, BundleEnds& ends)
    : core_(core), ends_(ends), sides_(core.system.bus.enabled ? size_t{core.simulated} * 4 : 0) {}

void SharedBuses::Request(uint32_t rank, const Bundle& bundle) {
  const uint32_t request = requests_.Take(
      {.size = bundle.size, .processed = bundle.processed, .sent_back = bundle.sent_back, .bundle = bundle});
  Enter(rank * 4 + (bundle.to_interface ? 0 : 1), request);
}

void SharedBuses::Enter(uint32_t side, uint32_t request) {
  if (HasMemory(side)) return ThroughMemory(side, request, false, After::kSend);
  sides_[side].sends.push_back(request);
  Arbitrate(side);
}

// Sends a request over the inner bus; `round_trip`: and back. Then `after` happens to the outer one.
void SharedBuses::ThroughMemory(uint32_t side, uint32_t request, bool round_trip, After after) {
  const uint32_t inner = requests_.Take({.size = requests_[request].size,
                                         .sent_back = round_trip,
                                         .after = after,
                                         .side = side,
                                         .outer = request,
                                         .bundle = {}});
  sides_[side + 2].sends.push_back(inner);
  Arbitrate(side + 2);
}

void SharedBuses::Finish(uint32_t index) {
  const Transfer request = requests_[index];
  requests_.Release(index);
  switch (request.after) {
    case After::kBundleEnd:
      return ends_.BundleEnd(request.bundle.stream, request.bundle.reduction);
    case After::kSend:
      sides_[request.side].sends.push_back(request.outer);
      break;
    case After::kProcess:
      sides_[request.side].processing.push_back(request.outer);
      StartProcessing(request.side);
      break;
    case After::kRetire:
      Finish(request.outer);
      break;
  }
  Arbitrate(request.side);
}

void SharedBuses::Arbitrate(uint32_t at) {
  const Side& side = sides_[at];
  if (side.state != State::kFree || side.sends.empty()) return;
  const Side& partner = sides_[Partner(at)];
  if (side.burst < kBurst || partner.sends.empty()) return StartNext(at);
  if (partner.state != State::kFree) return;
  if (partner.burst < kBurst) StartNext(Partner(at));
}

void SharedBuses::StartNext(uint32_t at) {
  const hardware::SharedBus& bus = core_.system.bus;
  Side& side = sides_[at];
  const uint64_t overhead = static_cast<uint64_t>(bus.overhead) * core_.ticks_per_ns;
  const uint64_t gap = static_cast<uint64_t>(bus.gap) * core_.ticks_per_ns;
  const uint64_t since = core_.queue.now() - side.last;
  const bool in_gap = side.before == State::kSending && overhead + since <= gap;
  const uint64_t offset = in_gap ? gap - since : overhead;
  const uint32_t request = side.sends.front();
  side.sends.pop_front();
  const double transfer = static_cast<double>(std::max<uint64_t>(requests_[request].size, 1) - 1) *
                          (at % 4 < 2 ? bus.gap_per_byte : kMemoryGapPerByte);
  Side& partner = sides_[Partner(at)];
  partner.receives.push_back(request);
  partner.before = partner.state;
  partner.state = State::kReceiving;
  partner.burst = 0;
  const uint64_t latency = static_cast<uint64_t>(bus.latency) * core_.ticks_per_ns;
  Schedule(Partner(at), offset, transfer, latency + overhead, BusEvent::kReceived);
  side.state = State::kSending;
  Schedule(at, offset, transfer, 0, BusEvent::kSent);
}

void SharedBuses::Schedule(uint32_t side, uint64_t offset, double transfer, uint64_t extra, BusEvent event) {
  const uint64_t delay =
      core_.ticks_per_ns == 1
          ? static_cast<uint64_t>(static_cast<double>(offset) + transfer + static_cast<double>(extra))
          : offset + static_cast<uint64_t>(transfer) * core_.ticks_per_ns + extra;
  core_.agenda.Schedule(RankOf(side), delay, {ActionKind::kBus, side, static_cast<uint32_t>(event)});
}

void SharedBuses::Handle(uint32_t at, BusEvent event) {
  Side& side = sides_[at];
  if (event == BusEvent::kProcessed) {
    Processed(at);
  } else {
    side.last = core_.queue.now();
    side.before = side.state;
    if (event == BusEvent::kSent) {
      side.state = State::kFree;
      ++side.burst;
    } else {
      if (side.receives.size() < 2) side.state = State::kFree;
      Received(at);
    }
  }
  Arbitrate(at);
}

void SharedBuses::Received(uint32_t at) {
  Side& side = sides_[at];
  const uint32_t index = side.receives.front();
  side.receives.pop_front();
  Transfer& request = requests_[index];
  if (request.processed) {
    request.processed = false;
    if (HasMemory(at)) return ThroughMemory(at, index, true, After::kProcess);
    side.processing.push_back(index);
    StartProcessing(at);
  } else if (request.sent_back) {
    request.sent_back = false;
    if (HasMemory(at)) return ThroughMemory(at, index, true, After::kSend);
    side.sends.push_back(index);
  } else {
    Retire(at, index);
  }
}

void SharedBuses::Retire(uint32_t at, uint32_t request) {
  if (HasMemory(at)) return ThroughMemory(at, request, false, After::kRetire);
  Finish(request);
}

void SharedBuses::StartProcessing(uint32_t at) {
  Side& side = sides_[at];
  if (side.processing_busy || side.processing.empty()) return;
  side.processing_busy = true;
  const auto per_unit = static_cast<uint64_t>(std::max<int64_t>(0, core_.system.local_reduction_delay));
  const uint64_t ns = requests_[side.processing.front()].size / 100 * per_unit + kProcessingBase;
  core_.agenda.Schedule(RankOf(at), ns * core_.ticks_per_ns,
                        {ActionKind::kBus, at, static_cast<uint32_t>(BusEvent::kProcessed)});
}

void SharedBuses::Processed(uint32_t at) {
  Side& side = sides_[at];
  const uint32_t index = side.processing.front();
  side.processing.pop_front();
  side.processing_busy = false;
  Transfer& request = requests_[index];
  if (!request.sent_back) {
    Retire(at, index);
  } else {
    request.sent_back = false;
    if (HasMemory(at)) {
      ThroughMemory(at, index, true, After::kSend);
    } else {
      side.sends.push_back(index);
    }
  }
  StartProcessing(at);
}

}  // namespace hespas::simulate
