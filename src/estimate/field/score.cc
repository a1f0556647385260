#include "estimate/field/score.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hespas::estimate::field {

double F8Speed(const Chip& chip) { return chip.f8_rate / chip.f16_rate; }

double ScoreUs(const Chip& chip, const Constants& constants, const Score& score) {
  constexpr double kBank = 128;  // bytes a clock of an SM's shared memory
  const ContextConstants& own = constants.context;
  const MatmulConstants& matmul = constants.matmul;
  const double product = score.flops / (score.flops_per_clock * own.matrix_fraction);
  const double softmax =
      own.exponential_share / chip.special_lanes + (own.lane_operations + score.lane_operations) / chip.lanes;
  double clocks = SoftMaximum(product, score.shared_bytes / kBank, own.overlap_power);
  clocks = SoftMaximum(clocks, softmax, own.overlap_power) + score.spill_clocks;
  const double narrow = score.f8 ? std::pow(F8Speed(chip), -constants.f8.power_exponent) : 1;
  // Of matmuls and softmax, as flops of a matmul.
  const double energy = score.flops * narrow / own.power_fraction + own.softmax_pj / FlopPicojoules(chip, matmul);
  const double clock = PowerClock(chip, matmul, chip.sms * energy / clocks, std::numeric_limits<double>::infinity());
  return SoftMaximum(clocks / chip.clock, clocks / clock, kPowerSharpness);
}

double BlocksUs(const Chip& chip, const Blocks& blocks, double score_us) {
  const double of_sm = blocks.count / chip.sms;
  double scores = blocks.heads * blocks.scores / chip.sms;
  if (of_sm > 1) scores += blocks.longest * std::exp(-of_sm / 4);  // unfinished when others are
  return std::max(scores, blocks.longest) * score_us + blocks.start_clocks / chip.clock * std::max(1.0, of_sm);
}

}  // namespace hespas::estimate::field
