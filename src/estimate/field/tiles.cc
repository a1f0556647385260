#include "estimate/field/tiles.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

namespace hespas::estimate::field {
namespace {

// Of cuBLAS and CUTLASS. One of 256 x 256 does not exist: its sums would fill an SM's registers (65,536 of 32 bits,
// CUDA C++ Programming Guide), and with `tcgen05` half of tensor memory, which holds the sums of two tiles.
const std::vector<Tile> kLibrary = {{64, 64},   {64, 128},  {128, 64}, {128, 128}, {64, 256}, {256, 64},
                                    {128, 256}, {256, 128}, {32, 64},  {64, 32},   {32, 128}, {128, 32},
                                    {16, 64},   {16, 128},  {64, 16},  {128, 16}};
// cuBLAS on Hopper and Blackwell has others between these, as profilers show by its kernels' names: nvjet_tst_192x192,
// 192x128, 256x96.
const std::vector<Tile> kWideLibrary = [] {
  std::vector<Tile> tiles = kLibrary;
  for (const Tile& tile : {Tile{64, 96}, Tile{64, 192}, Tile{128, 96}, Tile{128, 192}, Tile{192, 64}, Tile{192, 96},
                           Tile{192, 128}, Tile{192, 192}, Tile{256, 96}}) {
    tiles.push_back(tile);
  }
  return tiles;
}();
// Of CUTLASS with 4-bit operands, a multiprocessor's part of a pair.
const std::vector<Tile> kFourBits = {{128, 32}, {128, 64}, {128, 128}, {128, 192}, {128, 256}, {256, 128}};
// Rows of experts may be the short side (TensorRT-LLM's moe_gemm, `swap_ab`).
const std::vector<Tile> kFourBitsOfExperts = {{16, 128},  {32, 128},  {64, 128},  {128, 64},
                                              {128, 128}, {128, 192}, {128, 256}, {256, 128}};
// TensorRT-LLM, fp8_blockscale_gemm_kernel.cuh.
const std::vector<Tile> kFixed = {{32, 128}};

// DeepGEMM: one side is fixed, the other a multiple of a step; either may be rows (heuristics/sm100.hpp).
std::vector<Tile> DeepGemmTiles(std::initializer_list<double> sides, double step, double largest) {
  std::vector<Tile> tiles;
  for (const double side : sides) {
    for (double other = step; other <= largest; other += step) {
      tiles.push_back({side, other});
      tiles.push_back({other, side});
    }
  }
  return tiles;
}

// TensorRT-LLM, fp8_blockscale_gemm_kernel.cuh (gemm_dispatch) and deep_gemm/compiler.cuh (get_best_gemm_config): of 32
// rows and more, 64 or 128 a tile, and as many columns as give the fewest waves and the fullest last one; of fewer,
// rows and columns change places. From 1,024 rows on, pairs of blocks share what they read of them where whole tiles of
// two fill the columns; where both have changed places, the condition is of fewer than 32 and never true.
void PutHopperTile(const Chip& chip, const Matmul& size, Tiling& tiling) {
  constexpr double kSwapped = 32, kSmall = 64, kColumns = 8, kFirst = 16, kLast = 128, kPairs = 1024;
  static const std::vector<Tile> tiles = DeepGemmTiles({64, 128}, kColumns, kLast);
  const bool swapped = size.m < kSwapped;
  const double rows = swapped ? size.n : size.m, columns = swapped ? size.m : size.n;
  const double side = rows <= kSmall ? 64 : 128;
  double best = 0, best_waves = 0, best_last = 0;
  for (double other = kFirst; other <= kLast; other += kColumns) {
    const double blocks = size.groups * std::ceil(rows / side) * std::ceil(columns / other);
    const double waves = std::ceil(blocks / chip.sms);
    const double last = blocks - (waves - 1) * chip.sms;
    if (best > 0 && (waves > best_waves || (waves == best_waves && last <= best_last))) continue;
    best = other, best_waves = waves, best_last = last;
  }
  const double index = 2 * ((side > kSmall ? kLast / kColumns : 0) + best / kColumns - 1) + (swapped ? 1 : 0);
  tiling.tiles = std::span(tiles).subspan(static_cast<size_t>(index), 1);
  const bool pairs = !size.experts && size.groups <= 1 && size.m >= kPairs && std::fmod(size.n, 2 * best) == 0;
  if (pairs && std::fmod(chip.sms, 2) == 0) tiling.inputs_read = 0.5;
  tiling.drifts = !swapped;  // H100's rows of 17 tokens read weights once
}

// Bytes a clock that the steps of 16 bits have by `full_extent` (StepClocks), whose pairs of blocks share operands
// in clusters: alone, an SM takes half of them.
double FeedAlone(const Chip& chip, const MatmulConstants& constants) {
  constexpr double kBytes = 2, kShared = 0.5;
  return kShared * kBytes * chip.flops_per_clock / constants.full_extent;
}

// Of formats with scales of blocks.
Tiling BlockScaledTiling(const Chip& chip, const Constants& constants, const Matmul& size) {
  static const std::vector<Tile> blackwell = DeepGemmTiles({128}, 32, 256);
  Tiling tiling{.least_step_clocks = constants.f8_block.step_clocks, .tile_clocks = constants.f8_block.tile_clocks};
  tiling.promotion = chip.scaled_instructions ? 0 : constants.f8_block.promotion;
  tiling.sequential = chip.fixed_block_tile || !chip.scaled_instructions;
  if (chip.fixed_block_tile) {
    tiling.tiles = kFixed;
    tiling.fixed = true;
    tiling.feed_bytes = constants.f8_block.feed_bytes;
  } else if (chip.scaled_instructions) {
    tiling.tiles = blackwell;
  } else {
    PutHopperTile(chip, size, tiling);
    tiling.feed_bytes = FeedAlone(chip, constants.matmul);
  }
  return tiling;
}

}  // namespace

Tiling TilingOf(const Chip& chip, const Constants& constants, const Matmul& size) {
  switch (size.format) {
    case Format::kF8Block:
      return BlockScaledTiling(chip, constants, size);
    case Format::kNvF4:
      return {.tiles = size.experts ? kFourBitsOfExperts : kFourBits,
              .least_step_clocks = constants.nvf4.step_clocks,
              .tile_clocks = constants.nvf4.tile_clocks};
    default:
      return {.tiles = chip.wide_instructions ? kWideLibrary : kLibrary, .splits = true};
  }
}

double StepClocks(const Chip& chip, const MatmulConstants& constants, const Tiling& tiling, Tile tile,
                  double flops_per_clock) {
  const double area = tile.m * tile.n;
  const double matrix = 2 * kStep * area / flops_per_clock;
  if (tiling.sequential) return matrix + tiling.promotion * area / chip.lanes + tiling.least_step_clocks;
  const double extent = 2 * area / (tile.m + tile.n);
  return std::max(matrix * constants.full_extent / extent, tiling.least_step_clocks);
}

}  // namespace hespas::estimate::field
