#include "sweep/structure.h"

#include <fmt/format.h>

#include <algorithm>

#include "driver/figures/uncertainty.h"
#include "estimate/registry.h"
#include "memory/memory.h"
#include "report/step/throughput.h"

namespace hespas::sweep {
namespace {

using driver::RunOptions;

constexpr size_t kMostStructures = 48;  // of one program; some megabytes each

std::string KeyOf(const RunOptions& options, const driver::OptimiserInput& input) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", input.run, input.schedule_limit, static_cast<int>(input.options.target),
                     input.options.gpu.capability, input.options.bf16_capability,
                     estimate::Measures(options.estimate.estimator), driver::KeyOf(options.split));
}

}  // namespace

Structure::Structure(driver::Prepared prepared, bool communicates)
    : prepared_(std::move(prepared)),
      communicates_(communicates),
      facts_(std::make_shared<const estimate::Facts>(*prepared_.module)),
      buffers_(estimate::calibrated::CommandBuffersOf(*prepared_.module)) {}

Bytes Structure::PeakMemory(const hardware::Device& device) const {
  const std::lock_guard lock(memory_mutex_);
  const auto [at, is_new] = memory_.try_emplace(device.memory_capacity.value_or(Bytes()).value);
  if (is_new) {
    at->second = memory::MemoryOf(*prepared_.module, {.duration = {},
                                                      .keep_order = prepared_.scheduled,
                                                      .compiler = driver::CompilerOf(device, prepared_.on_cpu),
                                                      .room = driver::RoomOn(device)})
                     .peak;
  }
  return at->second;
}

const std::vector<size_t>& Structure::FamiliesFor(const graph::EstimateTable& table) const {
  std::call_once(families_once_, [&] { families_ = driver::FamiliesOf(prepared_, table); });
  return families_;
}

std::shared_ptr<const Assembled> Structure::TracesFor(const RunOptions& options, const driver::Estimated& estimated,
                                                      const hardware::System* system, Diagnostics& diagnostics) const {
  const uint64_t implied = system != nullptr && !communicates_ ? system->npus() : 0;
  const std::tuple key{options.system.num_npus, implied, options.network.overlap};
  const std::lock_guard lock(mutex_);
  if (const auto found = traces_.find(key); found != traces_.end()) return found->second;
  auto traces = driver::AssembleTraces(options, prepared_, estimated, system, diagnostics);
  if (!traces) return nullptr;
  auto plan = simulate::PlanAnalytical(*traces);
  if (!plan) {
    diagnostics.Report(plan.error());
    return nullptr;
  }
  const auto npus = static_cast<int64_t>(traces->program_of_rank.size());
  auto made = std::make_shared<const Assembled>(
      Assembled{*std::move(traces), *std::move(plan), report::ThroughputOf(*prepared_.module, npus)});
  traces_.emplace(key, made);
  return made;
}

std::optional<driver::OptimiserInput> SharedProgram::InputFor(const RunOptions& options, const hardware::Device& device,
                                                              Diagnostics& diagnostics) const {
  return driver::OptimiserInputFor(
      source_->module, {.mode = driver::OptimiseModeOf(options), .schedule_limit = options.optimise.schedule_limit},
      device, diagnostics);
}

std::shared_ptr<const Structure> SharedProgram::Find(const std::string& key,
                                                     const driver::OptimiserInput& input) const {
  for (const auto& known : known_) {
    if (known->key != key) continue;
    if (input.run && !known->decisions.HoldFor(input.options.gpu)) continue;
    known->used = ++uses_;
    return known->structure;
  }
  return nullptr;
}

std::optional<driver::Prepared> SharedProgram::Prepare(const RunOptions& options, const hardware::Device& device,
                                                       driver::OptimiserInput& input, Diagnostics& diagnostics) {
  driver::Prepared prepared{.device = device,
                            .sha256 = source_->sha256,
                            .ops = source_->ops,
                            .scheduled = source_->scheduled,
                            .optimised = input.run,
                            .model_work = source_->model_work};
  if (input.run) {
    auto module = driver::OptimiseFor(device, source_->module, input);
    if (!module) {
      diagnostics.Report(module.error());
      return std::nullopt;
    }
    prepared.module = std::make_unique<ir::Module>(*std::move(module));
  } else {
    // The optimiser may still write names into the one that was read first.
    driver::ProgramOptions own = options.program;
    own.content = content_;
    auto again = driver::ReadProgramOf(own, diagnostics);
    if (!again) return std::nullopt;
    prepared.module = std::make_unique<ir::Module>(std::move(again->module));
  }
  if (!driver::SplitBlocks(options, prepared, diagnostics)) return std::nullopt;
  return prepared;
}

std::shared_ptr<const Structure> SharedProgram::StructureFor(const RunOptions& options, const hardware::Device& device,
                                                             Diagnostics& diagnostics) {
  {
    const std::shared_lock lock(mutex_);
    const auto input = source_ ? InputFor(options, device, diagnostics) : std::nullopt;
    if (input) {
      if (auto found = Find(KeyOf(options, *input), *input)) return found;
    } else if (source_) {
      return nullptr;
    }
  }
  const std::unique_lock lock(mutex_);
  if (!source_) {
    driver::ProgramOptions own = options.program;
    own.content = content_;
    source_ = driver::ReadProgramOf(own, diagnostics);
    if (!source_) return nullptr;
  }
  auto input = InputFor(options, device, diagnostics);
  if (!input) return nullptr;
  const std::string key = KeyOf(options, *input);
  if (auto found = Find(key, *input)) return found;  // another thread was faster
  auto known = std::make_unique<Known>();
  known->key = key;
  known->used = ++uses_;
  input->options.decisions = &known->decisions;
  auto prepared = Prepare(options, device, *input, diagnostics);
  if (!prepared) return nullptr;
  const bool communicates = prepared->blocks.communicates();
  known->structure = std::make_shared<const Structure>(*std::move(prepared), communicates);
  if (known_.size() >= kMostStructures) {
    known_.erase(std::min_element(known_.begin(), known_.end(), [](auto& a, auto& b) { return a->used < b->used; }));
  }
  known_.push_back(std::move(known));
  return known_.back()->structure;
}

}  // namespace hespas::sweep
