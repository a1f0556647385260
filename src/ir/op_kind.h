// The op table: one row per known op of builtin, func, stablehlo, mhlo, chlo and sdy.
//
// - An op of mhlo or vhlo that means the same as a stablehlo op has the same OpKind; Op::name keeps the spelling.
// - Everything that asks "what sort of op is this?" asks the traits here; no other file switches over op names.
#pragma once

#include <cstdint>
#include <string_view>

namespace hespas::ir {

// Name, dialect-free spelling, sort. The sort groups ops by how they are costed, fused and split.
// clang-format off
#define HESPAS_OPS(X)                                                                                                  \
  X(Abs, "abs", kElementwise) X(Add, "add", kElementwise) X(AddDependency, "add_dependency", kFree)                    \
  X(AfterAll, "after_all", kFree) X(AllGather, "all_gather", kCollective) X(AllReduce, "all_reduce", kCollective)      \
  X(AllToAll, "all_to_all", kCollective) X(And, "and", kElementwise) X(AsyncDone, "async_done", kAsync)                \
  X(AsyncStart, "async_start", kAsync) X(AsyncUpdate, "async_update", kAsync) X(Atan2, "atan2", kElementwise)          \
  X(BatchNormGrad, "batch_norm_grad", kReduction) X(BatchNormInference, "batch_norm_inference", kElementwise)          \
  X(BatchNormTraining, "batch_norm_training", kReduction) X(Bitcast, "bitcast", kLayout)                               \
  X(BitcastConvert, "bitcast_convert", kElementwise) X(Broadcast, "broadcast", kLayout)                                \
  X(BroadcastInDim, "broadcast_in_dim", kLayout) X(Case, "case", kControl) X(Cbrt, "cbrt", kElementwise)               \
  X(Ceil, "ceil", kElementwise) X(Cholesky, "cholesky", kOther) X(Clamp, "clamp", kElementwise)                        \
  X(CollectiveBroadcast, "collective_broadcast", kCollective)                                                          \
  X(CollectivePermute, "collective_permute", kCollective) X(CollectiveReduce, "collective_reduce", kCollective)        \
  X(Compare, "compare", kElementwise) X(Complex, "complex", kElementwise) X(Composite, "composite", kCall)             \
  X(Concatenate, "concatenate", kLayout) X(Constant, "constant", kConstant) X(Convert, "convert", kElementwise)        \
  X(Convolution, "convolution", kContraction) X(Copy, "copy", kLayout) X(Cosine, "cosine", kElementwise)               \
  X(CountLeadingZeros, "count_leading_zeros", kElementwise) X(CreateToken, "create_token", kFree)                      \
  X(CrossReplicaSum, "cross-replica-sum", kCollective) X(CustomCall, "custom_call", kCustomCall)                       \
  X(Divide, "divide", kElementwise) X(Domain, "domain", kFree) X(Dot, "dot", kContraction)                             \
  X(DotGeneral, "dot_general", kContraction) X(DynamicBroadcastInDim, "dynamic_broadcast_in_dim", kLayout)             \
  X(DynamicConv, "dynamic_conv", kContraction) X(DynamicGather, "dynamic_gather", kGather)                             \
  X(DynamicIota, "dynamic_iota", kLayout) X(DynamicPad, "dynamic_pad", kLayout)                                        \
  X(DynamicReshape, "dynamic_reshape", kLayout) X(DynamicSlice, "dynamic_slice", kSlice)                               \
  X(DynamicUpdateSlice, "dynamic_update_slice", kSlice) X(Einsum, "einsum", kContraction) X(Erf, "erf", kElementwise)  \
  X(Exponential, "exponential", kElementwise) X(ExponentialMinusOne, "exponential_minus_one", kElementwise)            \
  X(Fft, "fft", kOther) X(Floor, "floor", kElementwise) X(Fusion, "fusion", kFusion) X(Gather, "gather", kGather)      \
  X(GetDimensionSize, "get_dimension_size", kFree) X(GetTupleElement, "get_tuple_element", kFree)                      \
  X(If, "if", kControl) X(Imag, "imag", kElementwise) X(Infeed, "infeed", kTransfer) X(Iota, "iota", kConstant)        \
  X(IsFinite, "is_finite", kElementwise) X(Log, "log", kElementwise) X(LogPlusOne, "log_plus_one", kElementwise)       \
  X(Logistic, "logistic", kElementwise) X(Map, "map", kElementwise) X(Maximum, "maximum", kElementwise)                \
  X(Minimum, "minimum", kElementwise) X(Multiply, "multiply", kElementwise) X(Negate, "negate", kElementwise)          \
  X(Not, "not", kElementwise) X(OptimizationBarrier, "optimization_barrier", kFree) X(Or, "or", kElementwise)          \
  X(Outfeed, "outfeed", kTransfer) X(Pad, "pad", kLayout) X(PartitionId, "partition_id", kFree)                        \
  X(Popcnt, "popcnt", kElementwise) X(Power, "power", kElementwise) X(RaggedAllToAll, "ragged_all_to_all", kCollective)\
  X(RaggedDot, "ragged_dot", kContraction) X(Real, "real", kElementwise)                                               \
  X(RealDynamicSlice, "real_dynamic_slice", kSlice) X(Recv, "recv", kTransfer) X(Reduce, "reduce", kReduction)         \
  X(ReducePrecision, "reduce_precision", kElementwise) X(ReduceScatter, "reduce_scatter", kCollective)                 \
  X(ReduceWindow, "reduce_window", kReduction) X(Remainder, "remainder", kElementwise)                                 \
  X(ReplicaId, "replica_id", kFree) X(Reshape, "reshape", kLayout) X(Return, "return", kTerminator)                    \
  X(Reverse, "reverse", kLayout) X(Rng, "rng", kRandom) X(RngBitGenerator, "rng_bit_generator", kRandom)               \
  X(RngGetAndUpdateState, "xla.rng_get_and_update_state", kFree)                                                       \
  X(RoundNearestAfz, "round_nearest_afz", kElementwise) X(RoundNearestEven, "round_nearest_even", kElementwise)        \
  X(Rsqrt, "rsqrt", kElementwise) X(Scatter, "scatter", kScatter) X(Select, "select", kElementwise)                    \
  X(SelectAndScatter, "select_and_scatter", kReduction) X(Send, "send", kTransfer)                                     \
  X(SetDimensionSize, "set_dimension_size", kFree) X(ShiftLeft, "shift_left", kElementwise)                            \
  X(ShiftRightArithmetic, "shift_right_arithmetic", kElementwise)                                                      \
  X(ShiftRightLogical, "shift_right_logical", kElementwise) X(Sign, "sign", kElementwise)                              \
  X(Sine, "sine", kElementwise) X(Slice, "slice", kSlice) X(Sort, "sort", kSort) X(Sqrt, "sqrt", kElementwise)         \
  X(Subtract, "subtract", kElementwise) X(Tan, "tan", kElementwise) X(Tanh, "tanh", kElementwise)                      \
  X(TopK, "topk", kSort) X(TorchIndexSelect, "torch_index_select", kGather) X(Transpose, "transpose", kLayout)         \
  X(TriangularSolve, "triangular_solve", kOther) X(Tuple, "tuple", kFree) X(UnaryEinsum, "unary_einsum", kContraction) \
  X(UniformDequantize, "uniform_dequantize", kElementwise) X(UniformQuantize, "uniform_quantize", kElementwise)        \
  X(While, "while", kControl) X(Xor, "xor", kElementwise)                                                              \
  /* other dialects */                                                                                                 \
  X(Module, "builtin.module", kStructure) X(Func, "func.func", kStructure) X(FuncCall, "func.call", kCall)             \
  X(Mesh, "sdy.mesh", kStructure) X(ManualComputation, "sdy.manual_computation", kCall)                                \
  X(NamedComputation, "sdy.named_computation", kCall) X(SdyAnnotation, "sdy.sharding_constraint", kFree)               \
  X(ChloElementwise, "chlo.elementwise", kElementwise) X(Unknown, "", kUnknown)
// clang-format on

// clang-format off
enum class OpSort : uint8_t {
  kElementwise, kReduction, kContraction, kLayout, kSlice, kGather, kScatter, kSort, kRandom,
  kConstant, kFree, kCollective, kAsync, kTransfer, kControl, kCall, kFusion, kCustomCall,
  kTerminator, kStructure, kOther, kUnknown,
};
// clang-format on

enum class OpKind : uint8_t {
#define HESPAS_ENUM(Name, spelling, sort) k##Name,
  HESPAS_OPS(HESPAS_ENUM)
#undef HESPAS_ENUM
};

struct OpTraits {
  std::string_view spelling;
  OpSort sort;
};

inline constexpr OpTraits kOpTraits[] = {
#define HESPAS_ROW(Name, spelling, sort) {spelling, OpSort::sort},
    HESPAS_OPS(HESPAS_ROW)
#undef HESPAS_ROW
};

inline const OpTraits& Traits(OpKind kind) { return kOpTraits[static_cast<size_t>(kind)]; }

// The kind of a full op name ("stablehlo.add", "mhlo.add", "func.return", "sdy.return"); kUnknown for others.
OpKind KindOf(std::string_view full_name);

inline bool IsCollective(OpKind kind) { return Traits(kind).sort == OpSort::kCollective; }
inline bool IsTerminator(OpKind kind) { return Traits(kind).sort == OpSort::kTerminator; }

}  // namespace hespas::ir
