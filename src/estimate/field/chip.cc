#include "estimate/field/chip.h"

#include <algorithm>
#include <cmath>

namespace hespas::estimate::field {
namespace {

// FlashAttention 2, flash_fwd_launch_template.h: tiles of 64 queries on sm_86 and sm_89, whose 100 KiB hold no more;
// 128 on sm_80, which has 164 KiB.
constexpr int64_t kLargeTileBytes = 128 * 1024;
// Of the board's power, where its file states no idle power: as of H100 (70 of 700 W), B200 (100 of 1,000 W) and L40S
// (35 of 350 W).
constexpr double kIdle = 0.1;

double RateOf(const hardware::Device& device, const char* type, double missing) {
  const auto own = device.matrix_flops.find(type);
  if (own != device.matrix_flops.end()) return own->second.value * 1e-6;
  const auto found = device.per_datatype_flops.find(type);
  return found == device.per_datatype_flops.end() ? missing : found->second.value * 1e-6;
}

// PTX ISA 8.8: `wgmma` belongs to sm_90, `tcgen05` to sm_100 to sm_110; all others multiply with `mma.sync`.
bool HasWideInstructions(const std::string& architecture) {
  return architecture.starts_with("sm_90") || architecture.starts_with("sm_10") || architecture.starts_with("sm_11");
}

// PTX ISA 8.8: `tcgen05.mma` and sm_120's `mma` take `.block_scale`.
bool HasScaledInstructions(const std::string& architecture) {
  return architecture.starts_with("sm_10") || architecture.starts_with("sm_11") || architecture.starts_with("sm_12");
}

// TensorRT-LLM, fp8_blockscale_gemm_kernel.cuh: `gemm_dispatch_sm89` and `gemm_dispatch_sm120`.
bool HasFixedBlockTile(const std::string& architecture) {
  return architecture.starts_with("sm_89") || architecture.starts_with("sm_12");
}

// A100's white paper: each of two partitions of L2 keeps data for the multiprocessors that are connected to it;
// Hopper's and Blackwell's with HBM are built alike. sm_8x's and sm_12x's are one.
bool HasSplitCache(const std::string& architecture) {
  return architecture == "sm_80" || HasWideInstructions(architecture);
}

// NVIDIA's V100 white paper: ECC of GDDR takes a sixteenth of memory itself, HBM has room beside for its bits. An L40S
// shows 46,068 of 49,152 MiB. Boards with GDDR5 and GDDR6 are of data centres, which have ECC on; GeForce's GDDR6X is
// without, GDDR7 has it on its dies.
double DataRate(const hardware::Device& device) {
  constexpr double kCheckBits = 1.0 / 16;
  const bool inline_bits = device.memory_kind == "GDDR5" || device.memory_kind == "GDDR6";
  return device.memory_bandwidth.value * (inline_bits ? 1 - kCheckBits : 1);
}

// What the board takes when no kernel runs. Device files state the watts of an idle board; one with GDDR then has its
// memory's clock lowered (state P8), and kernels find it at its full clock. GDDR6 takes 7.5 pJ a bit, GDDR6X 7.25
// (Micron, "Ultra-Bandwidth Solutions"); GDDR7 moves half as much more with a watt as GDDR6 (Micron, June 2024).
// HBM's clock stays. No figure was found for GDDR5.
double PicojoulesOfBit(const std::string& memory_kind) {
  if (memory_kind == "GDDR7") return 5;
  if (memory_kind == "GDDR6X") return 7.25;
  return memory_kind == "GDDR6" ? 7.5 : 0;
}

double IdleWatts(const hardware::Device& device, double watts) {
  constexpr double kBits = 8, kWattsPerPicojoule = 1e-12;
  return device.idle_w.value_or(watts * kIdle) +
         device.memory_bandwidth.value * kBits * PicojoulesOfBit(device.memory_kind) * kWattsPerPicojoule;
}

}  // namespace

double Chip::Rate(Format format) const {
  switch (format) {
    case Format::kF16:
      return f16_rate;
    case Format::kNvF4:
      return f4_rate;
    default:
      return f8_rate;
  }
}

double KeptInCache(double times) {
  if (!(times > 1)) return 1;
  constexpr int kSteps = 60;  // to the fixed point, which is near 1 where they converge slowest
  double missed = 1;
  for (int i = 0; i < kSteps; ++i) missed = 1 - std::exp(-missed * times);
  return 1 - missed;
}

double KeptInTurn(const Chip& chip, double bytes) {
  // The edge is a fit: to attention's rows of generation and to matmuls whose data take 0.9 to 1.2 of L2.
  constexpr double kFull = 1.1, kEdge = 0.1, kSplitEdge = 0.6;
  const double edge = chip.split_cache ? kSplitEdge : kEdge;
  return std::clamp((kFull - bytes / std::max(1.0, chip.l2_bytes)) / edge, 0.0, 1.0);
}

Chip MakeChip(const hardware::Device& device) {
  Chip chip;
  chip.sms = std::max(1, device.sm_count.value_or(100));
  chip.clock = std::max(1.0, device.clock_hz.value_or(1.5e9) * 1e-6);
  chip.bandwidth = std::max(1.0, DataRate(device) * 1e-6);
  chip.l2_bytes = device.l2_capacity ? static_cast<double>(device.l2_capacity->value) : 0;
  chip.watts = device.tdp_w.value_or(0);
  chip.idle_watts = IdleWatts(device, chip.watts);
  chip.f16_rate = std::max(1.0, RateOf(device, "bf16", device.peak_flops.value * 1e-6));
  chip.f8_rate = std::max(1.0, RateOf(device, "f8E4M3FN", chip.f16_rate));
  chip.f4_rate = std::max(1.0, RateOf(device, "f4E2M1FN", chip.f8_rate));
  const double rated = chip.f16_rate / (chip.sms * chip.clock);
  chip.flops_per_clock = std::max(1.0, device.matrix_flops_per_clock.value_or(rated));
  chip.lanes = std::max(1.0, device.lanes_per_sm ? static_cast<double>(*device.lanes_per_sm) : chip.lanes);
  chip.special_lanes = std::max(
      1.0, device.special_lanes_per_sm ? static_cast<double>(*device.special_lanes_per_sm) : chip.special_lanes);
  chip.wide_instructions = HasWideInstructions(device.architecture);
  chip.scaled_instructions = HasScaledInstructions(device.architecture);
  chip.small_tiles = device.shared_memory_per_sm && device.shared_memory_per_sm->value < kLargeTileBytes;
  chip.split_cache = HasSplitCache(device.architecture);
  chip.fixed_block_tile = HasFixedBlockTile(device.architecture);
  return chip;
}

}  // namespace hespas::estimate::field
