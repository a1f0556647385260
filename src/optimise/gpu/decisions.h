// What fusion asks about the device, as questions that another device may answer differently.
//
// - A device that gives every recorded question the recorded answer, with the same target and capability, gets exactly
//   the same program: nothing else about it enters the passes.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/hash.h"
#include "optimise/optimise.h"

namespace hespas::optimise {

// A value that a kernel reads: bytes it has, bytes read of it, and the share of the memory's bandwidth that this gets.
struct ReadTraffic {
  double size = 0;
  double total = 0;
  double rate = 1;
};

struct KernelWork {
  double operations = 0;  // clocks of one lane
  double written = 0;     // bytes
  double blocks = 0;      // thread blocks
  uint64_t reads = 0;     // how many of the list are its own
};

// A kernel that reads a value, and what changes where it computes the value itself.
struct ConsumerWork {
  KernelWork before;
  double calls = 1;         // how often it counts
  double times = 0;         // how often it asks for the whole value
  double blocks_fused = 0;  // thread blocks with the value inside
  uint64_t reads_fused = 0;
};

// The kernel of a value and those that read it. One list holds all reads, so that a question can be put together
// thousands of times without memory for each kernel: the producer's, then for each consumer those before and those
// with the value inside.
struct FusionWork {
  KernelWork producer;
  std::vector<ConsumerWork> consumers;
  std::vector<ReadTraffic> reads;
};

// Rates of memory, arithmetic and links, to be met exactly: an order was planned with them.
struct RatesQuestion {
  double bytes_per_second = 0;
  double sm_count = 0;
  double lanes_per_sm = 0;
  double clock_hz = 0;
  CollectiveFigures all_reduce;
  CollectiveFigures gather;
  auto operator<=>(const RatesQuestion&) const = default;
};

// Whether temporaries fit beside what is held throughout.
struct MemoryQuestion {
  double temporary_bytes = 0;
  double held_bytes = 0;
  auto operator<=>(const MemoryQuestion&) const = default;
};

// Whether the whole program fits into the device's memory.
struct CapacityQuestion {
  double peak_bytes = 0;
  auto operator<=>(const CapacityQuestion&) const = default;
};

using DeviceQuestion = std::variant<RatesQuestion, MemoryQuestion, CapacityQuestion>;

// XLA's fusion benefit (run-time delta): seconds saved where each consumer of a value computes it.
double FusionBenefit(const FusionWork& work, const GpuFigures& gpu);

// XLA's multi-output fusion: is one kernel at least as fast as the producer of a value and its only consumer.
bool PaysToJoin(const FusionWork& work, const GpuFigures& gpu);

RatesQuestion RatesOf(const GpuFigures& gpu);

bool Answer(const DeviceQuestion& question, const GpuFigures& gpu);

// XLA's GetSchedulerMemoryLimit: bytes, 95 % of what four fifths of the device's memory leave beside what is held
// throughout.
double RoomForTemporaries(const GpuFigures& gpu, double held_throughout);

// What was asked about one device.
class Decisions {
 public:
  bool Ask(const DeviceQuestion& question, const GpuFigures& gpu);
  bool AskToJoin(const FusionWork& work, const GpuFigures& gpu);

  // Notes that fusing was worth `benefit` seconds; equal works have one number.
  uint32_t Note(const FusionWork& work, double benefit);
  // Notes that of two works the first was done first; at a tie it was, unless a strictly higher benefit is asked for.
  void NoteOrder(uint32_t first, uint32_t second, bool strictly) { orders_.emplace(first, second, strictly); }

  // Whether a device with these figures answers all alike.
  bool HoldFor(const GpuFigures& gpu) const;
  size_t size() const { return answers_.size() + joined_.size() + benefits_.size() + orders_.size(); }

 private:
  struct Benefit {
    FusionWork work;
    double seconds = 0;
  };

  std::map<DeviceQuestion, bool> answers_;
  std::vector<std::pair<FusionWork, bool>> joined_;
  std::vector<Benefit> benefits_;
  std::unordered_map<Hash128, uint32_t> numbers_;          // of benefits_, by work
  std::set<std::tuple<uint32_t, uint32_t, bool>> orders_;  // two of benefits_, strictly
};

}  // namespace hespas::optimise
