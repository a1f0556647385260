#include "driver/stages/split.h"

#include <fmt/format.h>

#include "driver/stages/run_options.h"
#include "driver/stages/take.h"
#include "split/split.h"

namespace hespas::driver {
namespace {

split::Options OptionsOfSplit(const RunOptions& options) {
  const SplitOptions& asked = options.split;
  // Analytic estimators cost ops one by one; only profiling ones need blocks to compile.
  const bool large = options.compat || estimate::Measures(options.estimate.estimator);
  const bool linear = asked.strategy == SplitStrategy::kLinear || (large && asked.strategy == SplitStrategy::kAuto);
  return {.strategy = linear ? split::Strategy::kLinear : split::Strategy::kIndividual,
          .merge = asked.merge,
          .block_limit = asked.block_limit,
          .separator = asked.separator,
          .policy = asked.policy,
          .separator_kind = asked.separator_kind,
          .loop_window = asked.loop_window,
          .compat = options.compat};
}

}  // namespace

std::string KeyOf(const SplitOptions& options) {
  return fmt::format("{}|{}|{}|{}|{}|{}|{}", static_cast<int>(options.strategy), options.merge, options.block_limit,
                     static_cast<int>(options.separator), static_cast<int>(options.policy),
                     static_cast<int>(options.separator_kind), options.loop_window);
}

bool SplitBlocks(const RunOptions& options, Prepared& prepared, Diagnostics& diagnostics) {
  const split::Options used = OptionsOfSplit(options);
  const bool linear = used.strategy == split::Strategy::kLinear;
  const bool fusion = options.split.strategy == SplitStrategy::kFusion;
  prepared.split = TextOf(fusion   ? SplitStrategy::kFusion
                          : linear ? SplitStrategy::kLinear
                                   : SplitStrategy::kIndividual);
  auto blocks = Take(split::Split(*prepared.module, used, diagnostics), diagnostics);
  if (blocks) prepared.blocks = std::move(*blocks);
  return blocks.has_value();
}

}  // namespace hespas::driver
