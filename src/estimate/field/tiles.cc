#include "estimate/field/tiles.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

namespace hespas::estimate::field {
namespace {

// Of cuBLAS and CUTLASS.
const std::vector<Tile> kLibrary = {{64, 64},   {64, 128},  {128, 64},  {128, 128}, {64, 256}, {256, 64},
                                    {128, 256}, {256, 128}, {256, 256}, {32, 64},   {64, 32},  {32, 128},
                                    {128, 32},  {16, 64},   {16, 128},  {64, 16},   {128, 16}};
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
// rows and columns change places.
std::span<const Tile> HopperTile(const Chip& chip, const Matmul& size) {
  constexpr double kSwapped = 32, kSmall = 64, kColumns = 8, kFirst = 16, kLast = 128;
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
  return std::span(tiles).subspan(static_cast<size_t>(index), 1);
}

std::span<const Tile> BlockScaledTiles(const Chip& chip, const Matmul& size) {
  static const std::vector<Tile> blackwell = DeepGemmTiles({128}, 32, 256);
  if (chip.fixed_block_tile) return kFixed;
  return chip.scaled_instructions ? blackwell : HopperTile(chip, size);
}

}  // namespace

Tiling TilingOf(const Chip& chip, const Constants& constants, const Matmul& size) {
  switch (size.format) {
    case Format::kF8Block:
      return {.tiles = BlockScaledTiles(chip, size),
              .sequential = chip.fixed_block_tile || !chip.scaled_instructions,
              .fixed = chip.fixed_block_tile,
              .drifts = !chip.fixed_block_tile && !chip.scaled_instructions,
              .least_step_clocks = constants.f8_block.step_clocks,
              .tile_clocks = constants.f8_block.tile_clocks,
              .promotion = chip.scaled_instructions ? 0 : constants.f8_block.promotion};
    case Format::kNvF4:
      return {.tiles = size.experts ? kFourBitsOfExperts : kFourBits,
              .least_step_clocks = constants.nvf4.step_clocks,
              .tile_clocks = constants.nvf4.tile_clocks};
    default:
      return {.tiles = kLibrary, .splits = true};
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
