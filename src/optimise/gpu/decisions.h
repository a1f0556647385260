// What fusion asks about the device, as questions that another device may answer differently.
//
// - A device that gives every recorded question the recorded answer, with the same target and capability, gets exactly
//   the same program: nothing else about it enters the passes.
#pragma once

#include <compare>
#include <map>
#include <variant>
#include <vector>

#include "optimise/optimise.h"

namespace hespas::optimise {

// A value that a kernel reads: bytes it has, bytes read of it, and the share of the memory's bandwidth that this gets.
struct ReadTraffic {
  double size = 0;
  double total = 0;
  double rate = 1;
  auto operator<=>(const ReadTraffic&) const = default;
};

struct KernelWork {
  double operations = 0;  // clocks of one lane
  double written = 0;     // bytes
  double blocks = 0;      // thread blocks
  std::vector<ReadTraffic> reads;
  std::partial_ordering operator<=>(const KernelWork&) const = default;
};

// A kernel that reads a value, and what changes where it computes the value itself.
struct ConsumerWork {
  KernelWork before;
  double calls = 1;         // how often it counts
  double times = 0;         // how often it asks for the whole value
  double blocks_fused = 0;  // thread blocks with the value inside
  std::vector<ReadTraffic> reads_fused;
  std::partial_ordering operator<=>(const ConsumerWork&) const = default;
};

// XLA's priority fusion: does it take less time to compute a value in each of its consumers.
struct DuplicationQuestion {
  KernelWork producer;
  std::vector<ConsumerWork> consumers;
  std::partial_ordering operator<=>(const DuplicationQuestion&) const = default;
};

// Which of two values has the higher benefit; at a tie the first, unless more is asked for.
struct PriorityQuestion {
  bool strictly = false;
  DuplicationQuestion first;
  DuplicationQuestion second;
  std::partial_ordering operator<=>(const PriorityQuestion&) const = default;
};

// XLA's multi-output fusion: is one kernel faster than the producer of a value and its consumer.
struct MultiOutputQuestion {
  KernelWork producer;
  ConsumerWork consumer;
  std::partial_ordering operator<=>(const MultiOutputQuestion&) const = default;
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

using Question = std::variant<DuplicationQuestion, PriorityQuestion, MultiOutputQuestion, RatesQuestion, MemoryQuestion,
                              CapacityQuestion>;

// XLA's fusion benefit (run-time delta): seconds saved where each consumer of a value computes it.
double FusionBenefit(const DuplicationQuestion& question, const GpuFigures& gpu);

RatesQuestion RatesOf(const GpuFigures& gpu);

bool Answer(const Question& question, const GpuFigures& gpu);

// XLA's GetSchedulerMemoryLimit: bytes, 95 % of what four fifths of the device's memory leave beside what is held
// throughout.
double RoomForTemporaries(const GpuFigures& gpu, double held_throughout);

class Decisions {
 public:
  bool Ask(Question question, const GpuFigures& gpu);
  // Whether a device with these figures answers all alike.
  bool HoldFor(const GpuFigures& gpu) const;
  size_t size() const { return answers_.size(); }

 private:
  std::map<Question, bool> answers_;
};

}  // namespace hespas::optimise
