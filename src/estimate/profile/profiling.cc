#include "estimate/profile/profiling.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/interrupt.h"
#include "base/system/scratch_folder.h"
#include "estimate/estimate_all.h"
#include "estimate/profile/program_text.h"
#include "estimate/profile/scaling.h"

namespace hespas::estimate {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostJobs = 4;
constexpr size_t kBlocksPerJob = 4;  // that are compiled before any of them runs

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// One program's blocks being measured.
class Session {
 public:
  Session(BlockProfiler& profiler, const Estimator& fallback, const ProfileOptions& options, const ir::Module& module,
          const BlockBatch& batch)
      : profiler_(profiler), options_(options), module_(module), batch_(batch) {
    for (const BlockRequest& request : batch.requests) {
      Notes& notes = fallback_notes_.emplace_back();
      modelled_.push_back(fallback.EstimateBlock(module, *request.block, notes));
      const graph::Estimate& modelled = modelled_.back();
      blocks_.push_back({.family = FamilyOf(module, *request.block),
                         .traits = {modelled.time.seconds(), static_cast<double>(modelled.flops.value),
                                    static_cast<double>(modelled.bytes.value),
                                    static_cast<double>(ExpandedOpCount(module, *request.block))},
                         .uses = static_cast<double>(request.uses)});
      if (request.known) blocks_.back().measured = request.known->time.seconds();
    }
    failures_.resize(blocks_.size());
  }

  Status Run(Notes& notes) {
    const std::vector<size_t> order = Order();
    if (batch_.progress != nullptr) {
      batch_.progress->Begin("profile", order.size());
      if (options_.budget_s > 0) batch_.progress->EndsWithin(options_.budget_s - SecondsSince(start_));
    }
    const size_t jobs = Jobs();
    for (size_t at = 0; at < order.size() && !Spent();) {
      const size_t end = std::min(order.size(), at + jobs * kBlocksPerJob);
      const std::vector<size_t> wave(order.begin() + static_cast<std::ptrdiff_t>(at),
                                     order.begin() + static_cast<std::ptrdiff_t>(end));
      const std::vector<Compiled> compiled = Compile(wave, jobs);
      for (const Compiled& program : compiled) {
        if (Interrupted()) return InterruptedError();
        if (program.ready && !Spent()) Measure(program);
        if (batch_.progress != nullptr) batch_.progress->Done(++done_);
      }
      at = end;
    }
    FillIn(notes);
    return {};
  }

 private:
  struct Compiled {
    size_t block = 0;
    size_t slot = 0;
    BlockProgram program;
    bool ready = false;
  };

  // Blocks to measure, those first that matter most to the sum.
  std::vector<size_t> Order() const {
    std::vector<size_t> order = ChooseSample(blocks_, static_cast<size_t>(options_.sample));
    std::erase_if(order, [&](size_t i) { return batch_.requests[i].known.has_value(); });
    const auto weight = [&](size_t i) { return blocks_[i].modelled() * blocks_[i].uses; };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weight(a) > weight(b); });
    return order;
  }

  size_t Jobs() const {
    if (options_.jobs > 0) return static_cast<size_t>(options_.jobs);
    return std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostJobs);
  }

  bool Spent() const { return options_.budget_s > 0 && SecondsSince(start_) > options_.budget_s; }

  // Writes and compiles the blocks of a wave, `jobs` at a time.
  std::vector<Compiled> Compile(const std::vector<size_t>& wave, size_t jobs) {
    std::vector<Compiled> programs(wave.size());
    std::atomic<size_t> next{0};
    const auto work = [&](size_t slot) {
      for (size_t i = next++; i < wave.size() && !Spent(); i = next++) {
        programs[i].block = wave[i];
        programs[i].slot = slot;
        const Status compiled = CompileOne(programs[i]);
        programs[i].ready = compiled.ok();
        if (!compiled) failures_[wave[i]] = compiled.error().message;
      }
    };
    std::vector<std::thread> threads;
    for (size_t slot = 1; slot < std::min(jobs, wave.size()); ++slot) threads.emplace_back(work, slot);
    work(0);
    for (std::thread& thread : threads) thread.join();
    return programs;
  }

  Status CompileOne(Compiled& program) {
    const std::string path = (folder_.path() / fmt::format("block_{}.mlir", program.block)).string();
    auto written = WriteBlockProgram(module_, *batch_.requests[program.block].block, path);
    if (!written) return written.error();
    program.program = *std::move(written);
    program.program.partitions = options_.at_once;
    return profiler_.Compile(program.program, program.slot);
  }

  void Measure(const Compiled& program) {
    const auto measured = profiler_.Measure(program.program, program.slot);
    if (!measured) {
      failures_[program.block] = measured.error().message;
      return;
    }
    blocks_[program.block].measured = measured->seconds;
    graph::Estimate estimate = modelled_[program.block];
    estimate.time = Time::Seconds(measured->seconds);
    estimate.sigma = Time::Seconds(measured->sigma_seconds);
    estimate.bound = graph::Bound::kMeasured;
    estimate.terms = {{"measured", estimate.time}};
    estimate.source = profiler_.name();
    batch_.deliver(program.block, std::move(estimate), true);
  }

  // What was not measured.
  void FillIn(Notes& notes) {
    const Scale scale(blocks_);
    size_t scaled = 0, measured = 0;
    ir::OpId first;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      measured += blocks_[i].measured ? 1 : 0;
      if (blocks_[i].measured) continue;
      const std::vector<ir::OpId>& ops = batch_.requests[i].block->ops;
      const ir::OpId op = ops.empty() ? module_.main() : ops.front();
      graph::Estimate estimate = modelled_[i];
      if (failures_[i].empty()) {
        if (scaled++ == 0) first = op;
        estimate.time = Time::Seconds(scale.Seconds(blocks_[i]));
        estimate.sigma = {};
        estimate.terms = {{"scaled", estimate.time}};
      } else {
        notes.push_back({NoteKind::kToolFailed, op, fmt::format("{}: {}", profiler_.name(), failures_[i])});
        notes.insert(notes.end(), fallback_notes_[i].begin(), fallback_notes_[i].end());
      }
      batch_.deliver(i, std::move(estimate), false);
    }
    if (scaled == 0) return;
    const auto error = scale.LeaveOneOutError();
    notes.push_back(
        {NoteKind::kScaled, first,
         fmt::format("{} of {} distinct blocks were measured{}; {} are scaled from them{}", measured, blocks_.size(),
                     Spent() ? " within the budget" : "", scaled,
                     error ? fmt::format(" (leave-one-out error of the measured ones {:.0f} %)", 100 * *error) : "")});
  }

  BlockProfiler& profiler_;
  const ProfileOptions& options_;
  const ir::Module& module_;
  const BlockBatch& batch_;
  Clock::time_point start_ = Clock::now();
  ScratchFolder folder_;
  std::vector<graph::Estimate> modelled_;
  std::vector<Notes> fallback_notes_;
  std::vector<ScaledBlock> blocks_;
  std::vector<std::string> failures_;  // why a block was not measured though it was tried
  size_t done_ = 0;
};

class ProfilingEstimator : public Estimator {
 public:
  ProfilingEstimator(std::unique_ptr<BlockProfiler> profiler, std::unique_ptr<Estimator> fallback,
                     const ProfileOptions& options)
      : profiler_(std::move(profiler)),
        fallback_(std::move(fallback)),
        options_(options),
        key_(HashBytes(profiler_->Fingerprint())) {}

  std::string_view name() const override { return profiler_->name(); }
  Hash128 key() const override { return key_; }

  // Of an op within a block: what the fallback says, as only blocks are measured.
  graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const override {
    return fallback_->EstimateOp(module, op, notes);
  }

  graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const override {
    graph::Estimate result;
    BlockBatch batch{.requests = {{.block = &block}}, .deliver = {}};
    batch.deliver = [&](size_t, graph::Estimate estimate, bool) { result = std::move(estimate); };
    (void)EstimateBlocks(module, batch, notes);
    return result;
  }

  Status EstimateBlocks(const ir::Module& module, const BlockBatch& batch, Notes& notes) const override {
    return Session(*profiler_, *fallback_, options_, module, batch).Run(notes);
  }

 private:
  std::unique_ptr<BlockProfiler> profiler_;
  std::unique_ptr<Estimator> fallback_;
  ProfileOptions options_;
  Hash128 key_;
};

}  // namespace

std::unique_ptr<Estimator> Profiling(std::unique_ptr<BlockProfiler> profiler, std::unique_ptr<Estimator> fallback,
                                     const ProfileOptions& options) {
  return std::make_unique<ProfilingEstimator>(std::move(profiler), std::move(fallback), options);
}

}  // namespace hespas::estimate
