// Streams: one chunk of a collective on one NPU, going through its phases; each phase runs one algorithm.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hardware/system.h"
#include "simulate/pool.h"
#include "simulate/topology.h"

namespace hespas::simulate {

struct GraphRun;  // a custom collective under way (collective_graph.h)

struct Phase {
  hardware::NativeCollective kind = hardware::NativeCollective::kAllReduce;
  hardware::Algorithm algorithm;
  bool clockwise = true;
  uint32_t dimension = 0;
  uint32_t queue = 0;
  uint64_t data = 0;  // bytes at its start
  LogicalRing ring;
  TreePlace tree;
};

// Where halving-doubling stands in its sequence of message sizes and distances.
struct HalvingCursor {
  uint64_t message = 0;
  uint64_t distance = 1;
  double factor = 2;
};

enum class TreeState : uint8_t { kBegin, kWaitTwo, kWaitOne, kUp, kWaitParent, kDown, kEnd };

// What an algorithm remembers (spec astra-sim section 6; its letters in brackets).
struct AlgorithmState {
  uint64_t message = 0;             // bytes of a message [m]
  uint64_t remaining = 0;           // sends still to do [c]
  uint64_t free = 0;                // bundles done and not yet used by a send
  uint64_t width = 1;               // [w]
  uint64_t unprocessed_budget = 0;  // [z]
  uint64_t processed_budget = 0;    // [y]
  uint64_t inserted = 0;
  uint64_t sent = 0;
  uint64_t received = 0;
  uint64_t endpoint_delay = 0;  // ticks
  uint64_t reduction = 0;       // ticks for `message`
  uint64_t batch_event = 0;     // `direct`: the event in which the present round of sends began
  HalvingCursor insert_cursor;
  HalvingCursor send_cursor;
  TreeState tree_state = TreeState::kBegin;
  bool toggle = false;
  bool swallowed = false;  // intermediate tree node: the first of two bundles has come
};

struct Stream {
  uint32_t rank = 0;
  uint32_t collective = 0;  // instance
  uint32_t tag = 0;
  int64_t priority = 0;
  std::vector<Phase> phases;
  uint32_t next_phase = 0;
  bool running = false;
  uint32_t queue = kNil;
  uint32_t before = kNil;  // in its queue
  uint32_t after = kNil;
  AlgorithmState state;
  std::unique_ptr<GraphRun> graph;

  const Phase& phase() const { return phases[next_phase - 1]; }
};

}  // namespace hespas::simulate
