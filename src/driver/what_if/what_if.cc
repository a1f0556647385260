#include "driver/what_if/what_if.h"

#include <string>
#include <utility>

#include "assemble/assemble.h"
#include "driver/configuration/changes.h"
#include "driver/figures/summarise.h"
#include "driver/stages/network.h"
#include "driver/stages/flash_attention.h"
#include "driver/stages/overlap.h"

namespace hespas::driver {
namespace {

enum class From : uint8_t { kDevice, kEstimates, kNetwork };  // the first stage that a change concerns

struct Question {
  std::string_view name;
  From from;
  std::vector<std::string> changes;
  bool overlap = false;
  bool flash = false;
};

std::vector<Question> Questions(bool network) {
  std::vector<Question> questions = {
      {"2x peak rate", From::kDevice, {"device.peak_flops=2x"}},
      {"2x memory bandwidth", From::kDevice, {"device.memory_bandwidth=2x"}},
      {"no launch cost", From::kDevice, {"device.launch_time=0"}},
  };
  questions.push_back({.name = "flash attention", .from = From::kEstimates, .changes = {}, .flash = true});
  if (!network) return questions;
  questions.push_back({"2x link bandwidth", From::kNetwork, {"system.bandwidth=2x"}});
  questions.push_back({"no link latency", From::kNetwork, {"system.latency=0"}});
  questions.push_back({"perfect overlap", From::kNetwork, {}, true});
  return questions;
}

std::string OptionsOf(const Question& question) {
  std::string out = question.overlap ? "--overlap perfect" : question.flash ? "--flash-attention" : "";
  for (const std::string& change : question.changes) out += (out.empty() ? "--set " : " --set ") + change;
  return out;
}

// What a finished run leaves to the runs of the table.
class Asker {
 public:
  Asker(const RunOptions& options, Prepared& prepared, const Estimated& estimated, const trace::TraceGraph& traces,
        const hardware::System* system)
      : options_(options), prepared_(prepared), estimated_(estimated), traces_(traces), system_(system) {}

  std::optional<Time> Ask(const Question& question) {
    RunOptions options = options_;
    options.changes.insert(options.changes.end(), question.changes.begin(), question.changes.end());
    if (question.overlap) options.network.overlap = Overlap::kPerfect;
    options.output.explain = false;
    options.progress = nullptr;
    options.estimate.flash_attention |= question.flash;
    if (question.from == From::kNetwork) return Rest(options, prepared_, estimated_);
    if (question.from == From::kEstimates) return WithFlashAttention(options);
    if (prepared_.optimised) {
      // Passes ask the device what is worth fusing.
      const auto prepared = Prepare(options, ignored_);
      return prepared ? FromEstimate(options, *prepared) : std::nullopt;
    }
    hardware::Device changed = prepared_.device;
    if (!ChangeDevice(question.changes, changed)) return std::nullopt;
    std::swap(changed, prepared_.device);
    const auto time = FromEstimate(options, prepared_);
    std::swap(changed, prepared_.device);
    return time;
  }

 private:
  std::optional<Time> WithFlashAttention(const RunOptions& options) {
    Estimated estimated = estimated_;
    if (!options_.estimate.flash_attention) ApplyFlashAttention(prepared_, estimated);
    return Rest(options, prepared_, estimated);
  }

  std::optional<Time> FromEstimate(const RunOptions& options, const Prepared& prepared) {
    const auto estimated = EstimateBlocks(options, prepared, ignored_, false);
    return estimated ? Rest(options, prepared, *estimated) : std::nullopt;
  }

  // The run's network with the changes of the question; one that follows from the device follows from the changed one.
  std::optional<hardware::System> SystemFor(const RunOptions& options, const Prepared& prepared) {
    const bool follows = options.system.name == kAutoSystem;
    auto system = follows ? SystemOfDevice(prepared.device, system_->npus(), ignored_) : std::optional(*system_);
    const auto first = options.changes.begin() + (follows ? 0 : static_cast<ptrdiff_t>(options_.changes.size()));
    if (!system || !ChangeSystem({first, options.changes.end()}, *system)) return std::nullopt;
    return system;
  }

  std::optional<Time> Rest(const RunOptions& options, const Prepared& prepared, const Estimated& estimated) {
    if (system_ == nullptr) return StepTime(prepared, estimated, std::nullopt);
    const auto system = SystemFor(options, prepared);
    if (!system) return std::nullopt;
    const auto traces = TracesFor(options, prepared, estimated, *system);
    if (!traces) return std::nullopt;
    const auto simulated =
        SimulateStep(options, prepared.device, *traces, *system, ignored_, {.plan = nullptr, .record_nodes = false});
    return simulated ? std::optional(StepTime(prepared, estimated, simulated)) : std::nullopt;
  }

  // The run's own traces with these estimates, where the blocks are its own.
  std::optional<trace::TraceGraph> TracesFor(const RunOptions& options, const Prepared& prepared,
                                             const Estimated& estimated, const hardware::System& system) {
    if (options.compat || &prepared != &prepared_) {
      return AssembleTraces(options, prepared, estimated, &system, ignored_);
    }
    trace::TraceGraph traces = traces_;
    if (&estimated != &estimated_) assemble::SetDurations(estimated.table, traces);
    if (options.network.overlap != options_.network.overlap) SeparateCommunication(traces);
    return traces;
  }

  const RunOptions& options_;
  Prepared& prepared_;
  const Estimated& estimated_;
  const trace::TraceGraph& traces_;
  const hardware::System* system_;
  Diagnostics ignored_;  // the run itself told them
};

}  // namespace

std::vector<result::WhatIf> WhatIfs(const RunOptions& options, Prepared& prepared, const Estimated& estimated,
                                    const trace::TraceGraph& traces, const hardware::System* system) {
  std::vector<result::WhatIf> rows;
  Asker asker(options, prepared, estimated, traces, system);
  const std::vector<Question> questions = Questions(system != nullptr);
  if (options.progress != nullptr) options.progress->Begin("what if", questions.size());
  for (size_t i = 0; i < questions.size(); ++i) {
    const Question& question = questions[i];
    if (options.progress != nullptr) options.progress->Done(i);
    const auto time = asker.Ask(question);
    if (time) rows.push_back({std::string(question.name), OptionsOf(question), *time});
  }
  return rows;
}

}  // namespace hespas::driver
