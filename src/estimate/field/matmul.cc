#include "estimate/field/matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/block_floats.h"
#include "estimate/field/tiles.h"

namespace hespas::estimate::field {
namespace {

constexpr double kCopies = 5;         // of the weights, at most
constexpr double kShortestPart = 64;  // of a split contraction
constexpr double kPadding = 32;       // the contraction is padded to a multiple
constexpr double kResultBytes = 2;
constexpr double kMostParts = 16;
constexpr double kShortTransfer = 2.8e6;   // bytes that half of the latency of memory is waited for
constexpr double kWattPerPicojoule = 1e6;  // flop/us for each W / pJ
// Power grows with the clock to this: TSMC has N5 15 % faster than N7 at one power, or at 30 % less power and one clock
// (ln 1.43 / ln 1.15 = 2.55); N3E 18 % and 34 % beside N5 (2.51).
constexpr double kClockExponent = 2.5;
constexpr double kGigahertz = 1000;  // 1/us

// Of a model, whose other matmuls come before the same one again.
bool InModel(const Matmul& size) { return size.in_step && size.weights_between <= 0; }

double OperandBytes(Format format) {
  if (format == Format::kF16) return 2;
  return format == Format::kNvF4 ? kNvFp4Bytes : 1;
}

const FormatConstants* OwnOf(const Constants& constants, Format format) {
  switch (format) {
    case Format::kF8:
      return &constants.f8;
    case Format::kF8Block:
      return &constants.f8_block;
    case Format::kNvF4:
      return &constants.nvf4;
    default:
      return nullptr;
  }
}

bool HasNarrowWeights(const Matmul& size) { return size.weight_bytes > 0 && size.weight_bytes < 1; }  // 4 bits

// 4-bit weights that lanes widen to 16 bits.
bool Widens(const Matmul& size) { return size.experts && size.format == Format::kF16 && HasNarrowWeights(size); }

// PTX ISA 8.8: `wgmma` and `mma` take widened weights from registers, so that only matrix instructions wait for the
// lanes; `tcgen05.mma` takes them from shared memory, through which each weight passes once more.
bool WidensInShared(const Chip& chip) { return chip.wide_instructions && chip.scaled_instructions; }

double ExpertFactor(const Chip& chip, const ExpertConstants& constants, const Matmul& size) {
  if (size.format == Format::kNvF4) return constants.nvf4;
  return Widens(size) && WidensInShared(chip) ? constants.widened_f4_in_shared : 1;
}

double Extent(double x) { return std::isfinite(x) ? std::clamp(x, 1.0, 1e9) : 1.0; }

double SoftSum(double a, double b, double c, double power) {
  const double largest = std::max({a, b, c});
  if (!(largest > 0)) return 0;
  const double sum = std::pow(a / largest, power) + std::pow(b / largest, power) + std::pow(c / largest, power);
  return largest * std::pow(sum, 1 / power);
}

struct Traffic {
  double memory = 0, l2 = 0;  // bytes
};

// How often weights come out of memory. TensorRT-LLM (deep_gemm/scheduler.cuh) runs the tiles of 16 columns at once, so
// that 132 multiprocessors have up to eight rows of tiles of each. Those of one length read weights together; where the
// last is shorter, they drift apart, by the share that it lacks (H100's fp8_block rows).
double Readings(const Tiling& tiling, const Matmul& size) {
  constexpr double kMost = 8;
  const double rows = tiling.tiles.front().m;
  const double tiles = std::ceil(size.m / rows);
  if (!tiling.drifts || tiles > kMost) return 1;
  return 1 + (tiles - 1) * (tiles - size.m / rows);
}

Traffic TrafficOf(const Chip& chip, const Tiling& tiling, const Matmul& size) {
  const double bytes = OperandBytes(size.format);
  const double weight_bytes = size.weight_bytes > 0 ? size.weight_bytes : bytes;
  const double weights = size.groups * size.n * size.k * weight_bytes;
  const double inputs = size.groups * size.m * size.k * bytes;
  const double results = size.groups * size.m * size.n * kResultBytes;
  const double l2 = std::max(1.0, chip.l2_bytes);
  const double copies = std::clamp(std::ceil(l2 / weights), 1.0, kCopies);
  const double between = size.weights_between > 0 ? size.weights_between * weight_bytes : copies * weights;
  const double warm = InModel(size) ? 0 : KeptInTurn(chip, between + inputs + results);
  const double left = 1 - KeptInTurn(chip, weights + inputs + results);  // of what each call touches again
  const double columns = tiling.fixed ? std::ceil(size.n / tiling.tiles.front().n) : 1;
  const double again = (columns - 1) * (1 - KeptInTurn(chip, inputs));
  const double read = weights * Readings(tiling, size);
  Traffic traffic;
  traffic.memory = read * (1 - warm) + inputs * (left + again) + results * left;
  traffic.l2 = std::max(0.0, read + inputs + results - traffic.memory);
  return traffic;
}

double QuantiseUs(const Chip& chip, const Constants& constants, const FormatConstants& own, const Matmul& size) {
  constexpr double kInputBytes = 2;
  const double elements = size.m * size.k;
  const double touched = elements * (kInputBytes + OperandBytes(size.format));
  return own.start_us + own.start_clocks / chip.clock +
         elements * own.passes_bytes * UsOfByteBetween(chip, constants, touched);
}

// us of a block's operands out of L2, if all multiprocessors read.
double FeedUs(const Chip& chip, const Tiling& tiling, const Tile& tile, double depth) {
  const double read = tile.m * tiling.inputs_read + tile.n;
  return read * depth / (chip.sms * chip.clock * tiling.feed_bytes);
}

// What tiles share: rates of the device and us of its memory.
struct Rates {
  double whole = 0;  // flop/us of the device
  double flops_per_clock = 0;
  double move_us = 0;
};

Rates RatesOf(const Chip& chip, const Constants& constants, const Matmul& size, const Traffic& traffic) {
  const MatmulConstants& shared = constants.matmul;
  const bool waits = Widens(size) && !WidensInShared(chip);
  const double scale = waits ? 1 / constants.experts.widened_f4 : 1;
  const double ratio = chip.Rate(size.format) / chip.f16_rate;
  // Peaks of some datasheets are stated at less than the highest clock.
  const double peak = ratio * std::max(chip.f16_rate, chip.sms * chip.clock * chip.flops_per_clock);
  const double unlimited = peak * scale;
  const double energy = std::pow(ratio, -constants.f8.power_exponent);
  // A model's steps load the board for as long as there is work, so that no kernel of theirs is a short one to it.
  const double alone = 2 * size.groups * size.m * size.n * size.k / unlimited;
  const double us = InModel(size) ? std::numeric_limits<double>::infinity() : alone;
  const double flops = chip.sms * chip.flops_per_clock * ratio;
  const double power = flops * PowerClock(chip, shared, flops * energy, us);
  const double bandwidth = chip.bandwidth * shared.memory_fraction;
  const double cache = std::max(chip.sms * chip.clock * shared.l2_bytes_per_clock, bandwidth);
  return {.whole =
              std::pow(std::pow(unlimited, -kPowerSharpness) + std::pow(power, -kPowerSharpness), -1 / kPowerSharpness),
          .flops_per_clock = peak / (chip.sms * chip.clock) * scale,
          .move_us = traffic.memory / bandwidth + traffic.l2 / cache};
}

// Clocks of a step of the matmuls of experts.
double ExpertStepClocks(const Chip& chip, const Constants& constants, const Tiling& tiling, const Tile& tile,
                        const Matmul& size, double flops_per_clock) {
  if (chip.wide_instructions || tiling.sequential) {
    return StepClocks(chip, constants.matmul, tiling, tile, flops_per_clock);
  }
  // Four warps have a quarter of the tile each, and read its operands for themselves.
  constexpr double kFewest = 16, kBank = 128;  // rows of a matrix instruction; bytes a clock of shared memory
  const double m = std::max(kFewest, tile.m / 2), n = std::max(kFewest, tile.n / 2);
  const double read = (m + n) * (tile.m * tile.n / (m * n)) * OperandBytes(size.format) * kStep;
  return 2 * kStep * tile.m * tile.n / flops_per_clock + constants.experts.shared_reads * read / kBank;
}

// Tiles of a column of tiles.
double TileRows(const Matmul& size, double tile) {
  if (size.loads.empty()) return size.groups * std::ceil(size.m / tile);
  double rows = 0;
  for (const double load : size.loads) rows += std::ceil(load / tile);
  return rows / size.drawings;
}

// us of the fastest tile.
double TiledUs(const Chip& chip, const Constants& constants, const Tiling& tiling, const Matmul& size,
               const Rates& rates) {
  const MatmulConstants& shared = constants.matmul;
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : tiling.tiles) {
    const double tiles = TileRows(size, tile.m) * std::ceil(size.n / tile.n);
    const double step = (size.experts ? ExpertStepClocks(chip, constants, tiling, tile, size, rates.flops_per_clock)
                                      : StepClocks(chip, shared, tiling, tile, rates.flops_per_clock)) /
                        kStep;
    const double writing = tile.m * tile.n * kResultBytes / shared.epilogue_bytes + tiling.tile_clocks;
    for (double parts = 1; parts <= (tiling.splits && !size.experts ? kMostParts : 1); parts *= 2) {
      const double blocks = tiles * parts;
      if (parts > 1 && (blocks > 2 * chip.sms || size.k < kShortestPart * parts)) break;
      const double depth = std::ceil(size.k / (parts * kPadding)) * kPadding + shared.fill;
      const double waves = std::max(1.0, std::ceil(blocks / chip.sms));
      double whole = 2 * blocks * tile.m * tile.n * depth / rates.whole;
      if (tiling.feed_bytes > 0) whole = std::max(whole, blocks * FeedUs(chip, tiling, tile, size.k));
      const double us =
          SoftSum(waves * (depth * step + writing) / chip.clock, whole, rates.move_us, shared.overlap_power);
      best = std::min(best, us + (parts > 1 ? shared.split_us : 0));
    }
  }
  return best;
}

}  // namespace

double StartUs(const Chip& chip, const MatmulConstants& constants) { return constants.start_clocks / chip.clock; }

double UsOfByteBetween(const Chip& chip, const Constants& constants, double touched) {
  const double kept = KeptInCache(touched / std::max(1.0, constants.context.cache_share * chip.l2_bytes));
  const double bandwidth = chip.bandwidth * constants.matmul.memory_fraction;
  const double cache = std::max(chip.sms * chip.clock * constants.context.l2_bytes_per_clock, bandwidth);
  return kept / cache + (1 - kept) / bandwidth;
}

double FlopPicojoules(const Chip& chip, const MatmulConstants& constants) {
  return constants.pj_per_flop * (chip.wide_instructions ? 1 : constants.register_energy);
}

double PowerClock(const Chip& chip, const MatmulConstants& constants, double flops, double us) {
  if (!(chip.watts > 0)) return std::numeric_limits<double>::infinity();
  const double above = constants.burst * constants.burst_us / (constants.burst_us + us);
  const double watts = std::max(1.0, chip.watts * (1 + above) - chip.idle_watts);
  const double at_gigahertz = flops * kGigahertz * FlopPicojoules(chip, constants) / kWattPerPicojoule;
  return kGigahertz * std::pow(watts / at_gigahertz, 1 / kClockExponent);
}

Time TimeOf(const Chip& chip, const Constants& constants, const Matmul& matmul) {
  const MatmulConstants& shared = constants.matmul;
  const FormatConstants* own = OwnOf(constants, matmul.format);
  Matmul size = matmul;
  for (double* extent : {&size.m, &size.n, &size.k, &size.groups}) *extent = Extent(*extent);
  const Tiling tiling = TilingOf(chip, constants, size);
  const Traffic traffic = TrafficOf(chip, tiling, size);
  double us = TiledUs(chip, constants, tiling, size, RatesOf(chip, constants, size, traffic));
  if (size.experts) us *= ExpertFactor(chip, constants.experts, size);
  us += StartUs(chip, shared) + shared.latency_clocks / chip.clock * traffic.memory / (traffic.memory + kShortTransfer);
  if (own != nullptr && !size.in_step) us += QuantiseUs(chip, constants, *own, size);
  return {.us = us, .sigma_us = us * (own != nullptr ? own->sigma : shared.sigma)};
}

}  // namespace hespas::estimate::field
