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

namespace hespas::optimise {

// clang-format off
enum class FusionClass : uint8_t {
  kUnfusible,   // dots, collectives, control flow, ...: reads and writes memory, fuses with nothing
  kBitcast,      // reshape: no work
  kCheap,     // constants, iota, broadcast scalars: always computed in place
  kElement,   // one result element from a few input elements
  kReduce,    // reductions and scatters: take producers in, end a kernel
};
// clang-format on

// What a scatter changes in place, and indices that were put side by side, lie in memory before (GPU).
bool IsReadFromMemory(const Dataflow& flow, const Node& node, size_t operand);

FusionClass ClassOf(const Dataflow& flow, const Node& node);

// A reshape that moves data on a TPU: a matrix of one row, as the program was given it, to a vector.
bool SqueezesUnitDimensions(const Dataflow& flow, const Node& node);

// Scalar instructions per result element (spec: step-time prototype, section 2).
double InstructionWeight(ir::OpKind kind);

// The kernels of one region.
struct KernelPlan {
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  std::vector<FusionClass> classes;        // by node
  std::vector<char> materialized;          // by node
  std::vector<uint32_t> kernel;            // by node: the kernel that stores it
  std::vector<std::vector<NodeId>> roots;  // by kernel, program order; empty where merged into another
  std::vector<std::string> reasons;        // by node, only where explanations are wanted
};

KernelPlan PlanKernels(const Dataflow& flow, const PassContext& context);

// Fuses kernels that read the same data, or of which one reads what the other stores.
void FuseMultiOutput(const Dataflow& flow, const PassContext& context, KernelPlan& plan);

class KernelFormer {
 public:
  explicit KernelFormer(Dataflow& flow) : flow_(flow) {}
  // Puts `members`, in program order, into one fusion that stores the `roots` among them.
  void Form(std::span<const NodeId> roots, std::span<const NodeId> members, std::string_view kind);

 private:
  void Copy(NodeId id, Dataflow& body, std::vector<ValueId>& operands);
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

// Result elements of an elementwise root, input elements of a reduction.
int64_t WorkElements(const Dataflow& flow, NodeId id);

// Whether a reduction goes along rows; over columns it walks memory another way than everything else.
bool ReducesRows(const Dataflow& flow, const Node& node);

}  // namespace hespas::optimise
