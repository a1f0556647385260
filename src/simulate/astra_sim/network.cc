#include "simulate/astra_sim/network.h"

#include <fmt/format.h>

#include <algorithm>

namespace hespas::simulate {
namespace {

constexpr uint64_t kControlSize = 8192;
constexpr uint32_t kControlTag = 1'000'000'000;

MatchKey ControlOf(const MatchKey& key) {
  return {.size = kControlSize, .tag = key.tag + kControlTag, .source = key.destination, .destination = key.source};
}

// Enough for the chunks of a collective that are under way together; a power of two.
uint32_t ChannelSlots(const Core& core) {
  const int64_t chunks = std::max<int64_t>(1, core.system.dataset_splits) * core.options.communication_streams;
  return chunks >= 3 ? 4u : static_cast<uint32_t>(chunks);
}

}  // namespace

Network::Network(Core& core, CallbackRunner& runner)
    : core_(core),
      runner_(runner),
      transport_(core),
      matcher_(core.simulated),
      channels_(matcher_, core.simulated, ChannelSlots(core)),
      stepwise_(core.options.backend == Backend::kUnaware && !core.options.rendezvous && !core.orders) {}

void Network::SendNow(const MatchKey& key, Callback sent) {
  if (key.size == 0) {
    core_.Fail(kNotPossible, fmt::format("NPU {} sends a message of 0 bytes to NPU {}", key.source, key.destination),
               "the collective is cut into parts smaller than a byte; use larger sizes or fewer chunks");
    return;
  }
  if (key.source == key.destination) {
    core_.Fail(kNotPossible, fmt::format("NPU {} sends a message to itself", key.source),
               "check the ranks of sends and the order of group members");
    return;
  }
  if (core_.orders) return SendToPeer(key, sent);
  transport_.Start(transport_.messages.Take({.key = key, .sent = sent}));
}

// One for many: the message ends at the first rank of its class, and begins where that one expects it from.
void Network::SendToPeer(const MatchKey& key, Callback sent) {
  const Peering& peering = core_.classes->sends.at({key.source, key.destination});
  const uint64_t delay = transport_.UnawareDelay(key.source, key.destination, key.size) * core_.ticks_per_ns;
  if (delay == 0) core_.asymmetric = "messages take no time";
  MatchKey mirrored = key;
  mirrored.source = peering.origin;
  mirrored.destination = peering.target;
  transport_.StartMirrored({.key = mirrored, .sent = sent, .link = peering.link}, delay, core_.queue.track().order);
}

void Network::ReceiveNow(const MatchKey& key, Callback received) {
  if (key.size == 0) {
    core_.Fail(kNotPossible,
               fmt::format("NPU {} waits for a message of 0 bytes from NPU {}", key.destination, key.source));
    return;
  }
  if (core_.orders) core_.NoteTouch(key.destination, Core::kPost, Core::kArrival);
  if (matcher_.Receive(key, received)) PushCallback(received);
}

void Network::Arrive(uint32_t message) {
  if (!transport_.Arrive(message)) return;
  const MatchKey key = transport_.messages[message].key;
  const Callback sent = transport_.messages[message].sent;
  const uint32_t link = transport_.messages[message].link;
  transport_.messages.Release(message);
  Callback received;
  const bool here = core_.carrier == nullptr || core_.carrier->IsLocal(key.destination);
  const bool posted = here && matcher_.Arrive(key, received);
  if (sent.kind != CallbackKind::kNone) runner_.Run(sent);
  if (link != kNil) core_.queue.SetOrder(core_.orders->Cross(core_.queue.track().order, link));
  if (core_.orders) core_.NoteTouch(key.destination, Core::kArrival, Core::kPost);
  if (posted) runner_.Run(received);
}

void Network::Deliver(const MatchKey& key) {
  Callback received;
  if (matcher_.Arrive(key, received)) runner_.Run(received);
}

// Sizes pass through a 32-bit integer there (spec astra-sim section 5.7).
void Network::RequestClearance(const MatchKey& key, Callback sent) {
  const uint32_t transfer = transfers_.Take({key, sent});
  transfers_[transfer].key.size = static_cast<uint32_t>(key.size);
  ReceiveNow(ControlOf(key), {CallbackKind::kRendezvousSend, transfer, 0});
}

void Network::GrantClearance(const MatchKey& key, Callback received) {
  const uint32_t transfer = transfers_.Take({key, received});
  transfers_[transfer].key.size = static_cast<uint32_t>(key.size);
  SendNow(ControlOf(key), {CallbackKind::kRendezvousReceive, transfer, 0});
}

void Network::ClearanceCame(uint32_t transfer) {
  const Transfer cleared = transfers_[transfer];
  transfers_.Release(transfer);
  SendNow(cleared.key, cleared.done);
}

void Network::ClearanceGone(uint32_t transfer) {
  const Transfer cleared = transfers_[transfer];
  transfers_.Release(transfer);
  ReceiveNow(cleared.key, cleared.done);
}

Callback Network::Served(Callback callback) const {
  if (callback.kind == CallbackKind::kRendezvousSend) return transfers_[callback.owner].done;
  return callback;
}

}  // namespace hespas::simulate
