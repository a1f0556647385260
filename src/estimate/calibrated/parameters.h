// The shared constants of the calibrated model: at most nine an op family, all from one parameter file.
//
// - data/models/calibrated.json holds the values with their units, meaning and provenance; nothing is built in.
// - A device file may replace the constants that belong to a device (its `calibration` object, at most four a family).
#pragma once

#include <array>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/text/hash.h"

namespace hespas::estimate::calibrated {

inline constexpr DiagnosticKind kBadParameters{
    "E0560", "The calibrated model's parameter file lacks a constant or gives one that is not a positive number."};

// Families of ops that share constants and an uncertainty.
enum class Family : uint8_t { kGemm, kLinear, kBatchedGemm, kConvolution, kElementwise, kRows, kOther, kCollective };
inline constexpr size_t kFamilies = 8;
std::string_view FamilyName(Family family);

// Matmuls on tensor cores (spec device-model section 2.1).
struct GemmConstants {
  double launch_us = 0;           // kernel start, first loads, drain
  double sustained_fraction = 0;  // of the device's peak, over a long kernel
  double sm_fraction = 0;         // of one SM's rate at boost clock, by a tile without edge
  double tile_half = 0;           // tile extent that reaches half of it
  double l2_bytes_per_clock = 0;  // operands, per SM
  double store_ratio = 0;         // operand rate / result rate
  double memory_fraction = 0;     // of the memory bandwidth
  double split_limit = 0;         // results per contracted element up to which the contraction is split
};

// The same on FP32 lanes, with the board's power as a limit (spec device-model section 2.2).
struct LaneConstants {
  double launch_us = 0;
  double sustained_fraction = 0;
  double tile_half = 0;
  double l2_bytes_per_clock = 0;
  double memory_fraction = 0;
  double board_watts = 0;       // not available to the lanes
  double pj_per_flop = 0;       // at 7 nm and above
  double long_contraction = 0;  // slowdown of a very long contraction; linear only
  double long_extent = 1;       // contracted extent at which half of it shows; linear only
  double smallest_tile = 32;    // of the library's batched kernels; batched only
};

struct MemoryConstants {
  double launch_us = 0;
  double hbm_bytes_per_clock = 0;  // per SM, at which half of the bandwidth is left
  double gddr_fraction = 0;
  double own_fraction = 0;        // of a device that was measured, in place of the two above; 0: of no such device
  double l2_bytes_per_clock = 0;  // per SM, operands that stay in L2
  double issue_fraction = 0;      // of the lanes' instruction rate, for arithmetic that is not hidden
  double streamed_fraction = 0;   // the same of loops and of reductions along rows

  double Issue(bool streamed) const { return streamed ? streamed_fraction : issue_fraction; }
};

// Re-reading of rows that fast memories cannot hold, and what rows cost beside their bytes.
struct RowConstants {
  double softmax_start = 0;   // rows in flight / fast memory of an SM from which later passes read memory
  double softmax_full = 0;    // and at which all of them do
  double softmax_reread = 0;  // extra traffic then, as a share of one read and one write
  double softmax_block = 0;   // extra time of rows that need a whole thread block
  double softmax_scalar = 0;  // extra time of elements that are read one by one
  double norm_start = 0;      // rows in flight / L2 and fast memories: begin and end of the rise, and its height
  double norm_full = 0;
  double norm_reread = 0;
  double norm_step_clocks = 0;  // of an SM with four schedulers, for 512 elements of a row
};

struct ConvolutionConstants {
  double sustained_fraction = 0;  // of the matmul of the same size
  double dispatches = 0;          // that a long eager call spends beside its kernels
  double winograd_fraction = 0;   // of the 36 matmuls of a Winograd convolution
  double transform_passes = 0;    // traffic of its transforms of input and output, in their transformed sizes
};

struct DispatchConstants {
  double matmul_power = 0;  // how sharply a long kernel hides the host's dispatch time
  double memory_power = 0;
};

// Kernels that follow each other in a stream.
struct StreamConstants {
  double launch_us = 0;     // between the work of one kernel and the next
  double graph_clocks = 0;  // the same inside a CUDA graph, for kernels that are no matmuls, in clocks
  double graph_us = 0;      // not in the file: graph_clocks on the device, or launch_us where it has no graphs
};

struct CollectiveConstants {
  double launch_us = 0;
  double hop_us = 0;         // per message that waits for another
  double link_fraction = 0;  // sustained / nominal link bandwidth
  double ramp = 0;           // between latency and bandwidth
  double own_share = 0;      // cost of a rank's own shard, in shards on the wire
};

enum class CollectiveOp : uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kPermute };
inline constexpr size_t kCollectiveOps = 5;

struct Parameters {
  GemmConstants gemm;
  GemmConstants tf32;  // as gemm; a device whose library has other kernels for TF32 replaces its own
  LaneConstants linear;
  LaneConstants batched;
  MemoryConstants memory;
  RowConstants rows;
  ConvolutionConstants convolution;
  DispatchConstants dispatch;
  StreamConstants stream;
  std::array<CollectiveConstants, kCollectiveOps> collectives;
  double in_switch_ratio = 0;           // traffic of a reduction in the switch, per byte
  std::array<double, kFamilies> sigma;  // relative, at three quarters of the datasheet's limit
  double roofline_sigma = 0;            // how little sigma depends on the distance from the datasheet's limits
  double power_sigma = 0;               // of FP32 matmuls, per e-fold that the board's power slows them down
  double tf32_sigma = 0;                // as that of gemm; a device whose TF32 kernels are less regular has its own
  std::array<double, kFamilies> campaign_sigma;  // between two measurements of a kernel months and boards apart
  double correlation = 0;  // of the errors of one family's kernels: the common share of their variance
  std::array<double, kCollectiveOps> collective_sigma;          // of the part of a collective that grows with its bytes
  std::array<double, kCollectiveOps> collective_latency_sigma;  // of the part that does not
  std::array<double, kCollectiveOps> collective_ramp_sigma;     // and of the ramp between them
  Hash128 fingerprint;                                          // of the file
};

// A constant by its place in the file ("linear", "launch_us"), nullptr where there is none.
double* FindConstant(Parameters& parameters, std::string_view family, std::string_view constant);

Result<Parameters> ReadParameters(std::string_view text, const std::string& file);

// The shipped file; read once.
const Result<Parameters>& DefaultParameters();

}  // namespace hespas::estimate::calibrated
