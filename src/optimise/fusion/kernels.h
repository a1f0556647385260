// Which ops share a kernel: the decisions of loop and input (reduction) fusion, before anything is rewritten.
//
// - A node is `materialized` where its value must be in memory; every materialized node is the root of one kernel.
// - A node that is not materialized is duplicated in each kernel that needs it.
// - Kernels are then merged into multi-output kernels where that creates no cycle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optimise/dataflow/pass.h"
#include "optimise/fusion/policy.h"

namespace hespas::optimise {

// The kernels of one region.
struct KernelPlan {
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  const CompilerPolicy* policy = nullptr;
  std::vector<FusionClass> classes;        // by node
  std::vector<RowRole> rows;               // by node, or empty
  std::vector<char> materialized;          // by node
  std::vector<uint32_t> kernel;            // by node: the kernel that stores it
  std::vector<std::vector<NodeId>> roots;  // by kernel, program order; empty where merged into another
  std::vector<std::string> reasons;        // by node, only where explanations are wanted

  RowRole RoleOf(NodeId id) const { return rows.empty() ? RowRole::kNone : rows[id.index()]; }
};

KernelPlan PlanKernels(const Dataflow& flow, const PassContext& context);

class KernelFormer {
 public:
  explicit KernelFormer(Dataflow& flow) : flow_(flow) {}
  // Puts `members`, in program order, into one fusion that stores the `roots` among them.
  // Returns the fusion.
  NodeId Form(std::span<const NodeId> roots, std::span<const NodeId> members, std::string_view kind);

 private:
  void Copy(NodeId id, Dataflow& body, ValueList& operands);
  void Enter(ValueId value, ValueId inner);

  Dataflow& flow_;
  std::vector<ValueId> inside_;   // by value of the flow: in the fusion at hand; invalid between two
  std::vector<ValueId> entered_;  // of those
  std::vector<ir::TypeId> types_;
};

// The nodes of kernels in program order: the roots and all producers that are not materialized elsewhere.
class Members {
 public:
  Members(const Dataflow& flow, const KernelPlan& plan) : flow_(flow), plan_(plan), seen_(flow.node_count(), 0) {}
  // Valid until the next call.
  const std::vector<NodeId>& Of(uint32_t kernel);

 private:
  bool Belongs(NodeId id, uint32_t kernel) const;

  const Dataflow& flow_;
  const KernelPlan& plan_;
  std::vector<uint32_t> seen_;  // by node: the call that last came by
  uint32_t call_ = 0;
  std::vector<NodeId> found_;
  std::vector<std::pair<NodeId, size_t>> stack_;
};

}  // namespace hespas::optimise
