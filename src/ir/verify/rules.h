// The rules beyond what the table of ops (table.cc) says, by family.
#pragma once

#include "ir/verify/check.h"

namespace hespas::ir::verify {

// elementwise.cc
bool CheckAbs(Check& check);
bool CheckRealPart(Check& check);
bool CheckComplex(Check& check);
bool CheckCompare(Check& check);
bool CheckSelect(Check& check);
bool CheckClamp(Check& check);
bool CheckReducePrecision(Check& check);
bool CheckBitcastConvert(Check& check);
bool CheckConstant(Check& check);
bool CheckIota(Check& check);
bool CheckDynamicIota(Check& check);
bool CheckResultAccuracy(Check& check);

// shape_ops.cc
bool CheckBroadcast(Check& check);
bool CheckBroadcastInDim(Check& check);
bool CheckDynamicBroadcastInDim(Check& check);
bool CheckReshape(Check& check);
bool CheckDynamicReshape(Check& check);
bool CheckTranspose(Check& check);
bool CheckReverse(Check& check);
bool CheckConcatenate(Check& check);
bool CheckPad(Check& check);
bool CheckDynamicPad(Check& check);
bool CheckGetDimensionSize(Check& check);
bool CheckSetDimensionSize(Check& check);
bool CheckScalarResult(Check& check);

// slices.cc
bool CheckSlice(Check& check);
bool CheckDynamicSlice(Check& check);
bool CheckDynamicUpdateSlice(Check& check);
bool CheckRealDynamicSlice(Check& check);

// contraction.cc
bool CheckDot(Check& check);
bool CheckDotGeneral(Check& check);
// convolution.cc
bool CheckConvolution(Check& check);
bool CheckDynamicConvolution(Check& check);

// reductions.cc
bool CheckReduce(Check& check);
bool CheckReduceWindow(Check& check);
bool CheckSelectAndScatter(Check& check);
bool CheckMap(Check& check);
bool CheckSort(Check& check);

// gather.cc, scatter.cc
bool CheckGather(Check& check);
bool CheckDynamicGather(Check& check);
bool CheckScatter(Check& check);

// collectives.cc
bool CheckAllGather(Check& check);
bool CheckAllReduce(Check& check);
bool CheckAllToAll(Check& check);
bool CheckReduceScatter(Check& check);
bool CheckCollectiveReduce(Check& check);
bool CheckCollectivePermute(Check& check);
bool CheckCollectiveBroadcast(Check& check);
bool CheckAsyncStart(Check& check);
bool CheckAsyncDone(Check& check);

// groups.cc
bool CheckPairs(Check& check);  // source_target_pairs

// control.cc
bool CheckIf(Check& check);
bool CheckCase(Check& check);
bool CheckWhile(Check& check);
bool CheckOptimizationBarrier(Check& check);
bool CheckTuple(Check& check);
bool CheckGetTupleElement(Check& check);

// functions.cc
bool CheckFunction(Check& check);
bool CheckReturn(Check& check);
bool CheckCall(Check& check);
bool CheckComposite(Check& check);
// custom_call.cc
bool CheckCustomCall(Check& check);

// numerics.cc
bool CheckFft(Check& check);
bool CheckCholesky(Check& check);
bool CheckTriangularSolve(Check& check);
bool CheckBatchNormTraining(Check& check);
bool CheckBatchNormInference(Check& check);
bool CheckBatchNormGrad(Check& check);
bool CheckRng(Check& check);
bool CheckRngBitGenerator(Check& check);

// transfers.cc
bool CheckInfeed(Check& check);
bool CheckOutfeed(Check& check);
bool CheckSend(Check& check);
bool CheckRecv(Check& check);

// quantised.cc
bool CheckAdd(Check& check);
bool CheckQuantisedMove(Check& check);         // reshape, transpose, broadcast keep scales
bool CheckQuantisedContraction(Check& check);  // dot_general, convolution
bool CheckQuantise(Check& check);

// chlo.cc
bool CheckChloBroadcast(Check& check);
bool CheckChloBroadcastComplex(Check& check);
bool CheckChloConstantLike(Check& check);
bool CheckChloTopK(Check& check);
bool CheckChloScan(Check& check);
bool CheckChloRaggedDot(Check& check);

// Shared between families.
// A reduction body over `inputs` with initial values `inits`, whose arguments may have the dimensions `allowed`.
struct Reducer {
  BlockId block;
  std::vector<TypeId> inputs;
  std::vector<TypeId> inits;
  std::vector<int64_t> allowed;
  bool scalar_inits = false;  // initial values are scalars of the given types' elements
};
bool CheckReducer(Check& check, const Reducer& reducer);
// Replica groups: rank 2 and no id twice.
struct GroupRules {
  bool uniform = true;   // no -1 padding
  bool complete = true;  // no id missing
  int64_t size = 0;      // of each group, where not 0
};
bool CheckReplicaGroups(Check& check, const GroupRules& rules);
bool UsesGlobalIds(Check& check);
// Members of each replica group; 0 where the text says nothing (all devices), or where groups multiply by partitions.
int64_t GroupMembers(Check& check);
// precision_config and algorithm of a contraction.
bool CheckPrecision(Check& check);

}  // namespace hespas::ir::verify
