// SCALE-Sim v3 with given bandwidth and without prefetch, in closed form: it counts exactly these cycles
// (spec external-simulators section 4). Weight-stationary: ceil(K/R) ceil(N/C) (M + 2R + C - 2) - 1;
// output-stationary: ceil(M/R) ceil(N/C) (K + R + C - 2) - 1.
#include <fmt/format.h>

#include <cmath>

#include "estimate/native/matrix_model.h"

namespace hespas::estimate::native {
namespace {

class ScaleSim : public MatrixModel {
 public:
  ScaleSim(const hardware::SystolicArray& array, Dataflow dataflow) : array_(array), dataflow_(dataflow) {}

  std::string_view name() const override { return "scalesim"; }

  MatrixCost Cost(const MatmulShape& matmul) const override {
    const bool weights_stay = dataflow_ == Dataflow::kWeightStationary;
    const double rows = array_.rows;
    const double folds = std::ceil((weights_stay ? matmul.k : matmul.m) / rows) *
                         std::ceil(std::ceil(matmul.n / array_.columns) / array_.count);
    const double fold = weights_stay ? matmul.m + 2 * rows + array_.columns - 2 : matmul.k + rows + array_.columns - 2;
    const double cycles = matmul.batch * (folds * fold - 1);
    const double seconds = cycles / array_.clock_hz;
    return {.seconds = seconds, .compute_seconds = seconds, .cycles = cycles};
  }

  std::string Fingerprint() const override {
    return fmt::format("scalesim 1|{}|{}|{}|{}|{}", array_.rows, array_.columns, array_.count, array_.clock_hz,
                       static_cast<int>(dataflow_));
  }

 private:
  hardware::SystolicArray array_;
  Dataflow dataflow_;
};

}  // namespace

MadeModel MakeScaleSim(const hardware::Device& device, Dataflow dataflow) {
  if (!device.systolic_array) {
    return MakeError(kNoSystolicArray, fmt::format("device `{}` has no `systolic_array`", device.name));
  }
  return MadeModel(std::make_unique<ScaleSim>(*device.systolic_array, dataflow));
}

}  // namespace hespas::estimate::native
