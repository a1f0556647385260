#include "optimise/gpu/kernel_time.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr double kL2Speedup = 2.5;
constexpr double kL1Speedup = 8;
constexpr double kL1Bytes = 2048;              // of one SM, as far as XLA counts on it
constexpr double kBytesPerClock = 32;          // that a thread block can ask for
constexpr double kOverlap = 0.95;              // of the shorter of arithmetic and memory
constexpr double kDefaultClocks = 3;           // of an elementwise op without a profile
constexpr double kOperationsPerLaneClock = 2;  // a multiply-add counts twice

struct Profile {
  OpKind kind;
  double sm80;
  double sm90;
};
// f32 only; 16-bit floats have no profile and take the default.
constexpr Profile kProfiles[] = {
    {OpKind::kAdd, 3, 7},      {OpKind::kSubtract, 3, 7}, {OpKind::kDivide, 3, 19},
    {OpKind::kSqrt, 3, 75},    {OpKind::kRsqrt, 3, 75},   {OpKind::kExponential, 3, 79},
    {OpKind::kLog, 259, 166},  {OpKind::kTanh, 504, 467}, {OpKind::kExponentialMinusOne, 3, 190},
    {OpKind::kCosine, 3, 978}, {OpKind::kSine, 3, 958},   {OpKind::kLogPlusOne, 3, 229},
    {OpKind::kCbrt, 3, 178},   {OpKind::kAtan2, 3, 431},  {OpKind::kPower, 1221, 510},
};

}  // namespace

double ReadTime(const GpuFigures& gpu, double size, double total, double blocks) {
  const double limit = blocks * gpu.clock_hz * kBytesPerClock;
  const double memory = gpu.bytes_per_second;
  double again = memory;
  if (size < gpu.l2_bytes) again *= kL2Speedup;
  if (size < gpu.l2_bytes && size < kL1Bytes * gpu.sm_count) again *= kL1Speedup;
  const double first = std::min(size, total);
  return first / std::min(memory, limit) + (total - first) / std::min(again, limit);
}

double KernelTime(const GpuFigures& gpu, double memory_seconds, double operations, double blocks) {
  const double per_nanosecond = std::floor(gpu.clock_hz * kOperationsPerLaneClock * 1e-9);
  const double lanes = std::min(blocks, gpu.sm_count) * gpu.lanes_per_sm;
  const double arithmetic = operations / (lanes * per_nanosecond) * 1e-9;
  return arithmetic + memory_seconds - kOverlap * std::min(arithmetic, memory_seconds);
}

double OperationClocks(const GpuFigures& gpu, OpKind kind, bool is_f32) {
  const OpSort sort = ir::Traits(kind).sort;
  if (sort != OpSort::kElementwise && sort != OpSort::kReduction) return 0;
  if (!is_f32) return kDefaultClocks;
  for (const Profile& profile : kProfiles) {
    if (profile.kind == kind) return gpu.capability >= 90 ? profile.sm90 : profile.sm80;
  }
  return kDefaultClocks;
}

}  // namespace hespas::optimise
