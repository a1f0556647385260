#include "driver/what_if/what_if.h"

#include <optional>
#include <string>
#include <utility>

#include "assemble/assemble.h"
#include "driver/configuration/changes.h"
#include "driver/figures/summarise.h"
#include "driver/stages/cost/flash_attention.h"
#include "driver/stages/cost/overlap.h"
#include "driver/stages/fresh_stages.h"

namespace hespas::driver {
namespace {

enum class From : uint8_t { kDevice, kEstimates, kNetwork };  // the first stage that a change concerns

constexpr std::string_view kSet = "--set ";

From FromOf(Change change) {
  if (change == Change::kFlashAttention) return From::kEstimates;
  return change == Change::kPeak || change == Change::kMemory || change == Change::kLaunch ? From::kDevice
                                                                                           : From::kNetwork;
}

// KEY=VALUE of a question that changes a figure.
std::vector<std::string> ChangesOf(const Question& question) {
  if (!question.options.starts_with(kSet)) return {};
  return {std::string(question.options.substr(kSet.size()))};
}

// What the table's rows share.
struct FinishedRun {
  const RunOptions& options;
  Prepared& prepared;
  const Estimated& estimated;
  const trace::TraceGraph& traces;
  const hardware::System* system;
  std::optional<ReadProgram>& source;  // read when the first row asks for it
};

RunOptions OptionsFor(const Question& question, const RunOptions& given) {
  RunOptions options = given;
  const std::vector<std::string> changes = ChangesOf(question);
  options.changes.insert(options.changes.end(), changes.begin(), changes.end());
  if (question.change == Change::kOverlap) options.network.overlap = Overlap::kPerfect;
  options.output.explain = false;
  options.progress = nullptr;
  options.estimate.flash_attention |= question.change == Change::kFlashAttention;
  return options;
}

// The stages of one row: what the question does not concern is the finished run's.
class Variation : public Stages {
 public:
  Variation(const FinishedRun& run, const Question& question) : run_(run), question_(question) {}
  ~Variation() override {
    if (changed_) std::swap(*changed_, run_.prepared.device);
  }
  Variation(const Variation&) = delete;
  Variation& operator=(const Variation&) = delete;

  bool LoadSystem(const RunOptions&, Diagnostics&) override {
    system_ = *run_.system;
    return ChangeSystem(ChangesOf(question_), *system_).ok();
  }

  bool Prepare(const RunOptions& options, Diagnostics& diagnostics) override {
    if (FromOf(question_.change) != From::kDevice) return true;
    hardware::Device device = run_.prepared.device;
    if (!ChangeDevice(ChangesOf(question_), device)) return false;
    // Passes ask the device what is worth fusing.
    if (run_.prepared.optimised && !options.optimise.keep_kernels && !OptimisesAlike(run_.prepared.device, device)) {
      if (!run_.source) run_.source = ReadProgramOf(options.program, diagnostics);
      if (!run_.source) return false;
      prepared_ = PrepareFrom(options, std::move(device), *run_.source, diagnostics);
      return prepared_.has_value();
    }
    changed_ = std::move(device);
    std::swap(*changed_, run_.prepared.device);
    return true;
  }

  // The run itself has repeated its loops for as long as they needed.
  bool Split(const RunOptions&, Diagnostics&) override { return true; }

  bool Estimate(const RunOptions& options, Diagnostics& diagnostics) override {
    if (FromOf(question_.change) == From::kDevice) {
      estimated_ = EstimateBlocks(options, prepared(), diagnostics, false);
      return estimated_.has_value();
    }
    if (FromOf(question_.change) == From::kEstimates) {
      estimated_ = run_.estimated;
      if (!run_.options.estimate.flash_attention) ApplyFlashAttention(prepared(), prepared().device, *estimated_);
    }
    return true;
  }

  bool Assemble(const RunOptions& options, Diagnostics& diagnostics) override {
    if (run_.system == nullptr) return true;
    if (options.compat || prepared_) {
      traces_ = AssembleTraces(options, prepared(), estimated(), run_.system, diagnostics);
      return traces_.has_value();
    }
    traces_ = run_.traces;
    if (estimated_) assemble::SetDurations(estimated_->table, *traces_);
    if (options.network.overlap != run_.options.network.overlap) SeparateCommunication(*traces_);
    return true;
  }

  // A network that follows from the device follows from the changed one.
  bool JoinDevices(const RunOptions& options, Diagnostics& diagnostics) override {
    system_ = SystemOfDevice(prepared().device, run_.system->npus(), diagnostics);
    return system_ && ChangeSystem(options.changes, *system_).ok();
  }

  bool Simulate(const RunOptions& options, Diagnostics& diagnostics) override {
    simulated_ = SimulateStep(options, prepared().device, *traces_, *system_, diagnostics,
                              {.plan = nullptr, .record_nodes = false});
    return simulated_.has_value();
  }

  bool has_system() const override { return system_.has_value(); }
  size_t npus() const override { return run_.traces.program_of_rank.size(); }
  double loop_drift() const override { return 0; }  // as Split

  Time time() const { return StepTime(prepared(), estimated(), simulated_); }

 private:
  const Prepared& prepared() const { return prepared_ ? *prepared_ : run_.prepared; }
  const Estimated& estimated() const { return estimated_ ? *estimated_ : run_.estimated; }

  const FinishedRun& run_;
  const Question& question_;
  std::optional<hardware::Device> changed_;  // while it stands in the run's place: the run's own
  std::optional<hardware::System> system_;
  std::optional<Prepared> prepared_;
  std::optional<Estimated> estimated_;
  std::optional<trace::TraceGraph> traces_;
  std::optional<result::SimResult> simulated_;
};

}  // namespace

std::vector<Question> Questions(bool network) {
  std::vector<Question> questions = {
      {Change::kPeak, "2x peak rate", "--set device.peak_flops=2x"},
      {Change::kMemory, "2x memory bandwidth", "--set device.memory_bandwidth=2x"},
      {Change::kLaunch, "no launch cost", "--set device.launch_time=0"},
      {Change::kFlashAttention, "flash attention", "--flash-attention"},
  };
  if (!network) return questions;
  questions.push_back({Change::kLinks, "2x link bandwidth", "--set system.bandwidth=2x"});
  questions.push_back({Change::kLatency, "no link latency", "--set system.latency=0"});
  questions.push_back({Change::kOverlap, "perfect overlap", "--overlap perfect"});
  return questions;
}

std::vector<result::WhatIf> WhatIfs(const RunOptions& options, Prepared& prepared, const Estimated& estimated,
                                    const trace::TraceGraph& traces, const hardware::System* system) {
  std::vector<result::WhatIf> rows;
  std::optional<ReadProgram> source;
  const FinishedRun run{options, prepared, estimated, traces, system, source};
  const std::vector<Question> questions = Questions(system != nullptr);
  if (options.progress != nullptr) options.progress->Begin("what if", questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const Question& question = questions[i];
    if (options.progress != nullptr) options.progress->Done(i);
    Variation variation(run, question);
    Diagnostics ignored;  // the run itself told them
    if (MakeStep(OptionsFor(question, options), variation, ignored))
      rows.push_back({std::string(question.name), std::string(question.options), variation.time()});
  }
  return rows;
}

}  // namespace hespas::driver
