// What fusion asks about the device, as questions that can be asked again of another one.
//
// - A device that gives every recorded question the recorded answer, with the same target and capability, gets exactly
//   the same program: nothing else about it enters the passes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "graph/cost.h"
#include "optimise/optimise.h"

namespace hespas::optimise {

enum class QuestionKind : uint8_t {
  kRepeatOnGpu,  // RepeatQuestion
  kRepeat,       // {reads, bytes, issue, growth, readers}
  kAddedTime,    // {reads, bytes, issue}, then {bytes, others, others + more} of each reader
  kJoin,         // what a value's maker, a reader and both together take: JoinsOnGpu
  kFits,         // {bytes of temporaries, bytes held throughout}
};

struct Question {
  QuestionKind kind;
  std::vector<double> facts;
  auto operator<=>(const Question&) const = default;
};

bool Answer(const Question& question, const GpuFigures& gpu, const graph::CostFunction& cost);

// XLA's GetSchedulerMemoryLimit: bytes, 95 % of what four fifths of the device's memory leave beside what is held
// throughout.
double RoomForTemporaries(const GpuFigures& gpu, double held_throughout);

class Decisions {
 public:
  bool Ask(Question question, const GpuFigures& gpu, const graph::CostFunction& cost);
  // Whether a device with these figures answers all alike.
  bool HoldFor(const GpuFigures& gpu, const graph::CostFunction& cost) const;
  size_t size() const { return answers_.size(); }

 private:
  std::map<Question, bool> answers_;
};

}  // namespace hespas::optimise
