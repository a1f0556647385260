// A single op as the roofline sees it before it knows the device.
#pragma once

#include <vector>

#include "estimate/arithmetic.h"
#include "estimate/cost.h"
#include "ir/module.h"

namespace hespas::estimate {

struct RooflineFacts {
  OpCost cost;
  bool dynamic = false;  // has dynamic dimensions
  std::vector<Arithmetic> arithmetic;
};

RooflineFacts RooflineFactsOf(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
