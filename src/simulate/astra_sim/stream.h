// Streams: one chunk of a collective on one NPU, going through its phases; each phase runs one algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hardware/system.h"
#include "simulate/astra_sim/topology.h"
#include "simulate/engine/queue/pool.h"

namespace hespas::simulate {

struct GraphRun;  // a custom collective under way (collective_graph.h)

struct Phase {
  hardware::NativeCollective kind = hardware::NativeCollective::kAllReduce;
  hardware::Algorithm algorithm;
  bool clockwise = true;
  uint32_t dimension = 0;
  uint32_t queue = 0;
  uint64_t data = 0;        // bytes at its start
  uint32_t order_ring = 0;  // one for all: its ring in the OrderTrace
  LogicalRing ring;
  TreePlace tree;
};

// Where halving-doubling is in its sequence of message sizes and distances.
struct HalvingCursor {
  uint64_t message = 0;
  uint64_t distance = 1;
  double factor = 2;
};

enum class TreeState : uint8_t { kBegin, kWaitTwo, kWaitOne, kUp, kWaitParent, kDown, kEnd };

// What an algorithm remembers (spec astra-sim section 6; its letters in brackets). What every message touches comes
// first.
struct AlgorithmState {
  hardware::AlgorithmKind algorithm = hardware::AlgorithmKind::kRing;
  hardware::NativeCollective kind = hardware::NativeCollective::kAllReduce;
  bool toggle = false;
  bool stepwise = false;    // messages go by Network::Step
  bool even_delay = false;  // equal for all steps
  bool swallowed = false;   // intermediate tree node: the first of two bundles has come
  TreeState tree_state = TreeState::kBegin;
  uint64_t remaining = 0;           // sends still to do [c]
  uint64_t free = 0;                // bundles done and not yet used by a send
  uint64_t width = 1;               // [w]
  uint64_t unprocessed_budget = 0;  // [z]
  uint64_t processed_budget = 0;    // [y]
  uint64_t processed_refill = 0;    // of processed_budget
  uint64_t inserted = 0;
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t message = 0;         // bytes of a message [m]
  uint64_t endpoint_delay = 0;  // ticks
  uint64_t reduction = 0;       // ticks for `message`
  uint64_t delay = 0;           // stepwise: ticks of a message that goes one step, or any number (even_delay)
  uint32_t to = 0;              // stepwise: the next rank of the ring
  uint32_t from = 0;            // stepwise: the one before
  uint64_t batch_event = 0;     // `direct`: the event in which the present round of sends began
  HalvingCursor insert_cursor;
  HalvingCursor send_cursor;
};

struct alignas(64) Stream {
  uint32_t rank = 0;
  uint32_t tag = 0;
  AlgorithmState state;
  uint32_t collective = 0;  // instance
  uint32_t next_phase = 0;
  int64_t priority = 0;
  std::vector<Phase> phases;
  bool running = false;
  uint32_t queue = kNil;
  uint32_t before = kNil;  // in its queue
  uint32_t after = kNil;
  std::unique_ptr<GraphRun> graph;

  const Phase& phase() const { return phases[next_phase - 1]; }
};

}  // namespace hespas::simulate
