// The estimate stage: a time, work and traffic for each distinct block.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "driver/stages/split.h"
#include "estimate/estimator.h"
#include "estimate/facts.h"
#include "estimate/registry.h"
#include "graph/estimate_table.h"
#include "result/run_result.h"

namespace hespas::driver {

struct OptimiseOptions;
struct RunOptions;

template <>
inline constexpr std::array<Word<estimate::native::Dataflow>, 2> kWords<estimate::native::Dataflow> = {
    {{"ws", estimate::native::Dataflow::kWeightStationary}, {"os", estimate::native::Dataflow::kOutputStationary}}};

// Where estimates are kept.
struct CacheOptions {
  enum class Place : uint8_t { kNone, kMemory, kFile };
  Place place = Place::kMemory;  // memory: equal blocks of this run; a file is kept across runs
  std::string file;
};

// none, memory, or a file's path.
CacheOptions ParseCache(std::string text);
std::string TextOf(const CacheOptions& cache);

struct EstimateOptions {
  std::string estimator = "calibrated";               // of the registry, or exec:PATH
  std::shared_ptr<const estimate::Estimator> custom;  // in its place
  estimate::EstimatorOptions settings;                // of the named one; the run gives `compat`, `facts` and `buffers`
  CacheOptions cache;
  bool flash_attention = false;  // attention scores never leave the chip (driver/stages/cost/flash_attention.h)
  bool strict = false;           // an operation without a cost rule is an error
};

struct Estimated {
  graph::EstimateTable table;
  std::vector<result::OpSummary> ops;       // costliest first
  std::vector<std::vector<Time>> op_times;  // of each distinct block, by op
  std::vector<result::UnknownKernel> unknown = {};
};

// Of the module under the flags of XLA that the run has.
estimate::calibrated::CommandBuffers CommandBuffersOf(const OptimiseOptions& options, const ir::Module& module);
// For a module with such `buffers`; nullptr where the options name none. `facts` of it may be nullptr
// (estimate/facts.h).
std::shared_ptr<const estimate::Estimator> EstimatorOf(const RunOptions& options, const hardware::Device& device,
                                                       const estimate::calibrated::CommandBuffers& buffers,
                                                       std::shared_ptr<const estimate::Facts> facts,
                                                       Diagnostics& diagnostics);
// Puts the table's estimates at the clock that the device keeps under its power limit, and returns it as a share of the
// boost clock (driver/stages/cost/power_limit.h).
double LimitPower(const RunOptions& options, const hardware::Device& device, const graph::BlockGraph& graph,
                  graph::EstimateTable& table);
// Without `by_op` the ops and their times are left out.
std::optional<Estimated> EstimateBlocks(const RunOptions& options, const Prepared& prepared, Diagnostics& diagnostics,
                                        bool by_op = true);

}  // namespace hespas::driver
