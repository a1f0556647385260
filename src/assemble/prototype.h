// Traces as the Python prototype writes them (spec python-prototype section 8): result bytes as sizes, permutes as
// all-to-alls, replica groups as they are, durations in whole microseconds.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "assemble/assemble.h"

namespace hespas::assemble {

// A communication block's node.
struct PrototypeCommunication {
  trace::Collective kind = trace::Collective::kAllReduce;
  int64_t size = 0;
  std::vector<std::vector<int64_t>> groups;  // empty: none could be read
  uint32_t pattern = 0;                      // that list of groups in PrototypeGroups
};

PrototypeCommunication DescribeAsPrototype(const ir::Module& module, const graph::Block& block);

// Numbers communicators from 1 in the order in which they are met, by their device ids.
class PrototypeGroups {
 public:
  // Takes the groups over and sets `pattern`.
  void Add(PrototypeCommunication& communication);
  const std::vector<std::vector<int64_t>>& all() const { return all_; }
  // Whether some collective has several groups, so that devices need traces of their own.
  bool split() const { return split_; }
  uint32_t patterns() const { return static_cast<uint32_t>(group_of_.size()); }
  // The group that holds `device`; 0 where none does.
  uint32_t GroupOf(uint32_t pattern, int64_t device) const;

 private:
  std::vector<std::vector<int64_t>> all_;
  std::map<std::vector<int64_t>, uint32_t> number_;
  std::map<std::vector<std::vector<int64_t>>, uint32_t> patterns_;
  std::vector<std::unordered_map<int64_t, uint32_t>> group_of_;  // by pattern and device
  bool split_ = false;
};

// Blocks are in the order in which the prototype visits them.
Result<trace::TraceGraph> AssembleAsPrototype(const ir::Module& module, const graph::BlockGraph& graph,
                                              const graph::EstimateTable& estimates, const Options& options);

}  // namespace hespas::assemble
