#include "estimate/field/context_kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "estimate/field/score.h"

namespace hespas::estimate::field {
namespace {

constexpr double kContraction = 16;  // of a contraction of matrix instructions (PTX: m16n8k16, tcgen05.mma)
constexpr double kSmall = 64;        // prompts up to it take plain kernels
constexpr double kLarge = 256;       // head sizes from which sm_8x and sm_12x take tiled kernels, too
constexpr double kSwizzle = 128;     // bytes, to which TMA pads a row of a tile
constexpr double kOldFlops = 1024;   // flop a clock of mma.sync on SMs with tcgen05: as sm_120, the same generation
constexpr double kFlashRows = 16, kFlashWideRows = 32;  // of a warp

double Up(double x, double step) { return std::ceil(x / step) * step; }

// FlashAttention 2, by head size. GPUs with little shared memory have smaller tiles.
void TakeFlash2(const Chip& chip, const AttentionCall& call, ContextKernel& kernel) {
  const bool causal = call.phase == Phase::kContext;
  const bool smaller = chip.small_tiles && call.head_size > 64 && (causal || call.head_size > 128);
  kernel.queries = smaller ? 64 : 128;
  kernel.keys = call.head_size <= 64 ? 128 : chip.small_tiles && call.head_size > 96 && !causal ? 32 : 64;
  kernel.warp_rows = smaller || call.head_size > 128 ? kFlashRows : kFlashWideRows;
}

void TakePlainOrTiled(const Chip& chip, const AttentionCall& call, ContextKernel& kernel) {
  kernel.queries = 64;
  if (kernel.f8) {
    if (call.head_size <= 64) kernel.queries = 128;
    kernel.keys = call.head_size <= 64 ? 128 : 32;
    kernel.holds_operands = true;
  } else if (call.keys > kSmall && (call.head_size >= kLarge || !chip.small_tiles)) {
    if (call.head_size <= 64) kernel.queries = 128;
  } else {
    kernel.keys = call.head_size <= 128 ? 32 : 16;
    kernel.holds_operands = call.head_size < kLarge;
  }
  kernel.warp_rows = kernel.queries / 4;
}

// FlashAttention 3, under a causal mask.
void TakeFlash3(const AttentionCall& call, ContextKernel& kernel) {
  kernel.queries = call.head_size <= 96 ? 192 : 128;
  kernel.keys = call.head_size <= 192 ? 128 : 80;
}

void TakeWarpGroups(const AttentionCall& call, ContextKernel& kernel) {
  const auto power_of_two = static_cast<double>(std::bit_ceil(static_cast<uint64_t>(std::ceil(call.head_size))));
  kernel.size = std::min(Up(call.head_size, kSwizzle / (kernel.f8 ? 1 : 2)), power_of_two);
  if (kernel.f8) {
    kernel.keys = call.head_size <= 128 ? 256 : 128;
  } else {
    kernel.keys = call.head_size <= 64 ? 256 : call.head_size <= 128 ? 128 : 64;
  }
}

}  // namespace

ContextKernel ContextKernelOf(const Chip& chip, const AttentionCall& call) {
  ContextKernel kernel{.size = Up(call.head_size, kContraction), .flops_per_clock = chip.flops_per_clock};
  // TensorRT-LLM multiplies in 8 bits where the cache has 8 and the device's instructions take both.
  kernel.f8 = call.f8 || (call.phase == Phase::kContext && call.f8_cache && chip.wide_instructions);
  if (kernel.f8) kernel.flops_per_clock *= F8Speed(chip);
  kernel.library = !call.cudnn && (call.rope || call.phase == Phase::kEncoder);
  if (chip.wide_instructions && !chip.scaled_instructions) {
    kernel.library ? TakeWarpGroups(call, kernel) : TakeFlash3(call, kernel);
  } else if (!chip.wide_instructions) {
    kernel.library ? TakePlainOrTiled(chip, call, kernel) : TakeFlash2(chip, call, kernel);
  } else if (std::fmod(call.head_size, kContraction) != 0) {  // no kernel of trtllm-gen
    kernel.queries = 64;
    kernel.warp_rows = kernel.queries / 4;
    kernel.flops_per_clock = kOldFlops;
  }
  return kernel;
}

}  // namespace hespas::estimate::field
