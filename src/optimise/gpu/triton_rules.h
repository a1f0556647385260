// What a product's Triton kernel may compute beside the product (XLA's GemmFusion at its fusion level 2).
#pragma once

#include <unordered_set>
#include <vector>

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

class TritonRules {
 public:
  explicit TritonRules(const Dataflow& flow);

  // Of a type and size that Triton multiplies.
  bool IsFactor(WireId wire) const;
  // Whether Triton computes the op, apart from what it costs and in which order it reads.
  bool IsComputed(const Node& node) const;
  // A number that stands for all elements.
  bool IsSplat(WireId wire) const;
  // Read by a concatenation or a slice that moves: neither takes in what makes its operands.
  bool IsJoined(WireId wire) const { return joined_[wire.index()] != 0; }
  bool IsReturned(WireId wire) const { return returned_.count(wire) != 0; }
  // In front of a product: no more is read than before, but for a little.
  bool PaysBefore(const Node& node) const;
  // Behind a product, of whose result `wire` this is the only reader.
  bool PaysBehind(const Node& node, WireId wire) const;
  // The only reader of a wire that is not returned; invalid where there are others.
  NodeId OnlyReader(WireId wire) const;

 private:
  bool ReadsSpread(const Node& node) const;
  bool IsGiven(WireId wire) const;
  bool IsDense(WireId wire) const;
  size_t UsesOf(WireId wire) const { return users_[wire.index()].size() + returned_.count(wire); }
  int64_t ReadMinusWritten(const Node& node) const;

  const Dataflow& flow_;
  UserTable users_;
  std::unordered_set<WireId> returned_;
  std::vector<char> joined_;  // by wire
};

}  // namespace hespas::optimise
