#include "optimise/gpu/kernel_time.h"

#include <algorithm>
#include <cmath>

#include "ir/facts/op_weights.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

}  // namespace

double ReadTicks(const GpuFigures& gpu, double size, double total, double blocks, double rate) {
  const double limit = blocks * gpu.clock_hz * gpu_rules::kBytesPerClock;
  const double memory = gpu.bytes_per_second * rate;
  double again = size < gpu.l2_bytes ? gpu.bytes_per_second : memory;
  if (size < gpu.l2_bytes) again *= gpu_rules::kL2Speedup;
  if (size < gpu.l2_bytes && size < gpu_rules::kL1Bytes * gpu.sm_count) again *= gpu_rules::kL1Speedup;
  const double first = std::min(size, total);
  const double ticks = WholeTicks(first * kTicksPerSecond / std::min(memory, limit));
  if (first == total) return ticks;
  return ticks + WholeTicks((total - first) * kTicksPerSecond / std::min(again, limit));
}

double KernelTicks(const GpuFigures& gpu, double memory_ticks, double operations, double blocks) {
  const double per_nanosecond = std::floor(gpu.clock_hz * gpu_rules::kOperationsPerLaneClock * 1e-9);
  const double lanes = std::min(blocks, gpu.sm_count) * gpu.lanes_per_sm;
  const double arithmetic = WholeTicks(operations / (lanes * per_nanosecond) * (kTicksPerSecond * 1e-9));
  return arithmetic + memory_ticks - WholeTicks(gpu_rules::kOverlap * std::min(arithmetic, memory_ticks));
}

double OperationClocks(const GpuFigures& gpu, OpKind kind, bool is_f32) {
  const OpSort sort = ir::Traits(kind).sort;
  if (sort != OpSort::kElementwise && sort != OpSort::kReduction) return 0;
  if (!is_f32) return gpu_rules::kDefaultClocks;
  const ir::OpWeight* known = ir::WeightOf(kind);  // 16-bit floats have no profile
  if (known == nullptr) return gpu_rules::kDefaultClocks;
  return (gpu.capability >= 90 ? known->sm90 : known->sm80).value_or(gpu_rules::kDefaultClocks);
}

}  // namespace hespas::optimise
