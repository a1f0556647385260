#include "optimise/gpu/decisions.h"

#include <algorithm>
#include <span>

#include "optimise/gpu/kernel_time.h"

namespace hespas::optimise {
namespace {

constexpr double kLaunch = 1e-6;  // seconds, as XLA counts (kKernelLaunchOverhead)

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

// The question of XLA's multi-output fusion: is one kernel faster than the maker of a value and its reader. Facts:
// operations, bytes written and thread blocks of the maker, then of the reader; how often the reader asks for the
// value; thread blocks of both together; number of values that the maker and the reader read; bytes and total of each,
// then of those that both together read.
bool JoinsOnGpu(std::span<const double> facts, const GpuFigures& gpu) {
  constexpr size_t kHead = 10;
  const auto made = facts.subspan(kHead, 2 * static_cast<size_t>(facts[8]));
  const auto read = facts.subspan(kHead + made.size(), 2 * static_cast<size_t>(facts[9]));
  const auto both = facts.subspan(kHead + made.size() + read.size());
  const double apart =
      kLaunch + TimeOf(gpu, made, {facts[0], facts[1], facts[2]}) + TimeOf(gpu, read, {facts[3], facts[4], facts[5]});
  return TimeOf(gpu, both, {facts[6] * facts[0] + facts[3], facts[1] + facts[4], facts[7]}) <= apart;
}

}  // namespace

double GainOfRepeating(std::span<const double> facts, const GpuFigures& gpu) {
  const auto take = [&](size_t count) {
    const auto taken = facts.first(count);
    facts = facts.subspan(count);
    return taken;
  };
  const auto take_reads = [&] { return take(2 * static_cast<size_t>(take(1)[0])); };
  const auto made = take(3);
  const auto inputs = take_reads();
  double gain = kLaunch + TimeOf(gpu, inputs, {made[0], made[1], made[2]});
  while (!facts.empty()) {
    const auto reader = take(6);
    const auto before = take_reads();
    const auto with = take_reads();
    const double more = made[0] * reader[4];
    gain += TimeOf(gpu, before, {reader[1], reader[2], reader[3]});
    gain -= TimeOf(gpu, with, {reader[1] + more, reader[2], reader[5]});
    gain -= (reader[0] - 1) * TimeOf(gpu, inputs, {made[0], 0, reader[5]});
  }
  return gain;
}

std::vector<double> RatesOf(const GpuFigures& gpu) {
  return {gpu.bytes_per_second, gpu.sm_count, gpu.lanes_per_sm, gpu.clock_hz};
}

bool Answer(const Question& question, const GpuFigures& gpu) {
  const std::vector<double>& facts = question.facts;
  switch (question.kind) {
    case QuestionKind::kRepeatOnGpu:
      return GainOfRepeating(facts, gpu) >= 0;
    case QuestionKind::kBefore: {
      const auto both = std::span(facts).subspan(2);
      const auto count = static_cast<size_t>(facts[1]);
      const double lead = GainOfRepeating(both.first(count), gpu) - GainOfRepeating(both.subspan(count), gpu);
      return facts[0] != 0 ? lead > 0 : lead >= 0;
    }
    case QuestionKind::kSameRates:
      return facts == RatesOf(gpu);
    case QuestionKind::kFits:
      return facts[0] <= RoomForTemporaries(gpu, facts[1]);
    case QuestionKind::kJoin:
      return JoinsOnGpu(facts, gpu);
  }
  return false;
}

double RoomForTemporaries(const GpuFigures& gpu, double held_throughout) {
  return 0.95 * std::max(0.8 * gpu.memory_bytes - held_throughout, 0.0);
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
