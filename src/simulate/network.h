// The network as the layers above see it: sends and receives that pair up, and the rendezvous protocol.
#pragma once

#include <cstdint>

#include "simulate/core.h"
#include "simulate/matcher.h"
#include "simulate/transport.h"

namespace hespas::simulate {

class Network {
 public:
  Network(Core& core, CallbackRunner& runner) : core_(core), runner_(runner), transport_(core) {}

  // One for all: the message, as rank 0 gets it from the rank in the opposite direction.
  void SendMirrored(const MatchKey& key, uint64_t delay, uint32_t order) {
    transport_.StartMirrored(key, delay, order);
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

  // Handlers of kArrive and kLinkFree events and of rendezvous callbacks.
  void Arrive(uint32_t message);
  // A message from a rank that runs elsewhere is here.
  void Deliver(const MatchKey& key);
  void LinkFree(uint32_t link) { transport_.LinkFree(link); }
  void ClearanceCame(uint32_t transfer);
  void ClearanceGone(uint32_t transfer);

  const Transport& transport() const { return transport_; }
  const Matcher& matcher() const { return matcher_; }
  // Whom the callback of a waiting receive serves, through a rendezvous too.
  Callback Served(Callback callback) const;

 private:
  struct Transfer {
    MatchKey key;
    Callback done;
  };

  void SendNow(const MatchKey& key, Callback sent);
  void ReceiveNow(const MatchKey& key, Callback received);
  void RequestClearance(const MatchKey& key, Callback sent);
  void GrantClearance(const MatchKey& key, Callback received);

  Core& core_;
  CallbackRunner& runner_;
  Transport transport_;
  Matcher matcher_;
  Pool<Transfer> transfers_;
};

}  // namespace hespas::simulate
