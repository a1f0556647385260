// The collective algorithms as state machines driven by three events: start, general (a bundle is done) and received
// (spec astra-sim section 6). Each tells the system layer when its phase ends.
#pragma once

#include <cstdint>

#include "simulate/astra_sim/network.h"
#include "simulate/astra_sim/phase_ends.h"
#include "simulate/astra_sim/shared_bus.h"
#include "simulate/astra_sim/stream.h"
#include "simulate/engine/core.h"

namespace hespas::simulate {

class Algorithms : public BundleEnds {
 public:
  Algorithms(Core& core, Network& network, Pool<Stream>& streams, PhaseEnds& ends);

  void Start(uint32_t stream);
  void General(uint32_t stream);
  void Received(uint32_t stream);
  // The endpoint delay is over; `reduction` (ticks) or the general event follows.
  void EndpointDone(uint32_t stream, uint64_t reduction);

  void BundleEnd(uint32_t stream, uint64_t reduction) override { EndpointDone(stream, reduction); }
  SharedBuses& buses() { return buses_; }

  uint64_t ReductionTicks(uint64_t size) const;

 private:
  void StartRing(Stream& stream, uint32_t index);
  void StartHalving(Stream& stream, uint32_t index);
  void InsertRing(Stream& stream, uint32_t index);
  void InsertHalving(Stream& stream, uint32_t index);
  void GeneralRing(Stream& stream, uint32_t index);
  void GeneralHalving(Stream& stream, uint32_t index);
  void SendRing(Stream& stream, uint32_t index);
  void TreeEvent(Stream& stream, uint32_t index, char event);
  void TreeLeaf(Stream& stream, uint32_t index);
  void TreeIntermediate(Stream& stream, uint32_t index, char event);
  void TreeRoot(Stream& stream, uint32_t index);
  // How a bundle passes the endpoint.
  struct Passage {
    bool processed = false;
    bool to_interface = false;
    bool sent_back = false;
  };
  static Passage TakeBudget(AlgorithmState& state);
  static bool InSecondHalf(const Stream& stream);
  void Pass(const Stream& stream, uint32_t index, Passage passage, uint64_t size, uint64_t reduction);
  void BeginMatching(Stream& stream, uint32_t index);
  void EndPhase(const Stream& stream, uint32_t index);
  void Step(const Stream& stream, uint32_t index, uint32_t steps);
  uint64_t StepDelay(const Stream& stream, uint32_t steps, uint32_t to) const;
  void Send(const Stream& stream, uint32_t to, uint64_t size);
  void SendMirrored(const Stream& stream, const MatchKey& key, const MatchKey& mirrored, uint32_t order);
  uint32_t OrderOfRingSend(Stream& stream, uint64_t steps);
  void Receive(const Stream& stream, uint32_t index, uint32_t from, uint64_t size);

  Core& core_;
  Network& network_;
  Pool<Stream>& streams_;
  PhaseEnds& ends_;
  uint64_t endpoint_delay_;        // ticks
  uint64_t group_endpoint_delay_;  // ticks
  double memory_bytes_per_second_;
  SharedBuses buses_;
};

}  // namespace hespas::simulate
