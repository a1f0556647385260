#include "driver/stages/estimate.h"

#include <algorithm>

#include "driver/configuration/xla_flags.h"
#include "driver/stages/cost/flash_attention.h"
#include "driver/stages/cost/op_summaries.h"
#include "driver/stages/cost/power_limit.h"
#include "driver/stages/run_options.h"
#include "driver/stages/take.h"
#include "estimate/cache/sqlite_cache.h"
#include "estimate/estimate_all.h"
#include "estimate/facts.h"

namespace hespas::driver {
namespace {

constexpr std::string_view kNoCache = "none";
constexpr std::string_view kInMemory = "memory";

}  // namespace

CacheOptions ParseCache(std::string text) {
  if (text == kNoCache) return {.place = CacheOptions::Place::kNone, .file = {}};
  if (text == kInMemory) return {.place = CacheOptions::Place::kMemory, .file = {}};
  return {.place = CacheOptions::Place::kFile, .file = std::move(text)};
}

std::string TextOf(const CacheOptions& cache) {
  if (cache.place == CacheOptions::Place::kFile) return cache.file;
  return std::string(cache.place == CacheOptions::Place::kNone ? kNoCache : kInMemory);
}

estimate::calibrated::CommandBuffers CommandBuffersOf(const OptimiseOptions& options, const ir::Module& module) {
  const auto& flags = options.xla_flags;
  if (std::any_of(flags.begin(), flags.end(), SwitchesGraphsOff)) return {};
  return estimate::calibrated::CommandBuffersOf(module);
}

std::shared_ptr<const estimate::Estimator> EstimatorOf(const RunOptions& options, const hardware::Device& device,
                                                       const estimate::calibrated::CommandBuffers& buffers,
                                                       std::shared_ptr<const estimate::Facts> facts,
                                                       Diagnostics& diagnostics) {
  if (options.estimate.custom) return options.estimate.custom;
  // The prototype knows no other analytic estimator.
  const std::string name = options.compat ? "roofline" : options.estimate.estimator;
  estimate::EstimatorOptions settings = options.estimate.settings;
  settings.compat = options.compat;
  settings.buffers = buffers;
  settings.facts = std::move(facts);
  auto made = Take(estimate::MakeEstimator(name, device, settings), diagnostics);
  return made ? std::shared_ptr<const estimate::Estimator>(std::move(*made)) : nullptr;
}

double LimitPower(const RunOptions& options, const hardware::Device& device, const graph::BlockGraph& graph,
                  graph::EstimateTable& table) {
  // Only this model knows what matrix units and what memory take; the others say what they were told.
  const bool known = !options.compat && !options.estimate.custom && options.estimate.estimator == "calibrated";
  const double clock = known ? ClockUnderPowerLimit(device, graph, table) : 1;
  for (graph::Estimate& each : table.unique) each = AtClock(device, clock, std::move(each));
  return clock;
}

std::optional<Estimated> EstimateBlocks(const RunOptions& options, const Prepared& prepared, Diagnostics& diagnostics,
                                        bool by_op) {
  const auto estimator =
      EstimatorOf(options, prepared.device, CommandBuffersOf(options.optimise, *prepared.module), nullptr, diagnostics);
  if (!estimator) return std::nullopt;
  const CacheOptions& kept = options.estimate.cache;
  const auto cache = kept.place == CacheOptions::Place::kFile ? estimate::OpenCache(kept.file, diagnostics) : nullptr;
  const estimate::EstimateOptions estimate_options{.strict = options.estimate.strict,
                                                   .reuse = kept.place != CacheOptions::Place::kNone,
                                                   .progress = options.progress};
  auto table =
      Take(estimate::EstimateAll(prepared.blocks, *estimator, cache.get(), estimate_options, diagnostics), diagnostics);
  if (!table) return std::nullopt;
  Estimated estimated{.table = std::move(*table), .ops = {}};
  const double clock = LimitPower(options, prepared.device, prepared.blocks, estimated.table);
  const auto slower = EstimatorAtClock(*estimator, prepared.device, clock);
  if (by_op) SummariseOps(prepared, clock < 1 ? *slower : *estimator, cache.get(), estimated);
  if (options.estimate.flash_attention) ApplyFlashAttention(prepared, prepared.device, estimated);
  return estimated;
}

}  // namespace hespas::driver
