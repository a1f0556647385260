#include "estimate/field/matmul.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hespas::estimate::field {
namespace {

struct Tile {
  double m, n;
};
// Of cuBLAS and CUTLASS.
constexpr Tile kTiles[] = {{64, 64},   {64, 128},  {128, 64},  {128, 128}, {64, 256}, {256, 64},
                           {128, 256}, {256, 128}, {256, 256}, {32, 64},   {64, 32},  {32, 128},
                           {128, 32},  {16, 64},   {16, 128},  {64, 16},   {128, 16}};
constexpr double kCopies = 5;         // of the weights, at most
constexpr double kShortestPart = 64;  // of a split contraction
constexpr double kStep = 32;          // the contraction is padded to a multiple
constexpr double kMostParts = 16;
constexpr double kFull = 1.03, kEdge = 0.06;  // of L2: nothing stays beyond kFull, everything below kFull - kEdge
constexpr double kKept = 0.5;                 // of L2, what inputs and results may take and stay
constexpr double kShortTransfer = 2.8e6;      // bytes that half of the latency of memory is waited for
constexpr double kWattPerPicojoule = 1e6;     // flop/us for each W / pJ
constexpr double kSharpness = 6;

double OperandBytes(Format format) {
  if (format == Format::kF16) return 2;
  return format == Format::kNvF4 ? 0.5625 : 1;  // 4 bits and a byte for sixteen elements
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

double ExpertFactor(const ExpertConstants& constants, const Matmul& size) {
  const bool narrow = size.weight_bytes > 0 && size.weight_bytes < 1;  // 4 bits
  switch (size.format) {
    case Format::kF8:
      return narrow ? constants.f4_by_f8 : constants.f8;
    case Format::kF8Block:
      return constants.f8_block;
    case Format::kNvF4:
      return constants.nvf4;
    default:
      return narrow ? constants.widened_f4 : constants.f16;
  }
}

double Extent(double x) { return std::isfinite(x) ? std::clamp(x, 1.0, 1e9) : 1.0; }

double SoftSum(double a, double b, double c) {
  const double largest = std::max({a, b, c});
  if (!(largest > 0)) return 0;
  const double sum =
      std::pow(a / largest, kSharpness) + std::pow(b / largest, kSharpness) + std::pow(c / largest, kSharpness);
  return largest * std::pow(sum, 1 / kSharpness);
}

struct Traffic {
  double memory = 0, l2 = 0;  // bytes
};

Traffic TrafficOf(const Chip& chip, const Matmul& size) {
  const double bytes = OperandBytes(size.format);
  const double weights = size.groups * size.n * size.k * (size.weight_bytes > 0 ? size.weight_bytes : bytes);
  const double inputs = size.groups * size.m * size.k * bytes;
  const double results = size.groups * size.m * size.n * 2;
  const double l2 = std::max(1.0, chip.l2_bytes);
  const double copies = std::clamp(std::ceil(l2 / weights), 1.0, kCopies);
  const double filled = (copies * weights + inputs + results) / l2;
  const double warm = size.in_step ? 0 : std::clamp((kFull - filled) / kEdge, 0.0, 1.0);
  Traffic traffic;
  traffic.memory = weights * (1 - warm) + std::max(0.0, inputs - kKept * l2) + std::max(0.0, results - kKept * l2);
  traffic.l2 = weights + inputs + results - traffic.memory;
  return traffic;
}

double QuantiseUs(const Chip& chip, const Constants& constants, const FormatConstants& own, const Matmul& size) {
  constexpr double kWarm = 1.2, kSpread = 0.7;  // of L2
  const double bytes = size.m * size.k * own.passes_bytes;
  const double bandwidth = chip.bandwidth * constants.matmul.memory_fraction;
  const double hot = std::clamp((kWarm - bytes / std::max(1.0, chip.l2_bytes)) / kSpread, 0.0, 1.0);
  const double cache = std::max(1.5 * chip.sms * chip.clock * constants.matmul.l2_bytes_per_clock, bandwidth);
  return own.start_us + own.start_clocks / chip.clock + bytes * (hot / cache + (1 - hot) / bandwidth);
}

}  // namespace

double StartUs(const Chip& chip, const MatmulConstants& constants) {
  return constants.start_us + constants.start_clocks / chip.clock;
}

double PowerRate(const Chip& chip, const MatmulConstants& constants, double us) {
  if (!(chip.watts > 0)) return std::numeric_limits<double>::infinity();
  const double watts = chip.watts * (1 + constants.power_us / std::max(1.0, us)) - constants.board_watts;
  const double pj = constants.pj_per_flop * std::pow(chip.flops_per_clock / 4096, -constants.instruction_exponent) *
                    std::pow(chip.process_nm / 4, constants.process_exponent);
  return std::max(watts, 1.0) / pj * kWattPerPicojoule;
}

Time TimeOf(const Chip& chip, const Constants& constants, const Matmul& matmul) {
  const MatmulConstants& shared = constants.matmul;
  const FormatConstants* own = OwnOf(constants, matmul.format);
  Matmul size = matmul;
  for (double* extent : {&size.m, &size.n, &size.k, &size.groups}) *extent = Extent(*extent);
  const double scale = own != nullptr ? own->rate_fraction : 1;
  const double peak = chip.Rate(size.format);
  const double unlimited = peak * shared.device_fraction * scale;
  const double power = PowerRate(chip, shared, 2 * size.groups * size.m * size.n * size.k / unlimited) *
                       std::pow(peak / chip.f16_rate, own != nullptr ? own->power_exponent : 1);
  const double rate = std::pow(std::pow(unlimited, -8) + std::pow(power, -8), -1.0 / 8);
  const double sm_rate = peak / chip.sms * shared.sm_fraction * scale;
  const double bandwidth = chip.bandwidth * shared.memory_fraction;
  const Traffic traffic = TrafficOf(chip, size);
  const double l2_us = traffic.l2 / std::max(chip.sms * chip.clock * shared.l2_bytes_per_clock, bandwidth);
  double best = std::numeric_limits<double>::infinity();
  for (const Tile& tile : kTiles) {
    const double tiles = size.groups * std::ceil(size.m / tile.m) * std::ceil(size.n / tile.n);
    for (double parts = 1; parts <= kMostParts; parts *= 2) {
      const double blocks = tiles * parts;
      if (parts > 1 && (blocks > 2 * chip.sms || size.k < kShortestPart * parts)) break;
      const double extent = 2 * tile.m * tile.n / (tile.m + tile.n);
      const double work = 2 * tile.m * tile.n * (std::ceil(size.k / (parts * kStep)) * kStep + shared.fill);
      const double waves = std::max(1.0, std::ceil(blocks / chip.sms));
      const double us = SoftSum(waves * work / sm_rate * (1 + shared.tile_half / extent), blocks * work / rate,
                                traffic.memory / bandwidth + l2_us);
      best = std::min(best, us + (parts > 1 ? shared.split_us : 0));
    }
  }
  if (size.experts) best *= ExpertFactor(constants.experts, size);
  best +=
      StartUs(chip, shared) + shared.latency_clocks / chip.clock * traffic.memory / (traffic.memory + kShortTransfer);
  if (own != nullptr && !size.in_step) best += QuantiseUs(chip, constants, *own, size);
  return {.us = best, .sigma_us = best * (own != nullptr ? own->sigma : shared.sigma)};
}

}  // namespace hespas::estimate::field
