#include "estimate/field/backward.h"

#include <algorithm>
#include <cmath>

#include "estimate/field/context.h"
#include "estimate/field/score.h"

namespace hespas::estimate::field {
namespace {

constexpr double kMatmuls = 5;
constexpr double kSumBytes = 4;
constexpr double kLaneOperations = 4;  // of a score, beside the softmax: dP - delta, times P, and two roundings

// Of an element of queries, keys, values, outputs and all gradients, which have the call's type.
double ElementBytes(const AttentionCall& call) { return call.f8 ? 1 : 2; }

// A block's tile, and how its warps share it: of scores in parts of queries and of keys, of keys' gradients in parts of
// keys, of queries' gradients in parts of queries (the others of the eight warps are parts of the head).
struct BackwardKernel {
  double queries = 128, keys = 128;
  double score_parts = 4, key_parts = 4, query_parts = 4;
};

// cuDNN's tiles on Hopper are in its kernels' names (flash_bprop_wgmma_f16_knob_26_64x64x128 in a profile of an H100,
// cuDNN 9). Else flash_bwd_launch_template.h of FlashAttention 2, and of FlashAttention 3 (hopper/) under a causal
// mask. With tcgen05 all tiles are 128 x 128, one instruction's (PTX ISA 8.8).
BackwardKernel KernelOf(const Chip& chip, const AttentionCall& call) {
  const double size = call.head_size;
  if (chip.wide_instructions && chip.scaled_instructions) return {};
  if (chip.wide_instructions && call.cudnn) return {.queries = 64, .keys = 64};
  if (size <= 64) return {};
  if (chip.wide_instructions) {
    return {.queries = 64, .keys = size <= 128 ? 128.0 : size <= 192 ? 96.0 : 80.0};
  }
  if (size <= 96) return {.queries = 64, .keys = 128, .score_parts = 2};
  if (size <= 128 && !chip.small_tiles) return {.queries = 64, .score_parts = 2, .query_parts = 2};
  return {.queries = 64, .keys = 64, .key_parts = 2, .query_parts = 2};
}

// Bytes of operands and of scores' gradients that mma.sync takes out of shared memory, for each score: a part reads its
// rows once for each part of the columns, and the other way round.
double SharedBytes(const BackwardKernel& kernel, double size, double element_bytes) {
  constexpr double kWarps = 8;
  const double of_keys = kWarps / kernel.score_parts;
  const double scores = size * (of_keys / kernel.keys + kernel.score_parts / kernel.queries);
  const double of_gradients = kWarps / kernel.key_parts + kernel.key_parts * size / kernel.keys;
  const double of_sums = kWarps / kernel.query_parts + kernel.query_parts * size / kernel.queries;
  return element_bytes * (2 * scores + 2 * of_gradients + of_sums);
}

// us of one score on one SM.
double ScoreUs(const Chip& chip, const Constants& constants, const AttentionCall& call, double size) {
  const double shared = chip.wide_instructions ? 0 : SharedBytes(KernelOf(chip, call), size, ElementBytes(call));
  return ScoreUs(chip, constants,
                 {.flops = 2 * kMatmuls * size,
                  .flops_per_clock = chip.flops_per_clock * (call.f8 ? F8Speed(chip) : 1),
                  .shared_bytes = shared,
                  .lane_operations = kLaneOperations,
                  .f8 = call.f8});
}

// Scores that the blocks compute for each head: tiles at the mask's edge are whole.
double ScoresInTiles(const AttentionCall& call, const BackwardKernel& kernel, bool causal) {
  const double edges = causal ? std::max(kernel.queries, kernel.keys) / 2 : 0;
  const double tiles = std::ceil(call.keys / kernel.keys);
  return Scores(call, causal) + tiles * kernel.keys * edges * std::min(1.0, call.queries / kernel.keys);
}

// us of all blocks, without memory.
double BlocksUs(const Chip& chip, const Constants& constants, const AttentionCall& call, double scores) {
  const BackwardKernel kernel = KernelOf(chip, call);
  const double size = std::ceil(call.head_size / 16) * 16;
  const double heads = call.batch * call.heads;
  const double start = constants.context.block_clocks / (chip.wide_instructions ? 1 : kResidentBlocks) +
                       constants.context.element_clocks * size * kernel.keys / 128;
  return BlocksUs(chip,
                  {.heads = heads,
                   .count = heads * std::ceil(call.keys / kernel.keys),
                   .scores = scores,
                   .longest = kernel.keys * std::min(call.queries, KeysSeen(call) + kernel.queries),
                   .start_clocks = start},
                  ScoreUs(chip, constants, call, size));
}

// us of moving data: within the kernel, and in those around it.
struct Moves {
  double within = 0, around = 0;
};

Moves MovesOf(const Chip& chip, const Constants& constants, const AttentionCall& call) {
  const double rows = call.batch * call.heads * call.queries * call.head_size;
  const double columns = call.batch * call.key_heads * call.keys * call.head_size;
  const double element = ElementBytes(call);
  double around = (2 * element + kSumBytes) * rows + (kSumBytes + element) * rows;  // before and after
  if (call.key_heads < call.heads) {  // the gradients of each query head's keys and values, and their sums
    around += 2 * element * (columns * call.heads / call.key_heads + columns);
  }
  const double us_of_byte = UsOfByteBetween(chip, constants, element * (4 * rows + 4 * columns) + kSumBytes * rows);
  return {.within = element * (2 * rows + 4 * columns) * us_of_byte, .around = around * us_of_byte};
}

}  // namespace

double BackwardUs(const Chip& chip, const Constants& constants, const AttentionCall& call) {
  const BackwardKernel kernel = KernelOf(chip, call);
  const double scores = ScoresInTiles(call, kernel, call.phase == Phase::kContext);
  const double sums = call.batch * call.heads * scores * call.head_size / kernel.keys * kSumBytes /
                      (chip.sms * chip.clock * constants.context.l2_bytes_per_clock);
  const Moves moves = MovesOf(chip, constants, call);
  return SoftMaximum(BlocksUs(chip, constants, call, scores), SoftMaximum(moves.within, sums, 3), 3) + moves.around +
         2 * StartUs(chip, constants.matmul);
}

}  // namespace hespas::estimate::field
