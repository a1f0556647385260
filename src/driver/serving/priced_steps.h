// Step times of a model on a device: its kernels' prices, tabulated over rows and interpolated.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <vector>

#include "driver/serving/kernel_prices.h"
#include "driver/serving/rising.h"
#include "serve/model/kernels.h"
#include "serve/profile.h"
#include "serve/step.h"

namespace hespas::driver {

class PricedSteps : public serve::StepModel {
 public:
  PricedSteps(serve::StepKernels kernels, const KernelPrices& prices, serve::Graphs graphs, double layers)
      : kernels_(std::move(kernels)), prices_(prices), graphs_(std::move(graphs)), layers_of_host_(layers) {}

  serve::StepCost CostOf(const serve::StepShape& step) const override;
  serve::StepFloors Floors(const serve::StepRange& range) const override;
  std::vector<serve::KernelTime> KernelsOf(const serve::StepShape& step) const override;

 private:
  using Kernels = std::vector<serve::StepKernel>;
  struct Table {
    std::map<int64_t, serve::StepCost> points;
    // Costs between them that were asked for last, by the last digits of their rows.
    struct Recent {
      double rows = -1;
      serve::StepCost cost;
    };
    std::array<Recent, 64> recent;
  };
  // Attention of decodes or of prompts that was asked for last: other lanes, and runs at other rates, repeat most of
  // it.
  struct AttentionTable {
    static constexpr int kBits = 11;  // of an entry's number
    using Key = std::array<double, 4>;
    struct Recent {
      Key key{};
      serve::StepCost cost;
    };
    size_t PlaceOf(const Key& key) const;
    std::vector<Recent> recent;
  };
  serve::StepCost AttentionOf(const serve::StepShape& part, const AttentionTable::Key& key,
                              AttentionTable& table) const;
  void AddAttention(const serve::StepShape& step, serve::StepCost& cost) const;
  serve::StepCost Sum(const Kernels& kernels) const;
  serve::StepCost At(double rows, Table& table, Kernels (serve::StepKernels::*kernels)(double) const) const;
  serve::StepCost Between(double rows, Table& table, Kernels (serve::StepKernels::*kernels)(double) const) const;
  // The least seconds of so many rows or more, at tabulated rows up to `most`, and 0 without any.
  Rising LeastOf(double most, Table& table, Kernels (serve::StepKernels::*kernels)(double) const) const;

  // Rows of the graph that such a step replays; nothing where none was captured.
  std::optional<double> Captured(const serve::StepShape& step) const;

  serve::StepKernels kernels_;
  const KernelPrices& prices_;
  serve::Graphs graphs_;
  double layers_of_host_;
  mutable Table layers_;
  mutable Table head_;
  mutable AttentionTable decodes_;
  mutable AttentionTable prompts_;
  mutable std::optional<serve::StepRange> floored_;  // of `floors_`
  mutable serve::StepFloors floors_;
};

}  // namespace hespas::driver
