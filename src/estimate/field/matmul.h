// Time of one matmul inside a CUDA graph: y[m,n] = x[m,k] w[n,k]^T, 16 bits in and out.
//
// - Nothing of the host is inside. 8- and 4-bit formats quantise x in the call.
// - The caller's weights rotate through as many copies as fill L2, five at most, as the measured tables have it.
//   So weights up to a fifth of L2 come out of L2, larger ones out of memory.
#pragma once

#include <span>

#include "estimate/field/chip.h"
#include "estimate/field/constants.h"

namespace hespas::estimate::field {

struct Matmul {
  Format format = Format::kF16;
  double m = 1, n = 1, k = 1;
  double groups = 1;     // matmuls of one kernel
  bool experts = false;  // their rows are gathered by routing
  // Rows of each of them, where they differ: those of all drawings, which take the mean.
  std::span<const double> loads;
  double drawings = 1;
  double weight_bytes = 0;  // of an element, where weights alone are narrower; 0: the format's
  bool in_step = false;     // of a model: the kernel before has quantised x, and other weights have left L2
  // Weights that are read until the same call comes again, its own among them; 0: copies, or those of a whole model.
  double weights_between = 0;
};

struct Time {
  double us = 0;
  double sigma_us = 0;
};

Time TimeOf(const Chip& chip, const Constants& constants, const Matmul& matmul);

// us from one kernel of a graph to the next.
double StartUs(const Chip& chip, const MatmulConstants& constants);

// us of each byte that one kernel writes and the next reads, with `touched` bytes of data between the two readings: out
// of L2 as far as it keeps them in the share that they have of it.
double UsOfByteBetween(const Chip& chip, const Constants& constants, double touched);

// 1/us: the clock at which the board's power suffices for so many 16-bit flops a clock. Its controller lets kernels
// exceed its power that take few `us`.
double PowerClock(const Chip& chip, const MatmulConstants& constants, double flops, double us);

// How sharply the rate of the datasheet turns into that of the board's power.
inline constexpr double kPowerSharpness = 8;

// Of a 16-bit flop at 1 GHz.
double FlopPicojoules(const Chip& chip, const MatmulConstants& constants);

}  // namespace hespas::estimate::field
