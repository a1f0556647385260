// What the analytic estimators ask of each op, whatever the device: kept for one module that many devices are tried on.
#pragma once

#include "estimate/calibrated/leaf_facts.h"
#include "estimate/op_memo.h"
#include "estimate/roofline/leaf_facts.h"
#include "ir/module.h"

namespace hespas::estimate {

struct Facts {
  explicit Facts(const ir::Module& of) : module(&of), calibrated(of.op_count()), roofline(of.op_count()) {}

  const ir::Module* module;  // must outlive this
  OpMemo<calibrated::LeafFacts> calibrated;
  OpMemo<RooflineFacts> roofline;
};

}  // namespace hespas::estimate
