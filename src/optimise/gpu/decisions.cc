#include "optimise/gpu/decisions.h"

#include <algorithm>
#include <span>

#include "optimise/gpu/kernel_time.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

double TicksOf(const GpuFigures& gpu, std::span<const ReadTraffic> reads, const KernelWork& work) {
  double memory = WholeTicks(work.written * kTicksPerSecond / gpu.bytes_per_second);
  for (const ReadTraffic& read : reads) memory += ReadTicks(gpu, read.size, read.total, work.blocks, read.rate);
  return KernelTicks(gpu, memory, work.operations, work.blocks);
}

// The reads of one kernel after the other.
class Reads {
 public:
  explicit Reads(const FusionWork& work) : rest_(work.reads) {}

  std::span<const ReadTraffic> Next(size_t count) {
    const auto next = rest_.first(count);
    rest_ = rest_.subspan(count);
    return next;
  }

 private:
  std::span<const ReadTraffic> rest_;
};

struct Answerer {
  const GpuFigures& gpu;

  bool operator()(const RatesQuestion& question) const { return question == RatesOf(gpu); }
  bool operator()(const MemoryQuestion& question) const {
    return question.temporary_bytes <= RoomForTemporaries(gpu, question.held_bytes);
  }
  bool operator()(const CapacityQuestion& question) const { return question.peak_bytes <= gpu.memory_bytes; }
};

bool Leads(double first, double second, bool strictly) { return strictly ? first > second : first >= second; }

template <class T>
std::string_view BytesOf(std::span<const T> items) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(double) == 0, "no bytes without a meaning");
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

Hash128 HashOf(const FusionWork& work) {
  const Hash128 producer = HashBytes(BytesOf(std::span(&work.producer, 1)));
  const Hash128 consumers = HashBytes(BytesOf(std::span<const ConsumerWork>(work.consumers)));
  return Combine(Combine(producer, consumers), HashBytes(BytesOf(std::span<const ReadTraffic>(work.reads))));
}

}  // namespace

double FusionBenefit(const FusionWork& work, const GpuFigures& gpu) {
  const KernelWork& producer = work.producer;
  Reads reads(work);
  const auto reads_of_producer = reads.Next(producer.reads);
  double benefit = gpu_rules::kLaunch * kTicksPerSecond + TicksOf(gpu, reads_of_producer, producer);
  for (const ConsumerWork& consumer : work.consumers) {
    const KernelWork& before = consumer.before;
    const double more = producer.operations * consumer.times;
    benefit += TicksOf(gpu, reads.Next(before.reads), before);
    benefit -= TicksOf(gpu, reads.Next(consumer.reads_fused),
                       {before.operations + more, before.written, consumer.blocks_fused});
    if (consumer.calls == 1) continue;
    benefit -= (consumer.calls - 1) * TicksOf(gpu, reads_of_producer, {producer.operations, 0, consumer.blocks_fused});
  }
  return benefit / kTicksPerSecond;
}

bool PaysToJoin(const FusionWork& work, const GpuFigures& gpu) {
  const KernelWork& producer = work.producer;
  const ConsumerWork& consumer = work.consumers.front();
  Reads reads(work);
  const double made = TicksOf(gpu, reads.Next(producer.reads), producer);
  const double apart =
      gpu_rules::kLaunch * kTicksPerSecond + made + TicksOf(gpu, reads.Next(consumer.before.reads), consumer.before);
  const KernelWork fused{consumer.times * producer.operations + consumer.before.operations,
                         producer.written + consumer.before.written, consumer.blocks_fused};
  return TicksOf(gpu, reads.Next(consumer.reads_fused), fused) <= apart;
}

RatesQuestion RatesOf(const GpuFigures& gpu) {
  return {gpu.bytes_per_second, gpu.sm_count, gpu.lanes_per_sm, gpu.clock_hz, gpu.all_reduce, gpu.gather};
}

bool Answer(const DeviceQuestion& question, const GpuFigures& gpu) { return std::visit(Answerer{gpu}, question); }

double RoomForTemporaries(const GpuFigures& gpu, double held_throughout) {
  return gpu_rules::kSchedulerSlop * std::max(gpu_rules::kSchedulerMemory * gpu.memory_bytes - held_throughout, 0.0);
}

bool Decisions::Ask(const DeviceQuestion& question, const GpuFigures& gpu) {
  const bool answer = Answer(question, gpu);
  answers_.emplace(question, answer);
  return answer;
}

bool Decisions::AskToJoin(const FusionWork& work, const GpuFigures& gpu) {
  return joined_.emplace_back(work, PaysToJoin(work, gpu)).second;
}

uint32_t Decisions::Note(const FusionWork& work, double benefit) {
  const auto [known, is_new] = numbers_.emplace(HashOf(work), static_cast<uint32_t>(benefits_.size()));
  if (is_new) benefits_.push_back({work, benefit});
  return known->second;
}

// What costs least to answer comes first: where the rates must be met exactly, most other devices end there.
bool Decisions::HoldFor(const GpuFigures& gpu) const {
  for (const auto& [question, answer] : answers_) {
    if (Answer(question, gpu) != answer) return false;
  }
  for (const auto& [work, answer] : joined_) {
    if (PaysToJoin(work, gpu) != answer) return false;
  }
  std::vector<double> seconds;
  seconds.reserve(benefits_.size());
  for (const Benefit& known : benefits_) {
    seconds.push_back(FusionBenefit(known.work, gpu));
    if ((seconds.back() >= 0) != (known.seconds >= 0)) return false;
  }
  return std::all_of(orders_.begin(), orders_.end(), [&](const auto& order) {
    const auto& [first, second, strictly] = order;
    return Leads(seconds[first], seconds[second], strictly) ==
           Leads(benefits_[first].seconds, benefits_[second].seconds, strictly);
  });
}

}  // namespace hespas::optimise
