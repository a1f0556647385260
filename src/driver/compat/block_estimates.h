// Estimates the blocks of a run one after the other, with the log lines and statistics of the prototype.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "base/text/hash.h"
#include "driver/compat/blocks.h"
#include "driver/compat/configuration.h"
#include "driver/compat/log.h"
#include "driver/compat/statistics.h"
#include "estimate/cache/cache.h"
#include "estimate/estimator.h"
#include "estimate/roofline/prototype_roofline.h"
#include "graph/estimate_table.h"

namespace hespas::driver::compat {

inline constexpr DiagnosticKind kUnknownRate{
    "E0916", "An operation has an element type that `per_datatype_flops` lacks, and `error_on_unknown_type` is set."};

class BlockEstimates {
 public:
  // All must outlive this. The estimator is not asked under --compat; `kept`, which may be nullptr, tells which
  // estimates earlier runs made.
  BlockEstimates(const Settings& settings, const Blocks& blocks, const estimate::Estimator& estimator,
                 estimate::EstimateCache* kept, const Log& log);

  Status Run(Diagnostics& diagnostics);

  // What an estimator that measures told of each block; nullptr with others, which cost each op.
  const graph::EstimateTable* measured() const { return measured_ ? &*measured_ : nullptr; }
  const Statistics& statistics() const { return statistics_; }
  const estimate::Notes& notes() const { return notes_; }
  double seconds(size_t position) const { return seconds_.at(position); }

 private:
  struct Known {
    size_t module = 0;
    std::string file;
  };

  Status Measure(Diagnostics& diagnostics);
  void EstimateBlock(size_t position);
  bool KnownBefore(const graph::Block& block) const;
  size_t ExpandedOps(const graph::Block& block) const;
  std::vector<OpRecord> PrototypeRecords(const graph::Block& block);
  void Check(const estimate::PrototypeOp& op);
  std::string WidestOutput(const graph::Block& block) const;
  std::vector<OpRecord> Records(const graph::Block& block);

  const Settings& settings_;
  const Blocks& blocks_;
  const ir::Module& module_;
  estimate::EstimateCache* kept_;
  const Log& log_;
  estimate::PrototypeRates rates_;
  const estimate::Estimator& estimator_;
  Statistics statistics_;
  estimate::Notes notes_;
  std::unordered_map<Hash128, Known> known_;  // by structure
  std::unordered_map<size_t, double> seconds_;
  std::optional<graph::EstimateTable> measured_;
  std::unordered_set<Hash128> known_before_;  // by earlier runs; where blocks are measured
  double seconds_a_block_ = 0;                // that measuring took
  std::set<uint32_t> warned_;
  std::optional<Error> failure_;
};

}  // namespace hespas::driver::compat
