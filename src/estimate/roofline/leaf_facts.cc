#include "estimate/roofline/leaf_facts.h"

namespace hespas::estimate {

RooflineFacts RooflineFactsOf(const ir::Module& module, ir::OpId op) {
  RooflineFacts facts{.cost = CostOf(module, op)};
  if (facts.cost.bytes == 0 && facts.cost.flops == 0) return facts;
  facts.dynamic = HasDynamicShape(module, op);
  if (facts.cost.flops > 0) facts.arithmetic = ArithmeticOf(module, op);
  return facts;
}

}  // namespace hespas::estimate
