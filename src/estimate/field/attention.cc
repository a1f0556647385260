#include "estimate/field/attention.h"

#include <algorithm>
#include <cmath>

#include "base/block_floats.h"
#include "estimate/field/backward.h"
#include "estimate/field/context.h"
#include "estimate/field/generation.h"

namespace hespas::estimate::field {
namespace {

double Extent(double x) { return std::isfinite(x) ? std::clamp(x, 1.0, 1e9) : 1.0; }

AttentionCall Clean(AttentionCall call) {
  for (double* value : {&call.batch, &call.queries, &call.keys, &call.heads, &call.key_heads, &call.head_size}) {
    *value = Extent(*value);
  }
  call.window = std::isfinite(call.window) && call.window > 0 ? call.window : 0;
  // A context's tokens are among its keys; an encoder may look at fewer, as a step of ring attention does.
  if (call.phase != Phase::kEncoder) call.keys = std::max(call.keys, call.queries);
  call.key_heads = std::min(call.key_heads, call.heads);
  return call;
}

}  // namespace

double SoftMaximum(double a, double b, double power) {
  const double largest = std::max(a, b);
  if (!(largest > 0)) return 0;
  return largest * std::pow(1 + std::pow(std::min(a, b) / largest, power), 1 / power);
}

double KeysSeen(const AttentionCall& call) { return call.window > 0 ? std::min(call.window, call.keys) : call.keys; }

double CacheBytes(const AttentionCall& call) { return call.f4_cache ? kNvFp4Bytes : call.f8_cache ? 1 : 2; }

double MoveUs(const Chip& chip, double bytes, double bandwidth, double l2_bytes_per_clock, double kept) {
  const double cache = std::max(chip.sms * chip.clock * l2_bytes_per_clock, bandwidth);
  return bytes * (kept / cache + (1 - kept) / bandwidth);
}

Time TimeOf(const Chip& chip, const Constants& constants, const AttentionCall& row) {
  const AttentionCall call = Clean(row);
  const bool generation = call.phase == Phase::kGeneration;
  const double work = generation      ? GenerationUs(chip, constants.generation, call)
                      : call.backward ? BackwardUs(chip, constants, call)
                                      : ContextUs(chip, constants, call);
  const bool measured = call.dispatch_us > 0 && std::isfinite(call.dispatch_us);
  double us = work + (measured ? call.dispatch_us : StartUs(chip, constants.matmul));
  if (measured && generation) us = SoftMaximum(work, call.dispatch_us, constants.generation.dispatch_power);
  return {.us = us, .sigma_us = us * (generation ? constants.generation.sigma : constants.context.sigma)};
}

}  // namespace hespas::estimate::field
