// The network as the layers above see it: sends and receives that pair up, and the rendezvous protocol.
#pragma once

#include <cstdint>

#include "simulate/astra_sim/message_channels.h"
#include "simulate/astra_sim/transport.h"
#include "simulate/engine/core.h"
#include "simulate/engine/matcher.h"

namespace hespas::simulate {

class Network {
 public:
  Network(Core& core, CallbackRunner& runner);

  // One for many: the message, as the first rank of the receiver's class gets it.
  void SendMirrored(const MatchKey& key, uint64_t delay, uint32_t order) {
    // A message without delay could arrive before its receive is posted at some ranks and after at others.
    if (delay == 0) core_.asymmetric = "messages take no time";
    transport_.StartMirrored({.key = key, .sent = {}}, delay, order);
  }

  // `sent` runs when the message arrives.
  void Send(const MatchKey& key, Callback sent) {
    if (core_.options.rendezvous) {
      RequestClearance(key, sent);
    } else {
      SendNow(key, sent);
    }
  }
  // `received` runs once the message has arrived.
  void Receive(const MatchKey& key, Callback received) {
    if (core_.options.rendezvous) {
      GrantClearance(key, received);
    } else {
      ReceiveNow(key, received);
    }
  }

  // Whether phases of ring and direct may exchange their messages by Step and ReceiveStep.
  bool stepwise() const { return stepwise_; }
  MessageChannels& channels() { return channels_; }
  // A message `steps` on in the sender's ring.
  void Step(const MatchKey& key, uint32_t steps, uint64_t delay) {
    transport_.CountStep(key);
    core_.queue.Push(core_.queue.now() + delay, {.kind = EventKind::kStep,
                                                 .a = key.source,
                                                 .b = key.destination,
                                                 .tag = key.tag,
                                                 .size = key.size,
                                                 .steps = steps});
  }
  void ReceiveStep(const MatchKey& key, uint32_t steps, uint32_t stream) {
    const MessageChannels::Match match = channels_.Receive(key.destination, key.tag, stream, steps);
    const Callback received{CallbackKind::kStream, stream, 0};
    if (match == MessageChannels::Match::kNotOpen) return ReceiveNow(key, received);
    if (match == MessageChannels::Match::kPaired) PushCallback(received);
  }
  void ArriveStep(const Event& event) {
    const MatchKey key{.size = event.size, .tag = event.tag, .source = event.a, .destination = event.b};
    uint32_t stream = 0;
    const MessageChannels::Match match = channels_.Arrive(key, event.steps, stream);
    if (match == MessageChannels::Match::kPaired) return runner_.Received(stream);
    if (match == MessageChannels::Match::kNotOpen) Deliver(key);
  }

  // Handlers of kArrive and kLinkFree events and of rendezvous callbacks.
  void Arrive(uint32_t message);
  // A message from a rank that runs elsewhere is here.
  void Deliver(const MatchKey& key);
  void LinkFree(uint32_t link) { transport_.LinkFree(link); }
  void ClearanceCame(uint32_t transfer);
  void ClearanceGone(uint32_t transfer);

  const Transport& transport() const { return transport_; }
  // Calls see(key, callback) for each receive that still waits.
  template <class See>
  void EachWaiting(See see) const {
    matcher_.EachWaiting(see);
    channels_.EachWaiting(see);
  }
  const Matcher& matcher() const { return matcher_; }
  // Whom the callback of a waiting receive serves, through a rendezvous too.
  Callback Served(Callback callback) const;

 private:
  struct Transfer {
    MatchKey key;
    Callback done;
  };

  void PushCallback(const Callback& callback) {
    core_.queue.Push(
        core_.queue.now(),
        {.kind = EventKind::kCallback, .callback = callback.kind, .a = callback.owner, .b = callback.index});
  }
  void SendNow(const MatchKey& key, Callback sent);
  void SendToPeer(const MatchKey& key, Callback sent);
  void ReceiveNow(const MatchKey& key, Callback received);
  void RequestClearance(const MatchKey& key, Callback sent);
  void GrantClearance(const MatchKey& key, Callback received);

  Core& core_;
  CallbackRunner& runner_;
  Transport transport_;
  Matcher matcher_;
  MessageChannels channels_;
  bool stepwise_;
  Pool<Transfer> transfers_;
};

}  // namespace hespas::simulate
