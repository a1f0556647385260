#include "estimate/ptx/block_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "estimate/ptx/lanes.h"

namespace hespas::estimate::ptx {
namespace {

constexpr int64_t kMostSteps = 20'000'000;  // of the warps of one block

// Cycles until a result can be used: Jia et al., Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking
// (2018); Sun et al., Dissecting Tensor Cores via Microbenchmarks (2022), m16n8k16; Luo et al., Benchmarking and
// Dissecting the Nvidia Hopper GPU Architecture (2024), global memory.
constexpr double kLatency[] = {33, 4, 8, 4, 20, 29, 479, 479, 20, 4};  // by Unit

class WarpRun {
 public:
  WarpRun(const Kernel& kernel, const Launch& launch, const Extent& at, int64_t first_thread)
      : kernel_(kernel), lanes_(kernel, launch, at, first_thread), ready_(kernel.register_bits.size()) {
    const int64_t threads = std::min<int64_t>(kWarp, Volume(launch.block) - first_thread);
    for (int lane = 0; lane < kWarp; ++lane) pc_[lane] = lane < threads ? 0 : kDone;
  }

  bool Step(Counts& counts) {
    const int pc = *std::min_element(pc_.begin(), pc_.end());
    if (pc >= static_cast<int>(kernel_.instructions.size())) {
      counts.latency_cycles = std::max({counts.latency_cycles, end_, region_start_ + issued_});
      return false;
    }
    const Instruction& instruction = kernel_.instructions[static_cast<size_t>(pc)];
    uint32_t there = 0;
    for (int lane = 0; lane < kWarp; ++lane) there |= pc_[lane] == pc ? 1u << lane : 0;
    const LaneSet guard = lanes_.Guard(instruction, there);
    Issue(instruction);
    Count(instruction, guard.known, counts);
    lanes_.Execute(instruction, guard);
    Advance(instruction, pc, there, guard, counts);
    return true;
  }

 private:
  static constexpr int kDone = std::numeric_limits<int>::max();

  // Between barriers and branches the assembler may order instructions as it likes, so each starts when its operands
  // are there; one issues a cycle.
  void Issue(const Instruction& instruction) {
    double start = region_start_;
    if (instruction.guard >= 0) start = std::max(start, ready_[static_cast<size_t>(instruction.guard)]);
    for (const Operand& operand : instruction.reads) {
      if (operand.kind == Operand::Kind::kRegister) start = std::max(start, ready_[static_cast<size_t>(operand.index)]);
    }
    const double latency = kLatency[static_cast<size_t>(instruction.unit)];
    for (const int32_t reg : instruction.writes) ready_[static_cast<size_t>(reg)] = start + latency;
    last_start_ = std::max(last_start_, start);
    end_ = std::max(end_, start + latency);
    ++issued_;
    const bool barrier = instruction.unit == Unit::kBarrier;
    if (!barrier && instruction.action != Action::kBranch) return;
    region_start_ = std::max(last_start_, region_start_ + issued_) + (barrier ? latency : 1);
    issued_ = 0;
  }

  void Count(const Instruction& instruction, uint32_t active, Counts& counts) {
    if (active == 0) return;
    counts.instructions[static_cast<size_t>(instruction.unit)] += 1;
    counts.tensor_flops += instruction.tensor_flops;
    counts.weighted_tensor_flops += instruction.tensor_flops * instruction.element_bits / 16;
    if (instruction.action != Action::kMemory) return;
    if (instruction.unit == Unit::kGlobal) counts.sectors += static_cast<double>(lanes_.Sectors(instruction, active));
    if (instruction.unit == Unit::kShared) {
      counts.wavefronts += static_cast<double>(lanes_.Wavefronts(instruction, active));
      counts.shared_bytes = std::max(counts.shared_bytes, lanes_.DynamicExtent(instruction, active));
    }
    if (instruction.to_shared) counts.wavefronts += instruction.bytes * std::popcount(active) / 128.0;
  }

  void Advance(const Instruction& instruction, int pc, uint32_t there, const LaneSet& guard, Counts& counts) {
    const bool leaves = instruction.action == Action::kExit, jumps = instruction.action == Action::kBranch;
    counts.guessed |= (leaves || jumps) && guard.unknown != 0;
    for (int lane = 0; lane < kWarp; ++lane) {
      if ((there >> lane & 1) == 0) continue;
      const bool taken = (guard.known >> lane & 1) != 0;
      pc_[lane] = taken && leaves ? kDone : taken && jumps ? instruction.target : pc + 1;
      if (jumps && instruction.target < 0) pc_[lane] = kDone;
    }
  }

  const Kernel& kernel_;
  Lanes lanes_;
  std::array<int, kWarp> pc_{};
  std::vector<double> ready_;
  double region_start_ = 0, issued_ = 0;  // since the last barrier or branch
  double last_start_ = 0, end_ = 0;       // of all instructions
};

Extent Unflatten(int64_t index, const Extent& grid) {
  return {index % grid[0], index / grid[0] % grid[1], index / grid[0] / grid[1]};
}

}  // namespace

double Counts::arithmetic() const {
  return at(Unit::kFloat) + at(Unit::kDouble) + at(Unit::kInteger) + at(Unit::kSpecial);
}

double Counts::memory() const { return at(Unit::kGlobal) + at(Unit::kShared) + at(Unit::kLocal); }

double Counts::all() const {
  double sum = 0;
  for (const double count : instructions) sum += count;
  return sum;
}

void Counts::Add(const Counts& other, double times) {
  for (size_t i = 0; i < instructions.size(); ++i) instructions[i] += times * other.instructions[i];
  tensor_flops += times * other.tensor_flops;
  weighted_tensor_flops += times * other.weighted_tensor_flops;
  sectors += times * other.sectors;
  wavefronts += times * other.wavefronts;
  shared_bytes = std::max(shared_bytes, other.shared_bytes);
  latency_cycles = std::max(latency_cycles, other.latency_cycles);
  guessed |= other.guessed;
}

Result<Counts> RunBlock(const Kernel& kernel, const Launch& launch, const Extent& at) {
  Counts counts;
  int64_t steps = 0;
  for (int64_t thread = 0; thread < Volume(launch.block); thread += kWarp) {
    WarpRun warp(kernel, launch, at, thread);
    while (warp.Step(counts)) {
      if (++steps > kMostSteps) {
        return MakeError(kEndlessKernel, fmt::format("`{}` runs more than {} instructions", kernel.name, kMostSteps));
      }
    }
  }
  return counts;
}

Result<Counts> MeanBlock(const Kernel& kernel, const Launch& launch) {
  const int64_t blocks = Volume(launch.grid);
  struct Sample {
    int64_t block;
    double share;
  };
  std::vector<Sample> samples = {{0, 1}};
  if (blocks > 1) samples.push_back({blocks - 1, 1});
  if (blocks > 2) samples.push_back({blocks / 2, static_cast<double>(blocks - 2)});
  Counts mean;
  for (const Sample& sample : samples) {
    const auto counts = RunBlock(kernel, launch, Unflatten(sample.block, launch.grid));
    if (!counts) return counts.error();
    mean.Add(*counts, sample.share / static_cast<double>(blocks));
  }
  return mean;
}

}  // namespace hespas::estimate::ptx
