// What a matmul's Triton kernel may compute beside the matmul (XLA's GemmFusion at its fusion level 2).
#pragma once

#include <unordered_set>
#include <vector>

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

// Whether Triton computes an elementwise op in a kernel that is no matmul (XLA codegen/triton/support.cc).
bool IsTritonElementwise(const Dataflow& flow, const Node& node);

class TritonRules {
 public:
  explicit TritonRules(const Dataflow& flow);

  // Whether Triton multiplies these types and sizes.
  bool IsMatmul(const Node& dot) const;
  // Whether Triton computes the op, apart from what it costs and in which order it reads.
  bool IsComputed(const Node& node) const;
  // A number that stands for all elements.
  bool IsSplat(ValueId value) const;
  // Read by a concatenation or a slice that moves: neither absorbs the producers of its operands.
  bool IsConcatenated(ValueId value) const { return concatenated_[value.index()] != 0; }
  bool IsReturned(ValueId value) const { return returned_.count(value) != 0; }
  // In front of a matmul: no more is read than before, but for a little.
  bool PaysBefore(const Node& node) const;
  // After a matmul, of whose result `value` this is the only consumer.
  bool PaysBehind(const Node& node, ValueId value) const;
  // The only consumer of a value that is not returned; invalid where there are others.
  NodeId OnlyConsumer(ValueId value) const;

 private:
  bool ReadsBroadcast(const Node& node) const;
  bool IsGiven(ValueId value) const;
  bool IsDense(ValueId value) const;
  size_t UsesOf(ValueId value) const { return users_[value.index()].size() + returned_.count(value); }
  int64_t ReadMinusWritten(const Node& node) const;

  const Dataflow& flow_;
  UserTable users_;
  std::unordered_set<ValueId> returned_;
  std::vector<char> concatenated_;  // by value
};

}  // namespace hespas::optimise
