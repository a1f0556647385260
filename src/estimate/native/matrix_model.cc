#include "estimate/native/matrix_model.h"

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/machine.h"
#include "estimate/calibrated/matmuls.h"

namespace hespas::estimate::native {

std::optional<MatmulShape> AsMatmul(const calibrated::KernelSpec& kernel) {
  using enum calibrated::Shape;
  const auto at_least_one = [](double extent) { return std::max(1.0, extent); };
  switch (kernel.shape) {
    case kGemm:
    case kLinear:
    case kBatchedGemm:
      return MatmulShape{at_least_one(kernel.b), at_least_one(kernel.m), at_least_one(kernel.n), at_least_one(kernel.k),
                         kernel.type};
    case kConvolution: {
      const double last = kernel.extent + 2 * kernel.padding - kernel.kernel_size;
      const double extent = at_least_one(std::floor(last / at_least_one(kernel.stride)) + 1);
      return MatmulShape{1, at_least_one(kernel.b) * extent * extent, at_least_one(kernel.output_channels),
                         at_least_one(kernel.input_channels * kernel.kernel_size * kernel.kernel_size), kernel.type};
    }
    default:
      return std::nullopt;
  }
}

namespace {

class MatmulsOnly : public OpModel {
 public:
  explicit MatmulsOnly(std::unique_ptr<MatrixModel> model) : model_(std::move(model)) {}

  std::string_view name() const override { return model_->name(); }
  std::string Fingerprint() const override { return model_->Fingerprint(); }
  Result<std::optional<OpTime>> Cost(const ir::Module& module, ir::OpId op) const override {
    const auto kernel = calibrated::MatmulOf(module, op, calibrated::Machine{});
    const auto matmul = kernel ? AsMatmul(*kernel) : std::nullopt;
    if (!matmul) return std::optional<OpTime>();
    const MatrixCost cost = model_->Cost(*matmul);
    return std::optional(OpTime{
        .seconds = cost.seconds, .compute_seconds = cost.compute_seconds, .memory_seconds = cost.memory_seconds});
  }

 private:
  std::unique_ptr<MatrixModel> model_;
};

}  // namespace

std::unique_ptr<OpModel> AsOpModel(std::unique_ptr<MatrixModel> model) {
  return std::make_unique<MatmulsOnly>(std::move(model));
}

}  // namespace hespas::estimate::native
