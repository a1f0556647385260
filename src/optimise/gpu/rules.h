// Every threshold and rate of the GPU policy, each with its source.
//
// - "XLA FILE": a rule of openxla/xla in the version of JAX 0.7.2, in xla/service/gpu unless another folder is named.
// - "Fitted": chosen by us, with what it was fitted on. docs/optimiser.md lists these beside XLA's rule.
// - "Bound": limits our own time or memory; XLA has no such limit.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hespas::optimise::gpu_rules {

// Run time of a kernel: XLA model/gpu_performance_model_base.{h,cc}.
inline constexpr double kLaunch = 1e-6;               // seconds: kKernelLaunchOverhead
inline constexpr double kL2Speedup = 2.5;             // kL2CacheSpeedup
inline constexpr double kL1Speedup = 8;               // kL1CacheSpeedup
inline constexpr double kL1Bytes = 2048;              // of one SM: kL1CacheSizePerSM
inline constexpr double kBytesPerClock = 32;          // that a thread block can ask for: AdjustBandwidth
inline constexpr double kTransactionBytes = 64;       // dram_to_l2_transaction_size_bytes of device_description.h
inline constexpr double kOverlap = 0.95;              // memory_compute_parallelism of PriorityFusion
inline constexpr double kDefaultClocks = 3;           // kDefaultFlopsPerElement: elementwise ops without a profile
inline constexpr double kOperationsPerLaneClock = 2;  // ComputeTime: a multiply-add counts twice
inline constexpr double kElementsOfBlock = 512;       // of a loop: 128 threads, 4 elements each (codegen/fusions)
inline constexpr int64_t kThreadsOfBlock = 256;       // reduction_utils.cc: that a reduction of rows aims at
inline constexpr int64_t kThreadsLimit = 1024;        // CUDA: threads of a block
inline constexpr int64_t kWarp = 32;                  // CUDA
inline constexpr int64_t kElementsOfThread = 16;      // of a row: reduction_utils.cc, ReductionTiling
// Columns that a thread of a reduction reads at once, by the narrowest value that its kernel reads: codegen/emitters,
// reduction_base.cc, GetVectorSizeForMlir.
inline constexpr int64_t kColumnsOfThread = 2;
inline constexpr int64_t kNarrowColumnsOfThread = 4;
inline constexpr double kWideElement = 4;        // bytes, from which on two are enough
inline constexpr double kSplatBytes = 4;         // of a constant that is one number: an f32
inline constexpr size_t kUtilisationRoots = 63;  // bound: further ones share the last bit of a word

// Priority fusion.
inline constexpr size_t kConsumerLimit = 256;  // bound: values with more consumers are materialized
inline constexpr size_t kManyConsumers = 16;   // bound: values with more are re-evaluated only when they come first

// Multi-output fusion: XLA transforms/multi_output_fusion.cc and gpu_fusible.cc.
inline constexpr int64_t kSharedBytes = 49152;  // CUDA: of a thread block without opting in
inline constexpr int64_t kReductionLimit = 8;   // FusionFitsInBudget: kMaxUnnestedReductionOutputsPerFusion
inline constexpr int64_t kSmallSlice = 1024;    // bytes: slices of less may lie apart (LegalToFuse)
inline constexpr int64_t kRowTile = 32;         // elements in shared memory: SharedMemoryUsage
inline constexpr int64_t kColumnTile = int64_t{4} * 32 * 33;  // the same, of a column reduction
// Fitted: by looking at the LLaMA and ResNet pairs of tests/data/optimise. XLA goes over all siblings of a value, in
// one order without regard to size.
inline constexpr int64_t kSmallSource = 16384;  // bytes: vectors, looked at after tensors

// Softmax and norms: XLA model/gpu_indexing_performance_model.cc, DoesTileFitInRegisters: elements of a tile, whose
// sides are powers of two, within 0.4 of a thread block's 65536 registers.
inline constexpr double kTileRegisters = 0.4 * 65536;

// Tiled transposes: XLA ir_emission_utils.{h,cc}.
inline constexpr int64_t kTransposeSide = 16;        // kMinDimensionToTransposeTiled
inline constexpr int64_t kTransposeShortSide = 8;    // kMinDimensionToTransposeTiled2
inline constexpr int64_t kTransposeArea = 64 * 128;  // kMinTotalDimensionsToTransposeTiled: for the shorter side
inline constexpr size_t kTransposeRank = 3;          // of the normalised transpose
inline constexpr size_t kIntermediateOperands = 3;   // IsIntermediate: of an op that is looked through
inline constexpr size_t kTransposeSearch = 1024;     // bound: ops

// Dots with vectors: XLA transforms/algebraic_simplifier.cc, ShouldStrengthReduceDotToReduce.
inline constexpr int64_t kSmallVectorDot = 10'000'000;  // elements of both operands without batches

// Triton matmuls: XLA triton_fusion_analysis.{h,cc}, triton_tiling_propagation.cc.
inline constexpr size_t kInputsOfOperand = 4;       // kMaxParameterPerDotOperand
inline constexpr int64_t kConcatenationPiece = 64;  // elements: concatenations are tiled in such pieces
inline constexpr int64_t kIoTolerance = 1024;       // bytes that a kernel may read more: kIoToleranceBytes
inline constexpr size_t kMostMembers =
    64;  // bound: ops of one operand; a long chain that every matmul reads is copied for each
inline constexpr size_t kCopiesPerNode = 16;                // bound: of all kernels together, for each op of the region
inline constexpr int64_t kMostElements = int64_t{1} << 48;  // bound: sizes and sums of them stay exact

// Convolutions: XLA transforms/cudnn_pad_for_convolutions.cc (TryResolvePaddedShapesForTensorCore),
// transforms/layout_assignment.cc.
inline constexpr int64_t kFeatureMultiple = 8;  // of f16 convolutions: RoundUpTo
inline constexpr double kPaddedGrowth = 1.35;   // kMaxBytesTouchedBound: of no buffer more
inline constexpr int64_t kColours = 3;          // an image's, which become kPaddedColours before 32 or 64 features
inline constexpr int64_t kPaddedColours = 4;
inline constexpr int kVolta = 70;   // compute capability from which f16 convolutions are NHWC
inline constexpr int kHopper = 90;  // from which f32 ones are, too

// Collective combiners: XLA gpu_compiler.cc, AddCollectiveCombinerPasses.
inline constexpr size_t kCombinedOperands = 256;

// Latency hiding: XLA latency_hiding_scheduler.h (ApproximateLatencyEstimator), gpu_hlo_schedule.cc.
inline constexpr double kSchedulerMemory = 0.8;     // GetSchedulerMemoryLimit: of the device's memory
inline constexpr double kSchedulerSlop = 0.95;      // xla_gpu_memory_limit_slop_factor
inline constexpr int64_t kLeastNanoseconds = 1000;  // kLowLatency and kLowCost of SolLatencyEstimator
// In the place of the measured tables that XLA has of Hopper (matmul_perf_table). Fitted: tensor cores multiply 15
// times what CUDA cores do (H100 datasheet, f32 FMA against bf16) and sustain two thirds of it. Collectives are priced
// by the network's model (GpuFigures).
inline constexpr double kMatrixSpeedup = 10;

}  // namespace hespas::optimise::gpu_rules
