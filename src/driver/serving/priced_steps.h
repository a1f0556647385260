// Step times of a model on a device: its kernels' prices, tabulated over rows and interpolated.
#pragma once

#include <map>

#include "driver/serving/kernel_prices.h"
#include "serve/kernels.h"
#include "serve/step.h"

namespace hespas::driver {

class PricedSteps : public serve::StepModel {
 public:
  struct Graphs {
    double step = 8;       // captured batches are multiples of it (and 1, 2 and 4)
    double largest = 512;  // that is captured
  };
  PricedSteps(serve::StepKernels kernels, const KernelPrices& prices, const Graphs& graphs)
      : kernels_(std::move(kernels)), prices_(prices), graphs_(graphs) {}

  serve::StepCost CostOf(const serve::StepShape& step) const override;
  double Padded(double rows) const;

 private:
  using Kernels = std::vector<serve::StepKernel>;
  using Table = std::map<int64_t, serve::StepCost>;
  serve::StepCost Sum(const Kernels& kernels) const;
  serve::StepCost At(double rows, Table& table, Kernels (serve::StepKernels::*kernels)(double) const) const;

  serve::StepKernels kernels_;
  const KernelPrices& prices_;
  Graphs graphs_;
  mutable Table layers_;
  mutable Table head_;
};

}  // namespace hespas::driver
