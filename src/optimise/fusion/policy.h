// What one of XLA's compilers does where shared passes have a choice: one object for each (GPU, TPU, CPU).
//
// - Shared code asks the policy and never which target it works for; optimise.cc chooses the object once.
// - Thresholds and rates are in the target's table: gpu/rules.h, tpu/rules.h, cpu/rules.h.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "optimise/dataflow/pass.h"
#include "optimise/fusion/fusion_class.h"
#include "optimise/fusion/tiled_transpose.h"

namespace hespas::optimise {

struct FusionAnalysis;
struct KernelPlan;

struct CombineLimits {
  int64_t bytes = 0;  // of the results
  size_t count = 1;   // of the operands
};

// A value that may be materialized or duplicated into its consumers.
struct Candidate {
  NodeId id;
  size_t kernels = 0;              // that would compute it
  int64_t evaluations = 0;         // of its elements, by the largest consumer
  bool feeds_concatenate = false;  // through bitcasts, too
};

// What an op is to a kernel that keeps whole rows from their reduction to what is made of them with its result: between
// the two, or that last op.
enum class RowRole : uint8_t { kNone, kInside, kEnd };

enum class Duplication : uint8_t { kDuplicate, kMaterialize, kDefer };

class CompilerPolicy {
 public:
  virtual ~CompilerPolicy() = default;

  // Simplification: whether equal collectives are one; whether operands of dots keep batches, rows and columns in this
  // order, and absorb transposes once layouts are there; whether bf16 arithmetic rounds after each op.
  virtual bool SharesCollectives() const { return false; }
  virtual bool OrdersDotOperands() const { return false; }
  virtual bool AbsorbsTransposes() const { return true; }
  virtual bool RoundsEachOp() const { return false; }

  // Collective combiners: how much one collective holds; whether only those of one level in the graph are combined;
  // whether all-reduces become one of a concatenation.
  virtual CombineLimits CombineLimitsOf(ir::OpKind, const XlaFlags&) const { return {}; }
  virtual bool CombinesByLevel() const { return false; }
  virtual bool FlattensAllReduces() const { return false; }

  // Fusion: the classes of ops that differ from the shared ones; operands that an op of a kernel needs in memory.
  virtual std::optional<FusionClass> SpecialClassOf(const Dataflow&, const Node&) const { return std::nullopt; }
  virtual bool IsReadFromMemory(const Dataflow&, const Node&, size_t /*operand*/) const { return false; }
  // Whether `next`, which reads `value` and has its size, stays in the kernel of the reduction or dot before it.
  virtual bool ContinuesEpilogue(const FusionAnalysis&, NodeId /*next*/, ValueId /*value*/, bool /*after_dot*/) const {
    return true;
  }
  // By node, or empty: ops of kernels that keep whole rows; which ops such a kernel takes in.
  virtual std::vector<RowRole> RowsOf(const Dataflow&, bool /*is_main*/) const { return {}; }
  virtual bool JoinsRows(const Dataflow&, const Node&) const { return true; }
  // Why a value is materialized whoever reads it; empty where that depends.
  virtual std::string_view ReasonToMaterialize(const FusionAnalysis&, const Candidate&) const { return {}; }
  // Whether an op reads single elements, so that its kernel's cost has to be asked for.
  virtual bool ReadsAcross(const Dataflow&, const Node&) const { return false; }
  // Whether a value is fused into each of its consumers or into none, broadcasts, too.
  virtual bool FusesIntoAllOrNone() const { return false; }
  // Whether the kernel of a root should not compute its inputs although it is their only consumer.
  virtual bool IsSlowConsumer(const FusionAnalysis&, NodeId /*root*/) const { return false; }
  // Whether DecideDuplication asks what computing a value once more would read and issue.
  virtual bool WeighsRecomputation() const { return false; }
  virtual Duplication DecideDuplication(const FusionAnalysis&, const Candidate&) const {
    return Duplication::kMaterialize;
  }
  // By node: 1 for those of the deferred values that are duplicated. In `plan`, which is used up, all are materialized.
  virtual std::vector<char> DecideDeferred(const Dataflow& flow, const PassContext&, KernelPlan&,
                                           std::span<const NodeId> /*deferred*/) const {
    return std::vector<char>(flow.node_count(), 0);
  }
  // Emitters: whether transposes are tiled and row normalisations have a code generator of their own.
  virtual bool HasTiledEmitters() const { return false; }
  // The only tiled transpose above elementwise ops of a root, as far as `is_inside` goes.
  virtual std::optional<TiledTranspose> HeroTransposeOf(const Dataflow&, NodeId /*root*/,
                                                        const std::function<bool(ValueId)>& /*is_inside*/) const {
    return std::nullopt;
  }
  // Whether a reduction is a loop over its results to the emitters, like any other op.
  virtual bool ReducesInLoop(const Dataflow&, const Node&) const { return false; }
  // Bytes of a thread block's memory.
  virtual int64_t SharedMemoryOfReduction(bool /*rows*/, int64_t /*element_bytes*/) const { return 0; }
  virtual void FuseMultiOutput(const Dataflow&, const PassContext&, KernelPlan&) const {}

  // Scheduler: whether computation is moved between the starts and dones of collectives, and whether the order is the
  // one in which memory is held.
  virtual bool HidesLatency() const { return false; }
  virtual bool ExportsSchedule() const { return false; }
};

}  // namespace hespas::optimise
