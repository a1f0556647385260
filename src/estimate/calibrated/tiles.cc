#include "estimate/calibrated/tiles.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hespas::estimate::calibrated {
namespace {

constexpr double kShortestPart = 64;  // of a split contraction

double Power(double x, bool sharp) {
  x *= x;
  x *= x;
  return sharp ? x * x : x;
}

double Root(double x, bool sharp) {
  x = std::sqrt(std::sqrt(x));
  return sharp ? std::sqrt(x) : x;
}

struct Candidate {
  double waves_us = 0;  // arithmetic of the fullest SM
  double rate_us = 0;   // arithmetic at the device's sustained rate
  double l2_us = 0;
  double apart_us = 0;  // what nothing hides: launch, stores, reduction of the parts
  double store_us = 0;
};

Candidate Try(const TileModel& model, const MatmulSize& size, const Tile& tile, double tiles, double parts) {
  const double blocks = tiles * parts;
  const double waves = std::max(1.0, std::ceil(blocks / model.sms));
  const double k = std::ceil(size.k / (parts * model.k_step)) * model.k_step;
  const double work = 2 * tile.m * tile.n * k * size.slowdown;
  Candidate candidate;
  candidate.waves_us = waves * work / tile.sm_rate;
  candidate.rate_us = blocks * work / tile.device_rate;
  candidate.l2_us = blocks * (tile.m + tile.n) * k * size.operand_bytes / (model.sms * model.l2_rate);
  candidate.store_us = waves * tile.m * tile.n * size.result_bytes / model.store_rate;
  candidate.apart_us = model.launch_us + candidate.store_us;
  if (parts > 1) candidate.apart_us += 4 * size.b * size.m * size.n * (parts + 1) / (model.sms * model.l2_rate);
  return candidate;
}

// Every tile with every number of parts that its size allows.
template <class Take>
void EachTiling(const TileModel& model, const MatmulSize& size, const Take& take) {
  for (size_t i = 0; i < model.tile_count; ++i) {
    const Tile& tile = model.tiles[i];
    const double tiles = size.b * std::ceil(size.m / tile.m) * std::ceil(size.n / tile.n);
    for (double parts = 1; parts <= size.splits; parts *= 2) {
      if (parts > 1 && (tiles * parts > 2 * model.sms || size.k < kShortestPart * parts)) break;
      take(Try(model, size, tile, tiles, parts));
    }
  }
}

bool IsNoBetter(const Tiling& a, const Tiling& b) {
  return a.waves_us >= b.waves_us && a.rate_us >= b.rate_us && a.l2_us >= b.l2_us && a.apart_us >= b.apart_us;
}

}  // namespace

std::vector<Tiling> TilingsOf(const TileModel& model, const MatmulSize& size) {
  std::vector<Tiling> tilings;
  EachTiling(model, size, [&](const Candidate& c) {
    const Tiling tiling{c.waves_us, c.rate_us, c.l2_us, c.apart_us - model.launch_us};
    if (std::ranges::any_of(tilings, [&](const Tiling& other) { return IsNoBetter(tiling, other); })) return;
    std::erase_if(tilings, [&](const Tiling& other) { return IsNoBetter(other, tiling); });
    tilings.push_back(tiling);
  });
  return tilings;
}

TileTraffic TrafficOf(const TileModel& model, const MatmulSize& size) {
  const double all = size.b * ((size.m + size.n) * size.k * size.operand_bytes + size.m * size.n * size.result_bytes);
  const double bytes = size.moved > 0 ? std::min(size.moved, all) : all;
  const double held = std::min(bytes, model.l2_bytes);
  return {.held_us = held / model.memory_rate, .rest_us = (bytes - held) / model.long_rate};
}

MatmulTime BestTiling(const TileModel& model, const MatmulSize& size) {
  const TileTraffic traffic = TrafficOf(model, size);
  const double memory_us = traffic.held_us + traffic.rest_us;
  MatmulTime best{.us = std::numeric_limits<double>::infinity(), .memory_us = memory_us};
  EachTiling(model, size, [&](const Candidate& c) {
    const double largest = std::max(std::max(c.waves_us, c.rate_us), std::max(c.l2_us, memory_us));
    if (largest + c.apart_us >= best.us || !(largest > 0)) return;
    const double scale = 1 / largest;  // keeps the powers in range
    const double sum = Power(c.waves_us * scale, model.sharp) + Power(c.rate_us * scale, model.sharp) +
                       Power(c.l2_us * scale, model.sharp) + Power(memory_us * scale, model.sharp);
    const double us = largest * Root(sum, model.sharp) + c.apart_us;
    if (us >= best.us) return;
    best = {.us = us,
            .compute_us = std::max(c.waves_us, c.rate_us),
            .l2_us = c.l2_us,
            .memory_us = memory_us,
            .store_us = c.apart_us - model.launch_us};
  });
  if (!std::isfinite(best.us)) best.us = model.launch_us;  // nothing to multiply
  return best;
}

}  // namespace hespas::estimate::calibrated
