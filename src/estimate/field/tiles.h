// Tiles of matmul kernels, and how long a block of threads takes for one.
//
// - A block's contraction goes in steps of 128 elements. A step takes the time of the matrix units, or at least that of
//   its accesses. Where lanes add the sum of each step to the result (scales of blocks), these times add up.
#pragma once

#include <span>

#include "estimate/field/matmul.h"

namespace hespas::estimate::field {

constexpr double kStep = 128;  // elements of a contraction's step

struct Tile {
  double m, n;
};

// A kernel of the library with its tiles.
struct Tiling {
  std::span<const Tile> tiles;  // of a table that stays
  bool splits = false;          // the contraction, among blocks
  bool sequential = false;      // no step's parts overlap those of the next
  bool fixed = false;           // one tile; blocks of a column of tiles follow each other
  bool drifts = false;          // blocks of a column of tiles that differ in length read operands apart
  // Of operands a clock that an SM takes out of L2 while all do; 0: steps have it already.
  double feed_bytes = 0;
  double inputs_read = 1;  // of its tile's, by each block: of a pair half, where it shares them
  double least_step_clocks = 0;
  double tile_clocks = 0;  // of a tile's start and end
  double promotion = 0;    // operations of the lanes for each element of a tile and step
};

Tiling TilingOf(const Chip& chip, const Constants& constants, const Matmul& size);

// Clocks of a step.
double StepClocks(const Chip& chip, const MatmulConstants& constants, const Tiling& tiling, Tile tile,
                  double flops_per_clock);

}  // namespace hespas::estimate::field
