// A device's figures in the model's units (us, byte/us, flop/us), with the guesses for those that are unknown.
#pragma once

#include <array>

#include "estimate/calibrated/kernel.h"
#include "estimate/calibrated/parameters.h"
#include "hardware/device.h"

namespace hespas::estimate::calibrated {

// Of what is lost of the memory's bandwidth, by its share for each SM. V100 and A100-40 alone would allow 1; the
// published 86.5 % of A100-80 asks for less.
inline constexpr double kShareExponent = 0.75;

struct Machine {
  double sms = 1;
  double clock = 1;        // per us
  double memory_rate = 1;  // byte/us
  double sm_share = 9;     // of it, byte/clock of one SM; where its SMs are not known, what is usual
  double l2_bytes = 0;
  double fast_bytes = 0;      // shared memory and L1 of one SM
  double lanes = 64;          // FP32 lanes of one SM
  double special_lanes = 16;  // of one SM, for reciprocals and exponentials
  double issue_lanes = 128;   // of one SM, that its schedulers can start an instruction for in a clock
  double issue_share =
      0.5;           // lanes an issued instruction feeds / lanes that can start one: 1 leaves no free issue slot
  double tdp_w = 0;  // 0: unlimited
  double process_nm = 7;
  bool gddr = false;
  std::array<double, kDatatypes> matrix_rate = {};  // flop/us of the device
  std::array<double, kDatatypes> vector_rate = {};
  std::array<double, kDatatypes> sm_matrix_rate = {};  // of one SM at boost clock
  std::array<bool, kDatatypes> tensor = {};            // dots run on matrix units
  std::array<bool, kDatatypes> named = {};             // the device file gives a rate for the type itself
  std::array<bool, kDatatypes> rated = {};             // or one for a wider type
  double other_rate = 1;                               // flop/us, of types that no table names
  bool tpu = false;
  bool tf32_dots = false;  // dots of f32 may run as TF32 by the compiler's defaults
};

Machine MakeMachine(const hardware::Device& device);

// Of memory, as long transfers sustain it, byte/us: the faster it is for each SM's clock, the less of it do the loads
// that an SM has under way keep busy (Little's law).
double SustainedMemoryRate(const Machine& machine, const MemoryConstants& memory);

// Whose constants a kernel follows on this machine: matmuls on matrix units are "gemm", whatever a table calls them.
std::string_view FamilyOnMachine(const KernelSpec& kernel, const Machine& machine);

// `parameters` for links that lead from each device to each other: there an all-reduce is a reduce-scatter and an
// all-gather, one after the other, each with its launch, its messages and half of the bytes.
Parameters OnMesh(Parameters parameters);

// `parameters` with the device's own constants and uncertainties put in ("gemm.launch_us", "all-reduce.hop_us",
// "bmm.sigma", ...), on a mesh where its links are one.
Parameters ForDevice(const Parameters& parameters, const hardware::Device& device);

}  // namespace hespas::estimate::calibrated
