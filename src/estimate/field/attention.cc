#include "estimate/field/attention.h"

#include <algorithm>
#include <cmath>

#include "estimate/field/generation.h"

namespace hespas::estimate::field {
namespace {

constexpr double kTile = 128;      // queries and keys of a block's tiles (FlashAttention 2 and 3, cuDNN)
constexpr double kShortTile = 64;  // of kernels with mma.sync, for prompts that are no longer (TensorRT-LLM's fmha_v2)
constexpr double kShared = 2;      // blocks with mma.sync that an SM runs at once: each hides the other's start and end
constexpr double kSizeStep = 32;   // head sizes are padded to a multiple
constexpr double kLargeSize = 128;  // above it to 256, where the library has no kernel between (rows of H100 and L40S)
constexpr double kLargest = 256;
constexpr double kLegacyUnit = 8192;  // flop a clock of an SM from which a matrix instruction takes 16 elements of a
                                      // contraction at least (PTX tcgen05.mma: K of 16 for 16-bit types)
constexpr CacheFit kFit{.warm = 1.2, .spread = 0.7};

double Extent(double x) { return std::isfinite(x) ? std::clamp(x, 1.0, 1e9) : 1.0; }

AttentionCall Clean(AttentionCall call) {
  for (double* value : {&call.batch, &call.queries, &call.keys, &call.heads, &call.key_heads, &call.head_size}) {
    *value = Extent(*value);
  }
  call.window = std::isfinite(call.window) && call.window > 0 ? call.window : 0;
  call.keys = std::max(call.keys, call.queries);
  call.key_heads = std::min(call.key_heads, call.heads);
  return call;
}

// Scores under the mask, of one head.
double Scores(const AttentionCall& call) {
  const double reach = KeysSeen(call);
  if (call.phase == Phase::kEncoder) return call.queries * reach;
  const double first = call.keys - call.queries + 1;  // keys that the first query sees
  const double rising = std::clamp(reach - first, 0.0, call.queries);
  return rising * (2 * first + rising - 1) / 2 + (call.queries - rising) * reach;
}

// us of one score on one SM, of matmuls and softmax.
double ScoreUs(const Chip& chip, const Constants& constants, const AttentionCall& call) {
  const ContextConstants& own = constants.context;
  const bool causal = call.phase == Phase::kContext;
  // TensorRT-LLM multiplies in 8 bits where the cache has 8 and the device's instructions take both.
  const bool f8 = call.f8 || (causal && call.f8_cache && chip.wide_instructions);
  const double peak = f8 ? chip.f8_rate : chip.f16_rate;
  double rate = peak * own.rate_fraction * (f8 ? own.f8_fraction : 1);
  if (chip.flops_per_clock >= kLegacyUnit && std::fmod(call.head_size, 16) != 0) rate *= own.legacy_fraction;
  const double power = PowerRate(chip, constants.matmul, 1e12) * own.power_fraction * peak / chip.f16_rate;
  rate = std::pow(std::pow(rate, -4) + std::pow(power, -4), -0.25) / chip.sms;
  double padded = std::ceil(call.head_size / kSizeStep) * kSizeStep;
  if (padded > kLargeSize && padded < kLargest && f8 == chip.wide_instructions) padded = kLargest;
  const double softmax = (own.exponential_share / chip.special_lanes + own.lane_operations / chip.lanes) / chip.clock;
  double us = SoftMaximum(4 * padded / rate, softmax, own.overlap_power);
  if (f8 && !chip.wide_instructions) {
    us = std::max(us, own.narrow_f8_clocks / chip.clock);
    if (padded >= kLargest) us *= own.narrow_f8_large;
  }
  return us * (causal && !call.rope && !chip.wide_instructions ? own.flash_factor : 1);
}

double ContextUs(const Chip& chip, const Constants& constants, const AttentionCall& call) {
  const ContextConstants& own = constants.context;
  const bool short_tile = !chip.wide_instructions && (chip.small_tiles || call.queries <= kShortTile);
  const double tile = short_tile ? kShortTile : kTile;
  const double tiles = std::ceil(call.queries / tile);
  const bool windowed = call.window > 0 && call.window < call.keys;
  const double edges = (call.phase == Phase::kContext ? 0.5 : 0) + (windowed ? 0.5 : 0);
  double scores = Scores(call) + tiles * tile * tile * edges * std::min(1.0, call.keys / tile);
  scores = std::max(scores, tiles * tile * std::min(tile, std::ceil(call.keys / 16) * 16));
  const double heads = call.batch * call.heads;
  const double blocks = heads * tiles;
  const double longest = tile * std::min(call.keys, KeysSeen(call) + tile * edges);
  double of_sm = heads * scores / chip.sms;
  if (blocks > chip.sms) of_sm += own.tail * longest * std::exp(-blocks / chip.sms / 4);
  const double block_clocks =
      own.block_clocks / (chip.wide_instructions ? 1 : kShared) + (windowed ? own.window_clocks : 0);
  const double work = std::max(of_sm, longest) * ScoreUs(chip, constants, call) +
                      block_clocks / chip.clock * std::max(1.0, blocks / chip.sms);
  const double rows = call.batch * call.queries * call.head_size;
  const double bandwidth = chip.bandwidth * own.memory_fraction;
  const double moved = MoveUs(chip, rows * 4 * (call.heads + call.key_heads), bandwidth, own.l2_bytes_per_clock, kFit);
  double before = 0;
  if (call.rope) before += rows * 4 * (call.heads + call.key_heads);
  if (call.cache_write) before += rows * 2 * call.key_heads * CacheBytes(call) * (call.rope ? 1 : 2);
  return SoftMaximum(work, moved, 3) + own.rope_share * MoveUs(chip, before, bandwidth, own.l2_bytes_per_clock, kFit);
}

}  // namespace

double SoftMaximum(double a, double b, double power) {
  const double largest = std::max(a, b);
  if (!(largest > 0)) return 0;
  return largest * std::pow(1 + std::pow(std::min(a, b) / largest, power), 1 / power);
}

double KeysSeen(const AttentionCall& call) { return call.window > 0 ? std::min(call.window, call.keys) : call.keys; }

double CacheBytes(const AttentionCall& call) { return call.f8_cache ? 1 : 2; }

double MoveUs(const Chip& chip, double bytes, double bandwidth, double l2_bytes_per_clock, CacheFit fit) {
  const double hot = std::clamp((fit.warm - bytes / std::max(1.0, chip.l2_bytes)) / fit.spread, 0.0, 1.0);
  const double cache = std::max(chip.sms * chip.clock * l2_bytes_per_clock, bandwidth);
  return bytes * (hot / cache + (1 - hot) / bandwidth);
}

Time TimeOf(const Chip& chip, const Constants& constants, const AttentionCall& row) {
  const AttentionCall call = Clean(row);
  const bool generation = call.phase == Phase::kGeneration;
  const double work = generation ? GenerationUs(chip, constants.generation, call) : ContextUs(chip, constants, call);
  const double power = generation ? constants.generation.dispatch_power : constants.context.dispatch_power;
  const bool measured = call.dispatch_us > 0 && std::isfinite(call.dispatch_us);
  const double us = measured ? SoftMaximum(work, call.dispatch_us, power) : work + StartUs(chip, constants.matmul);
  return {.us = us, .sigma_us = us * (generation ? constants.generation.sigma : constants.context.sigma)};
}

}  // namespace hespas::estimate::field
