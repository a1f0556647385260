// Estimates of ops that hold or call others: calls, loops and branches, from estimates of single ops.
//
// - A loop counts its body once per iteration where the number of iterations is known, else once (with a note); a
//   branch counts its costliest arm (or the mean by given probabilities); a function is evaluated once, however often
//   it is called.
// - Iterative: neither deep nesting nor long chains of calls grow the stack; recursion in the program counts as 0.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "estimate/estimator.h"
#include "ir/module.h"

namespace hespas::estimate {

// Sums of estimates; seconds are kept in doubles until a block is complete.
struct Work {
  double seconds = 0;
  double variance = 0;         // of seconds
  double compute_seconds = 0;  // what arithmetic alone would take
  double limited_seconds = 0;  // of that, what holds the board's power limit already
  double memory_seconds = 0;   // what moving the bytes alone would take
  double launch_seconds = 0;   // fixed costs within `seconds`
  int64_t flops = 0;
  int64_t bytes = 0;
  uint8_t models = 0;  // bit set of the models that contributed, where an estimator has several

  Work& operator+=(const Work& other);
  Work Times(int64_t count) const;
  Work Scaled(double share) const;  // what is done with that probability, on average
};

// Estimates an op that holds nothing to execute but itself (fusions and reductions included).
class LeafEstimator {
 public:
  virtual ~LeafEstimator() = default;
  virtual Work Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const = 0;
};

class CompositeEvaluator {
 public:
  CompositeEvaluator(const ir::Module& module, const LeafEstimator& leaves, Notes& notes)
      : module_(module), leaves_(leaves), notes_(notes) {}

  Work Op(ir::OpId op);

 private:
  struct Frame {
    ir::OpId owner;       // the op whose regions are summed, or a function
    ir::RegionId region;  // being summed
    ir::BlockId block;
    size_t next = 0;
    std::vector<Work> done;  // one sum per finished region
    Work running;
  };

  // The function an op calls; invalid where it calls none.
  ir::OpId Callee(ir::OpId op) const;
  void Push(ir::OpId owner);
  Work Combine(ir::OpId op, const std::vector<Work>& regions);
  std::optional<Work> ExpectedBranch(ir::OpId op, const std::vector<Work>& regions) const;
  bool Step(Work& result);
  void Deliver(const Work& work, Work& result);

  const ir::Module& module_;
  const LeafEstimator& leaves_;
  Notes& notes_;
  std::vector<Frame> stack_;
  std::unordered_map<uint32_t, Work> functions_;  // finished (or, as 0, under way) by op id
};

// Whether Op() would look into the op rather than ask the leaf estimator.
bool IsCompositeOp(const ir::Module& module, ir::OpId op);

// A complete estimate from the work of one or more ops.
graph::Estimate ToEstimate(const Work& work, std::string_view source);

}  // namespace hespas::estimate
