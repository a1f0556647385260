// A single op as the calibrated model sees it before it knows the device.
#pragma once

#include <optional>
#include <vector>

#include "estimate/calibrated/instructions.h"
#include "estimate/calibrated/matmuls.h"
#include "estimate/calls/block_scaled_dot.h"
#include "estimate/cost.h"
#include "estimate/field/attention.h"
#include "ir/module.h"

namespace hespas::estimate::calibrated {

struct LeafFacts {
  OpCost cost;
  bool dynamic = false;  // has dynamic dimensions
  bool fusion = false;
  Instructions instructions;    // of what is no matmul
  std::vector<Matmul> matmuls;  // of a fusion all, else at most one
  std::vector<Arithmetic> arithmetic;
  std::optional<field::AttentionCall> attention;  // of a library for CUDA's GPUs
  std::optional<BlockScaledDot> scaled_dot;       // a kernel of its own where the device multiplies its format
};

LeafFacts LeafFactsOf(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate::calibrated
