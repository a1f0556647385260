// The calibrated model of one device: closed forms with a few shared physical constants (spec device-model section 2).
//
// - Pure and thread-safe; equal kernels give equal times. No input makes it fail: times are finite and positive.
// - Not slower with more SMs, clock, bandwidth or peak rate, whatever the kernel.
#pragma once

#include <array>
#include <span>

#include "estimate/calibrated/kernel.h"
#include "estimate/calibrated/machine.h"
#include "estimate/calibrated/parameters.h"
#include "estimate/calibrated/tiles.h"
#include "hardware/device.h"

namespace hespas::estimate::calibrated {

// What CUDA cores sustain on FP32 matmuls, flop/us: without and by the board's power.
struct LaneRates {
  double unlimited = 0;
  double limit = 0;
};
LaneRates LaneRate(const Machine& machine, const LaneConstants& lanes);

class KernelModel {
 public:
  KernelModel(const hardware::Device& device, const Parameters& parameters);

  KernelTime Time(const KernelSpec& kernel) const;
  // As many times as kernels.
  void Times(std::span<const KernelSpec> kernels, std::span<KernelTime> times) const;

  const Machine& machine() const { return machine_; }
  const Parameters& parameters() const { return parameters_; }
  // Byte/us, as long transfers sustain it.
  double memory_rate() const { return memory_rate_; }
  // Of the kernel's family (and type) on this device, wherever it stands between the datasheet's limits.
  double FamilySigma(const KernelSpec& kernel) const;

  // A matmul as tiles see it; refers to this model.
  struct SizedMatmul {
    const TileModel* tiles = nullptr;
    MatmulSize size;
    bool batched = false;  // of matmuls on lanes
  };
  SizedMatmul Sized(const KernelSpec& kernel) const;
  // The share of a kernel's bytes that L2 still holds from the kernel before, or for the one behind.
  double InL2(double bytes) const;

 private:
  const GemmConstants& Gemm(Datatype type) const {
    return type == Datatype::kTf32 ? parameters_.tf32 : parameters_.gemm;
  }
  double InL2OrNotUs(const KernelTime& time) const;
  double RelativeSigma(const KernelSpec& kernel, const KernelTime& time) const;
  double DatasheetTime(const KernelSpec& kernel, const KernelTime& time) const;
  KernelTime Matmul(const KernelSpec& kernel) const;
  static KernelTime Timed(const SizedMatmul& sized, const KernelSpec& kernel);
  SizedMatmul MatrixUnits(const KernelSpec& kernel) const;
  SizedMatmul Lanes(const KernelSpec& kernel, bool batched) const;
  KernelTime Convolution(const KernelSpec& kernel) const;
  double BetweenKernels(const KernelSpec& kernel, double us) const;
  KernelTime Memory(const KernelSpec& kernel) const;
  double SoftmaxPasses(const KernelSpec& kernel) const;
  double NormIssue(const KernelSpec& kernel) const;
  double NormPasses(const KernelSpec& kernel, double issue_us, double once_us) const;
  double WithDispatch(const KernelSpec& kernel, double us) const;

  Machine machine_;
  Parameters parameters_;
  std::array<TileModel, kDatatypes> matrix_;
  TileModel linear_;
  TileModel batched_;
  double memory_rate_ = 1;
  double l2_rate_ = 1;  // of what L2 holds
};

}  // namespace hespas::estimate::calibrated
