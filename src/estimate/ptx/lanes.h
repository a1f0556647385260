// Registers of one warp: a value a lane, known or not.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "estimate/ptx/block_run.h"

namespace hespas::estimate::ptx {

struct LaneSet {
  uint32_t known = 0;    // that execute, or whose value is known
  uint32_t unknown = 0;  // of whose guard nothing is known
};

class Lanes {
 public:
  Lanes(const Kernel& kernel, const Launch& launch, const Extent& at, int64_t first_thread);

  // Of the lanes that stand there, those that the guard lets through. Only branches treat unknown guards as closed.
  LaneSet Guard(const Instruction& instruction, uint32_t there) const;
  void Execute(const Instruction& instruction, const LaneSet& guard);

  int64_t Sectors(const Instruction& instruction, uint32_t active) const;     // of 32 bytes, touched
  int64_t Wavefronts(const Instruction& instruction, uint32_t active) const;  // passes, by bank conflicts
  int64_t DynamicExtent(const Instruction& instruction, uint32_t active) const;

 private:
  struct Values {
    std::array<uint64_t, kWarp> of{};
    uint32_t known = 0;
  };
  Values Read(const Operand& operand) const;
  Values Addresses(const Instruction& instruction) const;
  uint64_t Compute(const Instruction& instruction, const std::vector<Values>& reads, int lane) const;
  uint32_t ActiveOf(const Instruction& instruction, const std::vector<Values>& reads, uint32_t active) const;

  const Kernel& kernel_;
  const Launch& launch_;
  std::array<std::array<uint64_t, kWarp>, 13> special_{};
  std::vector<Values> registers_;
};

}  // namespace hespas::estimate::ptx
