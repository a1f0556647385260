// The calibrated estimator: programs through the closed forms of KernelModel.
//
// - Dots, convolutions and library calls are matmuls; fusions are the bytes at their boundary beside their
//   instructions; everything else moves its bytes. Each kernel starts after the one before it, without a host.
#pragma once

#include <memory>

#include "estimate/calibrated/command_buffers.h"
#include "estimate/calibrated/model.h"
#include "estimate/composite.h"
#include "estimate/cost.h"
#include "estimate/estimator.h"
#include "estimate/facts.h"
#include "hardware/device.h"

namespace hespas::estimate::calibrated {

class Calibrated : public Estimator, private LeafEstimator {
 public:
  // `facts` may be nullptr.
  Calibrated(const hardware::Device& device, const Parameters& parameters, std::shared_ptr<const Facts> facts = {},
             const CommandBuffers& buffers = {});

  std::string_view name() const override { return "calibrated"; }
  graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const override;
  graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const override;
  Hash128 key() const override { return key_; }

 private:
  Work Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const override;
  Work WorkOf(const LeafFacts& facts) const;
  Work KernelWork(const LeafFacts& facts) const;
  // Of a kernel that tells its work: the longest of arithmetic, memory and the host's link, and the steps that wait.
  Work OwnKernelWork(const LeafFacts& facts) const;
  // The longer of a dot with scales of blocks, as the field model has it, and all that it moves.
  Work ScaledDotWork(const LeafFacts& facts, double field_us) const;
  // The matmul in a fusion, if there is one, and what the fusion moves beyond its operands and result.
  Work FusionWork(const LeafFacts& facts) const;
  Work Traffic(double bytes, const Instructions& instructions) const;
  Work ToWork(const KernelTime& time, const OpCost& cost, double between_us) const;

  hardware::Device device_;
  KernelModel model_;
  double between_us_;  // kernels that are no matmuls
  Hash128 key_;
  std::shared_ptr<const Facts> facts_;
};

}  // namespace hespas::estimate::calibrated
