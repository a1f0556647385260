// What fusion asks about the device, as questions that can be asked again of another one.
//
// - A device that gives every recorded question the recorded answer, with the same target and capability, gets exactly
//   the same program: nothing else about it enters the passes.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "optimise/optimise.h"

namespace hespas::optimise {

enum class QuestionKind : uint8_t {
  kDuplicate,         // does it take less time: FusionBenefit
  kHigherPriority,    // {1 where more is asked than as much, count of the first facts}, facts of two values:
                      // FusionBenefit
  kProducerConsumer,  // what a value's producer, a consumer and both together take: FusesProducerConsumer
  kSameRates,         // RatesOf, to be met exactly: an order was planned with them
  kFits,              // {bytes of temporaries, bytes held throughout}
};

struct Question {
  QuestionKind kind;
  std::vector<double> facts;
  auto operator<=>(const Question&) const = default;
};

// XLA's fusion benefit (run-time delta): seconds saved where each consumer of a value computes it. Facts: operations,
// bytes written and thread blocks of the value's own kernel, number of values that it reads, bytes and total of each;
// then of each consumer: how often it counts, operations, bytes written, thread blocks, how often it asks for the
// value, thread blocks with the value inside, number of values that it reads, bytes and total of each, the same of
// those that it reads with the value inside.
double FusionBenefit(std::span<const double> facts, const GpuFigures& gpu);

// Of memory and arithmetic.
std::vector<double> RatesOf(const GpuFigures& gpu);

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
