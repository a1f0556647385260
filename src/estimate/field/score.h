// What kernels of attention and of its gradients share: the time of a score, and of the blocks that compute them.
#pragma once

#include "estimate/field/attention.h"

namespace hespas::estimate::field {

// Blocks of an SM, with mma.sync and of cuDNN (64 rows in its kernels' names): each hides the other's start and end.
inline constexpr double kResidentBlocks = 2;

struct Score {
  double flops = 0;            // of its matmuls
  double flops_per_clock = 1;  // of an SM
  double shared_bytes = 0;     // that mma.sync takes out of shared memory
  double lane_operations = 0;  // beside the softmax
  double spill_clocks = 0;     // of registers that move to L2 and back
  bool f8 = false;             // type of the matmuls
};

// Of an SM's matmuls in 8 bits over those in 16.
double F8Speed(const Chip& chip);

// us on one SM: matmuls, shared memory and softmax overlap in part, within the board's power.
double ScoreUs(const Chip& chip, const Constants& constants, const Score& score);

struct Blocks {
  double heads = 1;         // of all batches
  double count = 1;         // of all heads
  double scores = 0;        // of a head
  double longest = 0;       // scores of the longest block
  double start_clocks = 0;  // of each
};

// us without memory.
double BlocksUs(const Chip& chip, const Blocks& blocks, double score_us);

}  // namespace hespas::estimate::field
