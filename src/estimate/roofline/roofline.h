// Roofline: an op takes the longer of its arithmetic at peak rate and its memory traffic at full bandwidth
// (Williams, Waterman and Patterson 2009), ops of a block one after the other.
//
// - Contractions run at the matrix rate of their operands (f32 as tf32 where the device has it and the program lets
// it),
//   everything else at the vector rate; every op of a fusion runs at its own rate.
#pragma once

#include <memory>

#include "estimate/composite.h"
#include "estimate/cost.h"
#include "estimate/estimator.h"
#include "estimate/facts.h"
#include "hardware/device.h"

namespace hespas::estimate {

class Roofline : public Estimator, private LeafEstimator {
 public:
  // `facts` may be nullptr.
  explicit Roofline(hardware::Device device, std::shared_ptr<const Facts> facts = {});

  std::string_view name() const override { return "roofline"; }
  graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const override;
  graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const override;
  Hash128 key() const override { return key_; }

 private:
  Work Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const override;
  void NoteUnknownTypes(const RooflineFacts& facts, ir::OpId op, Notes& notes) const;

  hardware::Device device_;
  calibrated::Machine machine_;
  Hash128 key_;
  std::shared_ptr<const Facts> facts_;
};

}  // namespace hespas::estimate
