#include "optimise/gpu/decisions.h"

#include <algorithm>
#include <span>

#include "optimise/gpu/kernel_time.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

struct Load {
  double operations;
  double written;
  double blocks;
};

double TimeOf(const GpuFigures& gpu, std::span<const ReadTraffic> reads, const Load& load) {
  double memory = load.written / gpu.bytes_per_second;
  for (const ReadTraffic& read : reads) memory += ReadTime(gpu, read.size, read.total, load.blocks, read.rate);
  return KernelTime(gpu, memory, load.operations, load.blocks);
}

double TimeOf(const GpuFigures& gpu, const KernelWork& work) {
  return TimeOf(gpu, work.reads, {work.operations, work.written, work.blocks});
}

struct Answerer {
  const GpuFigures& gpu;

  bool operator()(const DuplicationQuestion& question) const { return FusionBenefit(question, gpu) >= 0; }
  bool operator()(const PriorityQuestion& question) const {
    const double lead = FusionBenefit(question.first, gpu) - FusionBenefit(question.second, gpu);
    return question.strictly ? lead > 0 : lead >= 0;
  }
  bool operator()(const MultiOutputQuestion& question) const {
    const KernelWork& producer = question.producer;
    const KernelWork& before = question.consumer.before;
    const double apart = gpu_rules::kLaunch + TimeOf(gpu, producer) + TimeOf(gpu, before);
    const Load load{question.consumer.times * producer.operations + before.operations,
                    producer.written + before.written, question.consumer.blocks_fused};
    return TimeOf(gpu, question.consumer.reads_fused, load) <= apart;
  }
  bool operator()(const RatesQuestion& question) const { return question == RatesOf(gpu); }
  bool operator()(const MemoryQuestion& question) const {
    return question.temporary_bytes <= RoomForTemporaries(gpu, question.held_bytes);
  }
  bool operator()(const CapacityQuestion& question) const { return question.peak_bytes <= gpu.memory_bytes; }
};

}  // namespace

double FusionBenefit(const DuplicationQuestion& question, const GpuFigures& gpu) {
  const KernelWork& producer = question.producer;
  double benefit = gpu_rules::kLaunch + TimeOf(gpu, producer);
  for (const ConsumerWork& consumer : question.consumers) {
    const KernelWork& before = consumer.before;
    const double more = producer.operations * consumer.times;
    benefit += TimeOf(gpu, before);
    benefit -= TimeOf(gpu, consumer.reads_fused, {before.operations + more, before.written, consumer.blocks_fused});
    benefit -= (consumer.calls - 1) * TimeOf(gpu, producer.reads, {producer.operations, 0, consumer.blocks_fused});
  }
  return benefit;
}

RatesQuestion RatesOf(const GpuFigures& gpu) {
  return {gpu.bytes_per_second, gpu.sm_count, gpu.lanes_per_sm, gpu.clock_hz, gpu.all_reduce, gpu.gather};
}

bool Answer(const Question& question, const GpuFigures& gpu) { return std::visit(Answerer{gpu}, question); }

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
