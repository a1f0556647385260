// One pass: a name that switches it off, a line that says what it does, and a function over one executed region.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "optimise/dataflow/dataflow.h"
#include "optimise/optimise.h"

namespace hespas::optimise {

class CompilerPolicy;  // optimise/fusion/policy.h
class Decisions;

struct PassContext {
  const CompilerPolicy* policy = nullptr;
  GpuFigures gpu;
  XlaFlags flags;
  int64_t dot_merge_bytes = int64_t{32} << 20;
  int bf16_capability = 80;      // CUDA compute capability times ten, as far as bf16 arithmetic goes
  bool is_main = true;           // not a loop's body or a branch
  bool wrap_only = false;        // each op a kernel of its own
  size_t started = 0;            // asynchronous collectives made
  bool memory_limit = true;      // of the scheduler
  bool short_of_memory = false;  // it kept the scheduler from hiding latency
  std::vector<Explanation>* explanations = nullptr;
  Decisions* decisions = nullptr;  // remembers what was asked about the device, if wanted
};

struct Pass {
  std::string_view name;
  std::string_view note;
  void (*run)(Dataflow& flow, PassContext& context) = nullptr;
  bool gpu = true;  // of the table that GPUs and TPUs share: where it runs
  bool tpu = true;
};

void Simplify(Dataflow& flow, PassContext& context);
void ReduceArithmetic(Dataflow& flow, PassContext& context);
void EliminateCommonSubexpressions(Dataflow& flow, PassContext& context);
void EliminateDeadCode(Dataflow& flow, PassContext& context);
void PipelineCollectives(Dataflow& flow, PassContext& context);
void FormReduceScatters(Dataflow& flow, PassContext& context);
void MoveCollectiveDimension(Dataflow& flow, PassContext& context);
void NarrowAllReduces(Dataflow& flow, PassContext& context);
void WindowEinsums(Dataflow& flow, PassContext& context);
void AssignSparseCores(Dataflow& flow, PassContext& context);
void FoldAllReduces(Dataflow& flow, PassContext& context);
void ReassociateCollectives(Dataflow& flow, PassContext& context);
void AssignLayouts(Dataflow& flow, PassContext& context);
void DecomposeDots(Dataflow& flow, PassContext& context);
void CanonicaliseConvolutions(Dataflow& flow, PassContext& context);
void CanonicaliseDots(Dataflow& flow, PassContext& context);
void MergeDots(Dataflow& flow, PassContext& context);
void FormTritonMatmuls(Dataflow& flow, PassContext& context);
void FormCublasCalls(Dataflow& flow, PassContext& context);
void NormaliseFloats(Dataflow& flow, PassContext& context);
void MakeIndexVectors(Dataflow& flow, PassContext& context);
void SinkInvariants(Dataflow& flow, PassContext& context);
void HoistInvariants(Dataflow& flow, PassContext& context);
void ExpandSelectAndScatter(Dataflow& flow, PassContext& context);
void ReduceVectorDots(Dataflow& flow, PassContext& context);
void ExpandSorts(Dataflow& flow, PassContext& context);
void CallConvolutions(Dataflow& flow, PassContext& context);
void AssignConvolutionLayouts(Dataflow& flow, PassContext& context);
void PadConvolutions(Dataflow& flow, PassContext& context);
void FuseConvolutionBias(Dataflow& flow, PassContext& context);
void SqueezeUnitDimensions(Dataflow& flow, PassContext& context);
void SplitReductions(Dataflow& flow, PassContext& context);
void FormReductionTrees(Dataflow& flow, PassContext& context);
void Fuse(Dataflow& flow, PassContext& context);
void FuseOnCpu(Dataflow& flow, PassContext& context);
void InsertCopies(Dataflow& flow, PassContext& context);
void CopyScheduled(Dataflow& flow, PassContext& context);
void WrapKernels(Dataflow& flow, PassContext& context);
void CombineCollectives(Dataflow& flow, PassContext& context);
void RemoveBarriers(Dataflow& flow, PassContext& context);
void SplitCollectives(Dataflow& flow, PassContext& context);
void Schedule(Dataflow& flow, PassContext& context);
void ExpandKernels(Dataflow& flow, PassContext& context);

}  // namespace hespas::optimise
