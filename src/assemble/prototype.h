// Traces as the Python prototype writes them (its specification, section 8): result bytes as sizes, permutes as
// all-to-alls, replica groups as they stand, durations in whole microseconds.
#pragma once

#include <optional>
#include <vector>

#include "assemble/assemble.h"

namespace hespas::assemble {

// A communication block's node.
struct PrototypeCommunication {
  trace::Collective kind = trace::Collective::kAllReduce;
  int64_t size = 0;
  std::vector<std::vector<int64_t>> groups;  // empty: none could be read
};

PrototypeCommunication DescribeAsPrototype(const ir::Module& module, const graph::Block& block);

// Numbers communicators from 1 in the order in which they are met, by their device ids.
class PrototypeGroups {
 public:
  void Add(const PrototypeCommunication& communication);
  const std::vector<std::vector<int64_t>>& all() const { return all_; }
  // Whether some collective has several groups, so that devices need traces of their own.
  bool split() const { return split_; }
  // The group of `communication` that holds `device`; 0 where none does.
  uint32_t GroupOf(const PrototypeCommunication& communication, int64_t device) const;

 private:
  uint32_t Find(const std::vector<int64_t>& group) const;

  std::vector<std::vector<int64_t>> all_;
  bool split_ = false;
};

// Blocks are in the order in which the prototype visits them.
Result<trace::TraceGraph> AssembleAsPrototype(const ir::Module& module, const graph::BlockGraph& graph,
                                              const graph::EstimateTable& estimates, const Options& options);

}  // namespace hespas::assemble
