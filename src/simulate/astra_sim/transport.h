// Moves messages between NPUs: spec astra-sim sections 3.2 (congestion-unaware) and 3.3 (congestion-aware).
//
// - Unaware: a message arrives after the latency and serialisation of the lowest dimension in which the ends differ.
// - Aware: directed links with a queue each, store and forward of whole messages, no other limits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simulate/astra_sim/routes.h"
#include "simulate/engine/core.h"
#include "simulate/engine/matcher.h"

namespace hespas::simulate {

struct Message {
  MatchKey key;
  Callback sent;
  uint32_t at = 0;         // aware: the device that holds it
  uint32_t next = kNil;    // aware: in a link's queue
  uint32_t link = kNil;    // rank classes: of a message to a peer (EquivalentRanks::links)
  uint64_t queued_at = 0;  // aware: when it began to wait
};

class Transport {
 public:
  explicit Transport(Core& core);

  // Takes the message on its way; a kArrive event with its index comes when a device is reached.
  void Start(uint32_t message);
  void StartMirrored(const Message& message, uint64_t delay, uint32_t order);
  // A message that finds its way without the transport (Network::Step).
  void CountStep(const MatchKey& key) {
    ++started;
    if (core_.options.record_links) CountUse(key.source, key.destination, key.size);
  }
  // Handles kArrive; true when the message is at its destination.
  bool Arrive(uint32_t message);
  void LinkFree(uint32_t link);

  uint64_t UnawareDelay(uint32_t source, uint32_t destination, uint64_t size) const;
  std::vector<result::LinkUse> Use() const;

  Pool<Message> messages;
  uint64_t started = 0;

 private:
  struct Link {
    uint32_t first = kNil;
    uint32_t last = kNil;
    bool busy = false;
    double bytes_per_ns = 0;
    double latency = 0;
    uint64_t messages = 0;
    uint64_t bytes = 0;
    uint64_t busy_ticks = 0;
    uint64_t queued_ticks = 0;
  };
  struct Hop {
    uint32_t link = 0;
    uint32_t device = 0;
  };

  void BuildLinks();
  std::string LinkName(uint64_t index) const;
  void CountUse(uint32_t source, uint32_t destination, uint64_t size);
  void BuildGraph();
  Hop NextHop(uint32_t device, const MatchKey& key);
  Hop NextHopInDimensions(uint32_t device, const MatchKey& key) const;
  Hop HopInDimension(uint32_t device, uint32_t destination, size_t dimension) const;
  void Forward(uint32_t message);
  void Transmit(uint32_t link, uint32_t message);
  uint32_t Coordinate(uint32_t device, size_t dimension) const {
    return static_cast<uint32_t>(device / strides_[dimension] % core_.system.dimensions[dimension].npus);
  }

  Core& core_;
  std::vector<double> bytes_per_ns_;  // of each dimension
  std::vector<uint64_t> strides_;
  std::vector<uint64_t> first_link_;  // of each dimension
  std::vector<Link> links_;           // aware only
  std::vector<Link> dimension_use_;   // unaware only
  std::optional<Routes> routes_;      // aware, where the system's dimensions do not say the way
};

}  // namespace hespas::simulate
