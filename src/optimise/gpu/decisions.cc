#include "optimise/gpu/decisions.h"

#include <algorithm>
#include <span>

#include "optimise/gpu/kernel_time.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

struct Work {
  double operations;
  double written;
  double blocks;
};

double TimeOf(const GpuFigures& gpu, std::span<const double> reads, const Work& work) {
  double memory = work.written / gpu.bytes_per_second;
  for (size_t i = 0; i + 1 < reads.size(); i += 2) memory += ReadTime(gpu, reads[i], reads[i + 1], work.blocks);
  return KernelTime(gpu, memory, work.operations, work.blocks);
}

// The question of XLA's multi-output fusion: is one kernel faster than the producer of a value and its consumer. Facts:
// operations, bytes written and thread blocks of the producer, then of the consumer; how often the consumer asks for
// the value; thread blocks of both together; number of values that the producer and the consumer read; bytes and total
// of each, then of those that both together read.
bool FusesProducerConsumer(std::span<const double> facts, const GpuFigures& gpu) {
  constexpr size_t kHead = 10;
  const auto made = facts.subspan(kHead, 2 * static_cast<size_t>(facts[8]));
  const auto read = facts.subspan(kHead + made.size(), 2 * static_cast<size_t>(facts[9]));
  const auto both = facts.subspan(kHead + made.size() + read.size());
  const double apart = gpu_rules::kLaunch + TimeOf(gpu, made, {facts[0], facts[1], facts[2]}) +
                       TimeOf(gpu, read, {facts[3], facts[4], facts[5]});
  return TimeOf(gpu, both, {facts[6] * facts[0] + facts[3], facts[1] + facts[4], facts[7]}) <= apart;
}

}  // namespace

double FusionBenefit(std::span<const double> facts, const GpuFigures& gpu) {
  const auto take = [&](size_t count) {
    const auto taken = facts.first(count);
    facts = facts.subspan(count);
    return taken;
  };
  const auto take_reads = [&] { return take(2 * static_cast<size_t>(take(1)[0])); };
  const auto made = take(3);
  const auto inputs = take_reads();
  double benefit = gpu_rules::kLaunch + TimeOf(gpu, inputs, {made[0], made[1], made[2]});
  while (!facts.empty()) {
    const auto consumer = take(6);
    const auto before = take_reads();
    const auto with = take_reads();
    const double more = made[0] * consumer[4];
    benefit += TimeOf(gpu, before, {consumer[1], consumer[2], consumer[3]});
    benefit -= TimeOf(gpu, with, {consumer[1] + more, consumer[2], consumer[5]});
    benefit -= (consumer[0] - 1) * TimeOf(gpu, inputs, {made[0], 0, consumer[5]});
  }
  return benefit;
}

std::vector<double> RatesOf(const GpuFigures& gpu) {
  return {gpu.bytes_per_second, gpu.sm_count, gpu.lanes_per_sm, gpu.clock_hz};
}

bool Answer(const Question& question, const GpuFigures& gpu) {
  const std::vector<double>& facts = question.facts;
  switch (question.kind) {
    case QuestionKind::kDuplicate:
      return FusionBenefit(facts, gpu) >= 0;
    case QuestionKind::kHigherPriority: {
      const auto both = std::span(facts).subspan(2);
      const auto count = static_cast<size_t>(facts[1]);
      const double lead = FusionBenefit(both.first(count), gpu) - FusionBenefit(both.subspan(count), gpu);
      return facts[0] != 0 ? lead > 0 : lead >= 0;
    }
    case QuestionKind::kSameRates:
      return facts == RatesOf(gpu);
    case QuestionKind::kFits:
      return facts[0] <= RoomForTemporaries(gpu, facts[1]);
    case QuestionKind::kProducerConsumer:
      return FusesProducerConsumer(facts, gpu);
  }
  return false;
}

double RoomForTemporaries(const GpuFigures& gpu, double held_throughout) {
  return gpu_rules::kSchedulerSlop * std::max(gpu_rules::kSchedulerMemory * gpu.memory_bytes - held_throughout, 0.0);
}

bool Decisions::Ask(Question question, const GpuFigures& gpu) {
  const bool answer = Answer(question, gpu);
  answers_.emplace(std::move(question), answer);
  return answer;
}

bool Decisions::HoldFor(const GpuFigures& gpu) const {
  return std::all_of(answers_.begin(), answers_.end(),
                     [&](const auto& entry) { return Answer(entry.first, gpu) == entry.second; });
}

}  // namespace hespas::optimise
