// The shared constants of the field model, from data/models/field.json, which has their units, meaning and fits.
//
// - None belongs to a device: what differs between devices follows from their files.
#pragma once

#include "base/result.h"

namespace hespas::estimate::field {

inline constexpr DiagnosticKind kBadFieldConstants{
    "E0568", "The field model's constants (data/models/field.json) lack one, or one is not a positive number."};

struct MatmulConstants {
  double start_us = 0;  // of a kernel inside a graph
  double start_clocks = 0;
  double sm_fraction = 0;           // of an SM's peak rate, by a tile without edges
  double tile_half = 0;             // tile extent that reaches half of it
  double fill = 0;                  // elements of the contraction that filling and draining a tile's pipeline costs
  double device_fraction = 0;       // of the device's peak rate
  double memory_fraction = 0;       // of the memory bandwidth
  double latency_clocks = 0;        // of the first and last accesses to memory
  double l2_bytes_per_clock = 0;    // of one SM, data that L2 holds
  double split_us = 0;              // of summing the parts of a split contraction
  double board_watts = 0;           // not available to the matrix units
  double pj_per_flop = 0;           // 16-bit floats, 4 nm, 4,096 flop a clock of one SM
  double instruction_exponent = 0;  // energy falls with the work of one clock to this power
  double process_exponent = 0;      // and grows with the process to this one
  double power_us = 0;              // for which the board may exceed its power
  double sigma = 0;                 // relative, devices left out
};

// A format's own: quantising the activations inside the call, and what the scales leave of the rate.
struct FormatConstants {
  double start_us = 0;
  double start_clocks = 0;
  double passes_bytes = 0;    // moved for each element of the activations
  double rate_fraction = 0;   // of the matmul constants' rates
  double power_exponent = 0;  // of the rate's ratio to 16 bits, for the flops that a watt buys
  double sigma = 0;
};

struct ContextConstants {
  double rate_fraction = 0;      // of the peak rate
  double power_fraction = 0;     // of the rate that the board's power allows a matmul
  double exponential_share = 0;  // of the special units' time for one exponential a score that is not emulated
  double lane_operations = 0;    // of a score
  double overlap_power = 0;      // how sharply the longer of matmul and softmax hides the other
  double block_clocks = 0;       // of a block's start and end
  double tail = 0;               // of the longest block, unfinished when the others are
  double legacy_fraction = 0;    // of the rate, on the largest units, for head sizes that they cannot take
  double memory_fraction = 0;
  double l2_bytes_per_clock = 0;
  double rope_share = 0;  // of rotary embedding and cache write that the kernel does not hide
  double dispatch_power = 0;
  double sigma = 0;
};

struct GenerationConstants {
  double memory_fraction = 0;
  double l2_bytes_per_clock = 0;
  double block_clocks = 0;       // of a request and key head
  double lone_block_clocks = 0;  // of a request and query head, where a group is too large for a block
  double group_limit = 0;
  double convert_per_clock = 0;  // 8-bit cache elements of one SM without wide instructions
  double dispatch_power = 0;
  double sigma = 0;
};

// Experts of a layer share a kernel; time over that of matmuls of the same sizes, by what is multiplied.
struct ExpertConstants {
  double f16 = 1;
  double f8 = 1;
  double f8_block = 1;
  double nvf4 = 1;
  double widened_f4 = 1;  // 4-bit weights, 16-bit activations
  double f4_by_f8 = 1;    // 4-bit weights, 8-bit activations
};

struct Constants {
  MatmulConstants matmul;
  ExpertConstants experts;
  FormatConstants f8, f8_block, nvf4;
  ContextConstants context;
  GenerationConstants generation;
};

Result<Constants> ReadConstants(std::string_view text, const std::string& file);

// The shipped file; read once.
const Result<Constants>& DefaultConstants();

}  // namespace hespas::estimate::field
