#include "optimise/decisions.h"

#include <algorithm>
#include <span>

#include "optimise/kernel_time.h"

namespace hespas::optimise {
namespace {

constexpr double kLaunch = 1e-6;  // seconds, as XLA counts (kKernelLaunchOverhead)

// The question of XLA's priority fusion: is the time of all readers with the node inside at most the time of its own
// kernel and of the readers without it. Facts: bytes, growth, operations, constants, own thread blocks, number of
// sources; bytes and total of each; thread blocks and calls of each reader.
bool RepeatsOnGpu(std::span<const double> facts, const GpuFigures& gpu) {
  constexpr size_t kHead = 6;
  const double bytes = facts[0];
  const double growth = facts[1];
  const double operations = facts[2];
  const auto sources = facts.subspan(kHead, 2 * static_cast<size_t>(facts[5]));
  const auto readers = facts.subspan(kHead + sources.size());
  // Seconds to read what computing the node reads, `times` over.
  const auto read = [&](double times, double blocks) {
    double sum = ReadTime(gpu, 4, times * facts[3], blocks);
    for (size_t i = 0; i < sources.size(); i += 2) sum += ReadTime(gpu, sources[i], times * sources[i + 1], blocks);
    return sum;
  };
  const double write = bytes / gpu.bytes_per_second;
  double apart = kLaunch + KernelTime(gpu, read(1, facts[4]) + write, operations);
  double together = 0;
  for (size_t i = 0; i < readers.size(); i += 2) {
    const double blocks = readers[i];
    apart += ReadTime(gpu, bytes, growth * bytes, blocks);
    together += KernelTime(gpu, read(growth, blocks), growth * operations) * readers[i + 1];
  }
  return together <= apart;
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
  const auto time = [&](std::span<const double> reads, double written, double operations, double blocks) {
    double memory = written / gpu.bytes_per_second;
    for (size_t i = 0; i + 1 < reads.size(); i += 2) memory += ReadTime(gpu, reads[i], reads[i + 1], blocks);
    return KernelTime(gpu, memory, operations, blocks);
  };
  const double apart = kLaunch + time(made, facts[1], facts[0], facts[2]) + time(read, facts[4], facts[3], facts[5]);
  return time(both, facts[1] + facts[4], facts[6] * facts[0] + facts[3], facts[7]) <= apart;
}

}  // namespace

bool Answer(const Question& question, const GpuFigures& gpu, const graph::CostFunction& cost) {
  const std::vector<double>& facts = question.facts;
  const auto time = [&](double bytes, double instructions) {
    return static_cast<double>(cost.KernelTime({.bytes = bytes, .instructions = instructions}).value);
  };
  switch (question.kind) {
    case QuestionKind::kRepeatOnGpu:
      return RepeatsOnGpu(facts, gpu);
    case QuestionKind::kRepeat: {
      const double launch = time(0, 0);
      const double stored = time(facts[0] + facts[1], facts[2]);
      const double readers = facts[4];
      return readers * (time(facts[0], facts[2] * facts[3]) - launch) <=
             stored + readers * (time(facts[1], 0) - launch);
    }
    case QuestionKind::kAddedTime: {
      double added = 0;
      for (size_t i = 3; i < facts.size(); i += 3) {
        added += time(facts[i], facts[i + 2]) - time(facts[i], facts[i + 1]);
      }
      return added <= time(facts[0] + facts[1], facts[2]);
    }
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

bool Decisions::Ask(Question question, const GpuFigures& gpu, const graph::CostFunction& cost) {
  const bool answer = Answer(question, gpu, cost);
  answers_.emplace(std::move(question), answer);
  return answer;
}

bool Decisions::HoldFor(const GpuFigures& gpu, const graph::CostFunction& cost) const {
  return std::all_of(answers_.begin(), answers_.end(),
                     [&](const auto& entry) { return Answer(entry.first, gpu, cost) == entry.second; });
}

}  // namespace hespas::optimise
