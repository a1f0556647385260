// Time of a matmul cut into tiles: the best of a few tile sizes and splits of the contraction.
//
// - Waves of tiles over the SMs, sustained rate, operands out of L2 and memory are combined softly; each wave's
//   results are stored exposed (spec device-model section 2.1).
// - Never slower with more SMs, a higher clock, peak or bandwidth.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

namespace hespas::estimate::calibrated {

struct Tile {
  double m = 0, n = 0;
  double sm_rate = 0;      // flop/us of one SM on this tile
  double device_rate = 0;  // flop/us of all of them, sustained
};

struct TileModel {
  static constexpr size_t kMaxTiles = 16;
  std::array<Tile, kMaxTiles> tiles;
  size_t tile_count = 0;
  double fastest_rate = 0;  // flop/us of the device on the best of them; on lanes only
  double sms = 1;
  double launch_us = 0;
  double l2_rate = 1;      // byte/us of one SM
  double store_rate = 1;   // byte/us of one SM
  double memory_rate = 1;  // byte/us of the device
  double long_rate = 1;    // the same, of what L2 could not hold
  double l2_bytes = 0;     // capacity
  double k_step = 32;      // the contraction is padded to a multiple
  bool sharp = true;       // eighth-power combination, else fourth
  double throttled = 0;    // e-folds that the board's power takes from the rate; already in the rates above
};

struct MatmulSize {
  double b = 1, m = 1, n = 1, k = 1;
  double operand_bytes = 2;  // of one element
  double result_bytes = 2;
  double slowdown = 1;  // of arithmetic
  double moved = 0;     // bytes between memory and L2; 0: both operands and the result, once
  int splits = 1;       // most parts of the contraction: 1, 2, 4, 8 or 16
};

struct MatmulTime {
  double us = 0;
  double compute_us = 0;
  double l2_us = 0;
  double memory_us = 0;
  double store_us = 0;
};

// One way to cut a matmul, without its launch and its memory traffic.
struct Tiling {
  double waves_us = 0;  // arithmetic of the fullest SM
  double rate_us = 0;   // arithmetic at the device's sustained rate
  double l2_us = 0;
  double apart_us = 0;  // stores and the reduction of parts, which nothing hides
};
// Those that can be the best at other rates of arithmetic or memory.
std::vector<Tiling> TilingsOf(const TileModel& model, const MatmulSize& size);
// Memory traffic: what L2 can hold, and the rest.
struct TileTraffic {
  double held_us = 0;
  double rest_us = 0;
};
TileTraffic TrafficOf(const TileModel& model, const MatmulSize& size);

MatmulTime BestTiling(const TileModel& model, const MatmulSize& size);

}  // namespace hespas::estimate::calibrated
