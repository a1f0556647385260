#include "estimate/field/context.h"

#include <algorithm>
#include <cmath>

#include "estimate/field/context_kernels.h"
#include "estimate/field/score.h"

namespace hespas::estimate::field {
namespace {

constexpr double kSpilled = 1024;    // bytes of a register of the 128 threads of a block, written and read again
constexpr double kRowsOfGroup = 64;  // queries of a warp group; the other one of a block rests without any

struct Context {
  const Chip& chip;
  const Constants& constants;
  const ContextConstants& own;
  AttentionCall shape;
  ContextKernel kernel;
  bool causal = false;
  bool windowed = false;
};

// FlashAttention 2 (flash_api.cpp, `seqlenq_ngroups_swapped`): the query heads of a key head are a lone query's rows.
bool SwapsHeads(const Chip& chip, const AttentionCall& call) {
  return !chip.wide_instructions && !call.rope && call.phase == Phase::kContext && call.queries <= 1;
}

// Clocks in which spilled registers of a step move to L2 and back, for each score.
double SpillClocks(const Context& context) {
  const ContextKernel& kernel = context.kernel;
  if (!kernel.holds_operands) return 0;
  constexpr double kLanes = 32, kRegisterBytes = 4;
  const double results = kernel.warp_rows * (kernel.size + kernel.keys) / kLanes;
  const double queries = kernel.warp_rows * kernel.size * (kernel.f8 ? 1 : 2) / (kLanes * kRegisterBytes);
  const double spilled = std::max(0.0, results + queries - context.own.registers) * kSpilled;
  return spilled / (kernel.queries * kernel.keys * context.constants.matmul.l2_bytes_per_clock);
}

// us of one score on one SM.
double ScoreUs(const Context& context) {
  const Chip& chip = context.chip;
  const ContextKernel& kernel = context.kernel;
  const double shared = kernel.warp_rows > 0 ? 2 * kernel.size * (kernel.f8 ? 1 : 2) / kernel.warp_rows : 0;
  const double us = ScoreUs(chip, context.constants,
                            {.flops = 4 * kernel.size,
                             .flops_per_clock = kernel.flops_per_clock,
                             .shared_bytes = shared,
                             // Each step multiplies the sums of the steps before.
                             .lane_operations = kernel.size / kernel.keys,
                             .spill_clocks = SpillClocks(context),
                             .f8 = kernel.f8});
  const bool slow = context.windowed && context.shape.rope && chip.wide_instructions && !chip.scaled_instructions;
  return us * (slow ? context.own.window_factor : 1);
}

// us of all blocks.
double BlocksUs(const Context& context) {
  const AttentionCall& shape = context.shape;
  const ContextKernel& kernel = context.kernel;
  const double tiles = std::ceil(shape.queries / kernel.queries);
  const double step = std::max(kernel.queries, kernel.keys);
  const double edges = (context.causal ? step / 2 : 0) + (context.windowed ? (kernel.queries + kernel.keys) / 2 : 0);
  const bool half = kernel.warp_rows <= 0 && shape.queries <= kRowsOfGroup;
  const double rows = kernel.queries * (half ? 0.5 : 1);
  double scores = Scores(shape, context.causal) + tiles * kernel.queries * edges * std::min(1.0, shape.keys / step);
  scores = std::max(scores, tiles * rows * std::min(kernel.keys, std::ceil(shape.keys / 16) * 16));
  const double heads = shape.batch * shape.heads;
  const double own_rows = std::min(kernel.queries, std::ceil(shape.queries / 16) * 16);
  const double start = context.own.block_clocks / (kernel.warp_rows > 0 || shape.cudnn ? kResidentBlocks : 1) +
                       context.own.element_clocks * kernel.size * own_rows / 128;
  return BlocksUs(context.chip,
                  {.heads = heads,
                   .count = heads * tiles,
                   .scores = scores,
                   .longest = rows * std::min(shape.keys, KeysSeen(shape) + edges),
                   .start_clocks = start},
                  ScoreUs(context));
}

// Bytes of each element and token: of the kernel before attention, of attention, and of all data that they touch.
struct Bytes {
  double before = 0, within = 0, touched = 0;
};

Bytes BytesOf(const Context& context) {
  const AttentionCall& shape = context.shape;
  const double heads = shape.heads, keys = shape.key_heads;
  const double written = shape.cache_write ? 2 * keys * CacheBytes(shape) : 0;
  // Hopper's and Blackwell's kernels read keys and values out of the cache (attention_backend/trtllm.py: forced on
  // sm_90), others those that are rotated in place.
  const bool paged = context.chip.wide_instructions;
  const double rotated = 4 * heads + (paged ? 4 : 8) * keys;
  return {.before = (context.kernel.library ? rotated
                     : shape.cache_write    ? 4 * keys
                                            : 0) +
                    written,
          .within = 4 * heads + 2 * keys * (context.kernel.f8 ? 1 : 2),
          .touched = 4 * (heads + keys) + written};
}

}  // namespace

double Scores(const AttentionCall& call, bool causal) {
  const double reach = KeysSeen(call);
  if (!causal) return call.queries * reach;
  const double first = call.keys - call.queries + 1;  // keys that the first query sees
  const double rising = std::clamp(reach - first, 0.0, call.queries);
  return rising * (2 * first + rising - 1) / 2 + (call.queries - rising) * reach;
}

double ContextUs(const Chip& chip, const Constants& constants, const AttentionCall& call) {
  Context context{.chip = chip,
                  .constants = constants,
                  .own = constants.context,
                  .shape = call,
                  .kernel = ContextKernelOf(chip, call),
                  .causal = call.phase == Phase::kContext,
                  .windowed = call.window > 0 && call.window < call.keys};
  const Bytes bytes = BytesOf(context);
  const double elements = call.batch * call.queries * call.head_size;
  if (SwapsHeads(chip, call)) {
    context.shape.queries = call.heads / call.key_heads;
    context.shape.heads = call.key_heads;
    context.causal = false;
  }
  const double us_of_byte = elements * UsOfByteBetween(chip, constants, elements * bytes.touched);
  return SoftMaximum(BlocksUs(context), us_of_byte * bytes.within, 3) + us_of_byte * bytes.before;
}

}  // namespace hespas::estimate::field
