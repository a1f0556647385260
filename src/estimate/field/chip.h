// What the field model needs of a device: rates of its multiprocessors, memory, cache and power.
#pragma once

#include "hardware/device.h"

namespace hespas::estimate::field {

// Number formats of the measured kernels. The last two are 8- and 4-bit floats with a scale for each block of elements.
enum class Format : uint8_t { kF16, kF8, kF8Block, kNvF4 };

struct Chip {
  double sms = 1;
  double clock = 1000;   // 1/us
  double bandwidth = 1;  // byte/us
  double l2_bytes = 0;
  double watts = 0;  // 0: not limited
  double idle_watts = 0;
  double flops_per_clock = 4096;  // of one SM, 16-bit floats
  double special_lanes = 16;      // of one SM
  double lanes = 128;             // of one SM
  double f16_rate = 1;            // flop/us
  double f8_rate = 1;
  double f4_rate = 1;
  bool wide_instructions = false;    // matrix instructions of a whole warp group or more, operands in shared memory
  bool scaled_instructions = false;  // that multiply by scales of blocks
  bool small_tiles = false;          // shared memory is too small for large tiles of attention
  bool split_cache = false;          // each half of L2 keeps what its multiprocessors read
  bool fixed_block_tile = false;     // the library has one tile for matmuls with scales of blocks

  double Rate(Format format) const;
};

// Part of data read in turn that a cache keeps, if it replaces lines at random: a line survives with exp(-evictions /
// lines), and each miss evicts one. `times`: how often the data fill the cache.
double KeptInCache(double times);

// Part of data read in turn that L2 keeps from one time to the next: all of data below its size, nothing of more. Each
// half of a split one keeps what its multiprocessors read, so that data begin to leave at half of its size.
double KeptInTurn(const Chip& chip, double bytes);

Chip MakeChip(const hardware::Device& device);

}  // namespace hespas::estimate::field
