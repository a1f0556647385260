// What one thread block of a kernel executes, counted by running its warps without data.
//
// - Integers that follow from thread and block indices are computed; what is loaded is unknown. So loops run as often
// as
//   they would, and addresses tell how accesses coalesce. A branch that depends on data is not taken, and is told.
// - A warp's lanes meet again where the program counter is smallest.
// - Latency: between barriers and branches instructions start when their operands are there, one a cycle.
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "estimate/ptx/kernel.h"

namespace hespas::estimate::ptx {

inline constexpr DiagnosticKind kEndlessKernel{
    "E0577", "A kernel runs too many instructions to be counted, or never ends.", Outcome::kToolFailed};

inline constexpr int kWarp = 32;

// Of warps; sectors have 32 bytes, a wavefront of shared memory up to 128.
struct Counts {
  std::array<double, 10> instructions{};  // by Unit
  double tensor_flops = 0;
  double weighted_tensor_flops = 0;  // as of 16-bit operands: 8-bit ones count half, 32-bit ones twice
  double sectors = 0;
  double wavefronts = 0;
  int64_t shared_bytes = 0;   // beyond which no access goes, of memory sized at the launch
  double latency_cycles = 0;  // of the slowest warp
  bool guessed = false;       // a branch depends on data

  double at(Unit unit) const { return instructions[static_cast<size_t>(unit)]; }
  double arithmetic() const;  // floating point, integer, logic, special functions
  double memory() const;      // loads and stores of any space but parameters and constants
  double all() const;
  void Add(const Counts& other, double times);  // latency and extent: the larger
};

struct Launch {
  Extent grid = {1, 1, 1};
  Extent block = {1, 1, 1};
  std::vector<uint64_t> constants;  // values of the parameters behind the pointers
};

// Of the block at `at`.
Result<Counts> RunBlock(const Kernel& kernel, const Launch& launch, const Extent& at);
// The mean block of a launch, from its first, middle and last.
Result<Counts> MeanBlock(const Kernel& kernel, const Launch& launch);

}  // namespace hespas::estimate::ptx
