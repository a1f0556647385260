#include "estimate/field/tiles.h"

#include <algorithm>
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

// DeepGEMM, heuristics/sm90.hpp and sm100.hpp: one side is fixed, the other a multiple of a step; either may be rows.
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

const std::vector<Tile>& BlockScaledTiles(const Chip& chip) {
  static const std::vector<Tile> hopper = DeepGemmTiles({64, 128}, 16, 128);
  static const std::vector<Tile> blackwell = DeepGemmTiles({128}, 32, 256);
  if (chip.fixed_block_tile) return kFixed;
  return chip.scaled_instructions ? blackwell : hopper;
}

}  // namespace

Tiling TilingOf(const Chip& chip, const Constants& constants, Format format, bool experts) {
  switch (format) {
    case Format::kF8Block:
      return {.tiles = BlockScaledTiles(chip),
              .sequential = chip.fixed_block_tile || !chip.scaled_instructions,
              .fixed = chip.fixed_block_tile,
              .least_step_clocks = constants.f8_block.step_clocks,
              .promotion = chip.scaled_instructions ? 0 : constants.f8_block.promotion};
    case Format::kNvF4:
      return {.tiles = experts ? kFourBitsOfExperts : kFourBits, .least_step_clocks = constants.nvf4.step_clocks};
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
