// ASTRA-sim's shared bus (`model-shared-bus`): two levels of LogGP buses between an NPU and its network interface that
// take the place of the endpoint delay (spec astra-sim section 7.3; Alexandrov et al. 1995, LogGP).
//
// - Outer bus: NPU <-> interface. Inner bus: NPU <-> memory, with a fixed gap per byte; it is crossed before a request
//   leaves the NPU, before and after processing, and when a transfer ends in the NPU.
// - A side yields to its partner after a burst of transfers.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "simulate/engine/core.h"

namespace hespas::simulate {

class SharedBuses;

// What runs when a bundle has passed the bus.
class BundleEnds {
 public:
  virtual ~BundleEnds() = default;
  virtual void BundleEnd(uint32_t stream, uint64_t reduction) = 0;
};

struct Bundle {
  uint32_t stream = 0;
  uint64_t size = 0;
  uint64_t reduction = 0;    // ticks after the bus, or kNoReduction
  bool to_interface = true;  // from the NPU to the interface, else the other way
  bool processed = false;
  bool sent_back = false;
};

class SharedBuses {
 public:
  SharedBuses(Core& core, BundleEnds& ends);

  void Request(uint32_t rank, const Bundle& bundle);
  // Handles kBus actions.
  void Run(uint32_t side, uint32_t event) { Handle(side, static_cast<BusEvent>(event)); }

 private:
  enum class BusEvent : uint32_t { kSent, kReceived, kProcessed };
  enum class State : uint8_t { kFree, kSending, kReceiving };
  enum class After : uint8_t { kBundleEnd, kSend, kProcess, kRetire };  // once a request is through

  struct Transfer {
    uint64_t size = 0;
    bool processed = false;
    bool sent_back = false;
    After after = After::kBundleEnd;
    uint32_t side = 0;   // kSend, kProcess, kRetire: of the outer bus
    uint32_t outer = 0;  // the outer request
    Bundle bundle;       // kBundleEnd
  };
  struct Side {
    uint64_t last = 0;  // end of its last transfer
    State state = State::kFree;
    State before = State::kFree;
    uint32_t burst = 0;
    bool processing_busy = false;
    std::deque<uint32_t> sends;
    std::deque<uint32_t> receives;
    std::deque<uint32_t> processing;
  };

  // Sides of a rank: 0 NPU, 1 interface, 2 NPU towards memory, 3 memory.
  static uint32_t Partner(uint32_t side) { return side ^ 1u; }
  static bool HasMemory(uint32_t side) { return side % 4 == 0; }
  uint32_t RankOf(uint32_t side) const { return side / 4; }

  void Handle(uint32_t side, BusEvent event);
  void Enter(uint32_t side, uint32_t request);
  void ThroughMemory(uint32_t side, uint32_t request, bool round_trip, After after);
  void Finish(uint32_t request);
  void Arbitrate(uint32_t side);
  void StartNext(uint32_t side);
  void Received(uint32_t side);
  void Processed(uint32_t side);
  void Retire(uint32_t side, uint32_t request);
  void StartProcessing(uint32_t side);
  void Schedule(uint32_t side, uint64_t offset, double transfer, uint64_t extra, BusEvent event);

  Core& core_;
  BundleEnds& ends_;
  std::vector<Side> sides_;
  Pool<Transfer> requests_;
};

}  // namespace hespas::simulate
