// Gives every value of a region a layout, as XLA's LayoutAssignment does (docs/spec/xla-gpu.md, section 9).
#pragma once

#include <deque>
#include <vector>

#include "optimise/dataflow/dataflow.h"
#include "optimise/gpu/layout/layout_rules.h"

namespace hespas::optimise {

class LayoutSolver {
 public:
  explicit LayoutSolver(const Dataflow& flow);

  // False where the region holds what has no layout: dynamic or very high ranks.
  bool Solve();

  bool AreAllDefault() const;
  const Layout& Of(ValueId value) const { return constraints_[BufferOf(value)].layout; }
  LayoutRule RuleOf(NodeId id) const { return rules_[id.index()]; }
  // What the op asks of its operand.
  const Layout& OfOperand(NodeId id, size_t operand) const;

 private:
  struct Constraint {
    Layout layout;
    int32_t priority = 0;
    bool is_set = false;
    bool mandatory = false;
    bool depth_first = true;
  };
  struct Use {
    NodeId id;
    uint32_t operand;
  };
  // What is to be set: a layout, how firmly, whether it is followed at once, and what it outweighs.
  struct Request {
    Layout layout;
    bool mandatory = true;
    bool depth_first = true;
    int32_t priority = 0;
  };

  void FindPostOrder();
  void FindBuffers();
  void ConstrainOps();
  void ConstrainDot(NodeId id);
  void ConstrainDotOperand(NodeId id, size_t operand, const Dimensions& batch, const Dimensions& contracted);
  void ConstrainDotResult(NodeId id, size_t batch);
  void ConstrainTranspose(NodeId id);
  void ConstrainFixed(NodeId id);

  void Propagate();
  void PropagateBuffer(size_t buffer);
  void PropagateOperand(Use use, const Constraint& constraint);
  void PropagateToSiblings(Use use, const Request& request);

  void SetBuffer(size_t buffer, const Request& request);
  void SetOperand(NodeId id, size_t operand, Request request);
  Layout ExistingLayout(ValueId value) const;
  bool IsPassedIn(const Node& node, const Node& producer) const;

  const Dimensions& DimsOf(ValueId value) const { return flow_.type(value).dims; }
  size_t RankOf(ValueId value) const { return DimsOf(value).size(); }
  size_t BufferOf(ValueId value) const { return buffer_[value.index()]; }
  size_t KeyOf(NodeId id, size_t operand) const { return first_operand_[id.index()] + operand; }

  const Dataflow& flow_;
  std::vector<NodeId> post_order_;
  std::vector<LayoutRule> rules_;        // by node
  std::vector<size_t> buffer_;           // by value
  std::vector<std::vector<Use>> uses_;   // by buffer
  std::vector<size_t> first_operand_;    // by node, in constraints_
  std::vector<Use> operands_;            // of constraints_ behind the values
  std::vector<Constraint> constraints_;  // of values, then of operands
  std::vector<uint32_t> added_;
  std::deque<uint32_t> work_;
  size_t requests_ = 0;
};

}  // namespace hespas::optimise
