#include "estimate/field/generation.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hespas::estimate::field {
namespace {

constexpr double kLargestGroup = 32;  // query heads of a key head that a block takes; from the rows of H100, L40S, B200
constexpr double kHopperRows = 16;  // from so many query heads of over 128 elements Hopper's own kernels are not taken
constexpr double kTcgenFlops = 8192;  // flop a clock of an SM with tcgen05
constexpr double kRows = 16;          // of a tile of mma.sync (PTX: m16n8k16)
constexpr double kShortest = 256;     // keys from which a sequence is split, its window or not

struct Call {
  const Chip& chip;
  const GenerationConstants& own;
  const AttentionCall& shape;
  GenerationKernel kernel;
  double blocks = 1;
  double rows = 1;      // query heads of a block
  double elements = 1;  // keys and values that all blocks read
  double width = 1;     // head size as stored in registers and shared memory: a power of two

  bool Is(GenerationKernel other) const { return kernel == other; }
  double clocks() const { return chip.sms * chip.clock; }  // of all SMs, 1/us
  double bandwidth() const { return chip.bandwidth * own.memory_fraction; }
};

Call Make(const Chip& chip, const GenerationConstants& own, const AttentionCall& shape) {
  Call call{.chip = chip, .own = own, .shape = shape, .kernel = KernelOf(chip, shape)};
  const double readers = call.Is(GenerationKernel::kLanes) ? shape.heads : shape.key_heads;
  call.blocks = shape.batch * readers;
  call.rows = shape.heads / readers;
  call.elements = 2 * call.blocks * KeysSeen(shape) * shape.head_size;
  call.width = static_cast<double>(std::bit_ceil(static_cast<uint64_t>(std::ceil(shape.head_size))));
  return call;
}

// Clocks of an SM for a block that reads next to nothing; blocks beside it are counted in.
double BlockClocks(const Call& call) {
  const GenerationConstants& own = call.own;
  const bool f8 = call.shape.f8_cache;
  switch (call.kernel) {
    case GenerationKernel::kLanes:
      return own.lanes_clocks * (f8 && !call.chip.wide_instructions ? own.lanes_narrow_f8 : 1) +
             own.lanes_element_clocks * call.width;
    case GenerationKernel::kGeneral:
      return own.general_clocks + own.general_element_clocks * call.width * (f8 ? own.general_f8 : 1) +
             own.general_tile_clocks * (std::ceil(call.rows / kRows) - 1);
    case GenerationKernel::kWide:
      return own.wide_clocks + own.byte_clocks * call.width * CacheBytes(call.shape) +
             own.wide_row_clocks * (call.rows - 1);
    case GenerationKernel::kFlash2:
      return own.flash_clocks + own.byte_clocks * call.width * CacheBytes(call.shape) +
             own.flash_row_clocks * (call.rows - 1);
  }
  return 0;
}

double MoveUs(const Call& call, double bytes, double kept) {
  return MoveUs(call.chip, bytes, call.bandwidth(), call.own.l2_bytes_per_clock, kept);
}

// us of turning an 8-bit cache into 16 bits: one block leaves a part of an SM idle.
double ConvertUs(const Call& call) {
  if (!call.shape.f8_cache) return 0;
  const GenerationConstants& own = call.own;
  if (call.Is(GenerationKernel::kGeneral)) return call.elements / own.general_f8_per_clock / call.clocks();
  if (!call.Is(GenerationKernel::kLanes)) return 0;
  const bool wide = call.chip.wide_instructions;
  const double alone = wide ? own.wide_f8_alone : own.narrow_f8_alone;
  const double together = wide ? own.wide_f8_per_clock : own.narrow_f8_per_clock;
  return call.elements / std::min(together, alone * (1 + call.blocks / call.chip.sms)) / call.clocks();
}

// byte a clock of a block in kernels that never split a sequence, else 0. FlashAttention 2 splits only where query
// heads share a key head (csrc/flash_attn/flash_api.cpp, mha_varlen_fwd); XQA with an 8-bit cache: the rows of L40S.
double UnsplitRate(const Call& call) {
  if (call.Is(GenerationKernel::kFlash2) && call.rows <= 1) return call.own.flash_block_bytes;
  const bool narrow = call.Is(GenerationKernel::kGeneral) && call.shape.f8_cache && !call.chip.wide_instructions;
  return narrow ? call.own.general_block_bytes : 0;
}

}  // namespace

GenerationKernel KernelOf(const Chip& chip, const AttentionCall& call) {
  if (call.ungrouped) return GenerationKernel::kLanes;
  if (!call.rope) return chip.wide_instructions ? GenerationKernel::kWide : GenerationKernel::kFlash2;
  const double group = call.heads / call.key_heads;
  if (group > kLargestGroup) return GenerationKernel::kLanes;
  if (chip.flops_per_clock >= kTcgenFlops) return GenerationKernel::kWide;
  if (group <= 1) return GenerationKernel::kLanes;
  const bool hopper = chip.wide_instructions && call.f8_cache && (call.head_size <= 128 || group < kHopperRows);
  return hopper ? GenerationKernel::kWide : GenerationKernel::kGeneral;
}

double GenerationUs(const Chip& chip, const GenerationConstants& own, const AttentionCall& shape) {
  const Call call = Make(chip, own, shape);
  const double bytes = CacheBytes(shape);
  const double unique = 2 * shape.batch * shape.key_heads * KeysSeen(shape) * shape.head_size * bytes;
  double stream = std::max(MoveUs(call, unique, shape.in_step ? 0 : KeptInTurn(chip, unique)), ConvertUs(call));
  // L2 is as fast as memory, at least.
  const double shared = std::max(2 * call.clocks() * own.l2_bytes_per_clock, call.bandwidth());
  stream = std::max(stream, call.elements * bytes / shared);
  const double unsplit = UnsplitRate(call);
  double merge = 0;
  if (unsplit > 0) {
    stream = std::max(stream, 2 * KeysSeen(shape) * call.width * bytes / (unsplit * chip.clock));
  } else if (call.blocks < chip.sms && shape.keys > kShortest) {
    merge = (call.Is(GenerationKernel::kWide) ? own.wide_merge_clocks : own.merge_clocks) / chip.clock;
  }
  const double starts = call.blocks * BlockClocks(call) / call.clocks();
  const double rows = shape.batch * shape.heads * shape.head_size * own.row_bytes;
  return SoftMaximum(stream, starts, own.overlap_power) + MoveUs(call, rows, KeptInTurn(chip, rows)) + merge;
}

}  // namespace hespas::estimate::field
