// An estimator for what it declares it can cost, and a fallback for the rest.
//
// - `source` of an estimate says who costed it: "systolic", "calibrated", or "mixed" for a block of both.
#pragma once

#include <memory>

#include "estimate/composite.h"
#include "estimate/estimator.h"
#include "estimate/native/matrix_model.h"

namespace hespas::estimate::native {

// Products of matrices by `model`, a fusion's products without the rest of it; all else by `fallback`.
class WithFallback : public Estimator, private LeafEstimator {
 public:
  WithFallback(std::unique_ptr<MatrixModel> model, std::unique_ptr<Estimator> fallback);

  std::string_view name() const override { return model_->name(); }
  graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const override;
  graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const override;
  Hash128 key() const override { return key_; }

 private:
  Work Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const override;
  std::optional<Work> Products(const ir::Module& module, ir::OpId op) const;
  graph::Estimate Labelled(const Work& work) const;

  std::unique_ptr<MatrixModel> model_;
  std::unique_ptr<Estimator> fallback_;
  Hash128 key_;
};

}  // namespace hespas::estimate::native
