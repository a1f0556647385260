// The shared constants of the field model, from data/models/field.json, which has their units, meaning and fits.
//
// - None belongs to a device: what differs between devices follows from their files.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text/hash.h"

namespace hespas::estimate::field {

inline constexpr DiagnosticKind kBadFieldConstants{
    "E0568", "The field model's constants (data/models/field.json) lack one, or one is not a positive number."};

struct MatmulConstants {
  double start_clocks = 0;        // from one kernel of a graph to the next
  double full_extent = 0;         // harmonic tile extent that reaches an SM's peak rate
  double fill = 0;                // elements of the contraction that filling and draining a tile's pipeline costs
  double epilogue_bytes = 0;      // of results a clock that an SM writes
  double memory_fraction = 0;     // of the memory bandwidth
  double overlap_power = 0;       // how sharply the longest of tiles, rate and memory hides the others
  double latency_clocks = 0;      // of the first and last accesses to memory
  double l2_bytes_per_clock = 0;  // of one SM, data that L2 holds
  double split_us = 0;            // of summing the parts of a split contraction
  double pj_per_flop = 0;         // 16-bit floats at 1 GHz, operands out of shared memory
  double register_energy = 0;     // times as much, operands out of registers
  double burst = 0;               // of the board's power, above it in short kernels
  double burst_us = 0;            // in which the controller takes half of that back
  double sigma = 0;               // relative, devices held out
};

// A format's own: quantising the activations inside the call.
struct FormatConstants {
  double start_us = 0;
  double start_clocks = 0;
  double passes_bytes = 0;  // moved for each element of the activations
  double sigma = 0;
};

// Of one scale for all.
struct NarrowConstants : FormatConstants {
  double power_exponent = 0;  // of the rate's ratio to 16 bits, for the flops that a watt buys: in all formats
};

// Of formats with scales inside the contraction, whose kernels have a least time for a step.
struct ScaledConstants : FormatConstants {
  double step_clocks = 0;  // of 128 elements of the contraction, at least
  double tile_clocks = 0;  // of a tile's start and end
};

// Of formats with a scale for each block of 128 x 128 weights.
struct BlockConstants : ScaledConstants {
  double promotion = 0;   // operations of the lanes for each element of a tile and 128 of the contraction
  double feed_bytes = 0;  // of operands a clock that an SM takes out of L2 while all do
};

struct ContextConstants {
  double matrix_fraction = 0;    // of the peak rate at the highest clock
  double exponential_share = 0;  // of the special units' time for an exponential a score that nothing hides
  double lane_operations = 0;    // of a score
  double overlap_power = 0;      // how sharply the longest of matmul, shared memory and softmax hides the others
  double power_fraction = 0;     // of the flops that board power allows a matmul
  double softmax_pj = 0;         // of a score, 4 nm
  double block_clocks = 0;       // of a block's start and end
  double element_clocks = 0;     // and of each element of a head, for 128 queries
  double window_factor = 0;      // times the time of a score, windows in TensorRT-LLM's kernels for Hopper
  double l2_bytes_per_clock = 0;
  double cache_share = 0;     // of L2, for data between one kernel and the next
  double registers = 0;       // of a thread for operands and results; others spill
  double graph_start_us = 0;  // inside a measured call
  double sigma = 0;
};

struct GenerationConstants {
  double memory_fraction = 0;
  double l2_bytes_per_clock = 0;
  double row_bytes = 0;      // of an element of queries, outputs, new keys and values
  double overlap_power = 0;  // how sharply the longer of reading and of blocks' starts hides the other
  double dispatch_power = 0;
  double graph_start_us = 0;  // inside a measured call
  double sigma = 0;
  // A block that reads nothing, in clocks of its SM.
  double lanes_clocks = 0, lanes_element_clocks = 0;
  double lanes_narrow_f8 = 0;  // times as many for an 8-bit cache without wide instructions
  double general_clocks = 0, general_element_clocks = 0;
  double general_f8 = 0;           // times as many an element of an 8-bit cache
  double general_tile_clocks = 0;  // of each further tile of query heads
  double wide_clocks = 0, wide_row_clocks = 0;
  double flash_clocks = 0, flash_row_clocks = 0;
  double byte_clocks = 0;  // of a byte of a head, the last two
  // Joining the parts of a sequence.
  double merge_clocks = 0, wide_merge_clocks = 0;
  // 8-bit elements that an SM converts in a clock: with all blocks that it holds, and with one.
  double wide_f8_per_clock = 0, wide_f8_alone = 0;
  double narrow_f8_per_clock = 0, narrow_f8_alone = 0;
  double general_f8_per_clock = 0;
  // byte a clock of a block that reads a sequence alone.
  double flash_block_bytes = 0, general_block_bytes = 0;
};

// Experts of a layer share a kernel.
struct ExpertConstants {
  double nvf4 = 1;          // times the time of 4-bit matmuls of the same sizes
  double shared_reads = 0;  // of operands out of shared memory, which matmuls with mma.sync wait for
  // Times the time of matmuls whose 4-bit weights lanes widen for 16-bit activations: into registers, which wgmma and
  // mma take, or through shared memory.
  double widened_f4 = 1, widened_f4_in_shared = 1;
  // Of a whole layer inside a measured call (experts.h).
  double start_clocks = 0;       // routing's and other small kernels, and the start of a graph
  double routing_clocks = 0;     // more, where several kernels route
  double quantising_clocks = 0;  // more, where kernels of their own quantise the rows
  double token_passes = 0;       // over the rows' hidden elements
  double inner_passes = 0;       // over the elements that the activation reads
  double quantised_passes = 0;   // more over the hidden elements, to quantise them
  double block_factor = 0;       // times as many passes, scales of blocks without instructions that take them
  double sigma = 0;
};

struct Constants {
  MatmulConstants matmul;
  ExpertConstants experts;
  NarrowConstants f8;
  ScaledConstants nvf4;
  BlockConstants f8_block;
  ContextConstants context;
  GenerationConstants generation;
};

Result<Constants> ReadConstants(std::string_view text, const std::string& file);

struct NamedConstant {
  std::string_view name;
  double* value;
};
// A family's constants under the file's names ("matmul", "fp8", ...); none of a family that there is not.
std::vector<NamedConstant> ConstantsOf(Constants& constants, std::string_view family);

// The shipped file; read once.
const Result<Constants>& DefaultConstants();
const Hash128& DefaultFingerprint();  // without reading the constants

}  // namespace hespas::estimate::field
