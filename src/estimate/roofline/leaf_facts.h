// A single op as the roofline sees it before it knows the device.
#pragma once

#include <string>
#include <vector>

#include "estimate/cost.h"
#include "ir/module.h"

namespace hespas::estimate {

struct RooflineFacts {
  // Arithmetic at one rate.
  struct Part {
    ir::OpId op;
    double flops = 0;
    std::string datatype;  // empty: at the device's rate for what no table names
    bool contraction = false;
    bool may_be_tf32 = false;  // f32 that the program lets run as TF32
  };
  OpCost cost;
  bool dynamic = false;     // has dynamic dimensions
  std::vector<Part> parts;  // of a fusion one for each op in it
};

RooflineFacts RooflineFactsOf(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate
