#include "estimate/calibrated/leaf_facts.h"

#include "estimate/fusion_cost.h"

namespace hespas::estimate::calibrated {

LeafFacts LeafFactsOf(const ir::Module& module, ir::OpId op) {
  LeafFacts facts{.cost = CostOf(module, op)};
  if (facts.cost.bytes == 0 && facts.cost.flops == 0) return facts;
  facts.dynamic = HasDynamicShape(module, op);
  facts.fusion = module.kind(op) == ir::OpKind::kFusion;
  if (facts.cost.flops > 0) facts.arithmetic = ArithmeticOf(module, op);
  if (facts.fusion) {
    facts.instructions = FusionInstructions(module, op);
    if (!facts.cost.contraction) return facts;
    for (const ir::OpId inner : FusedOps(module, op)) {
      if (const auto matmul = MatmulIn(module, inner)) facts.matmuls.push_back(*matmul);
    }
    return facts;
  }
  if (facts.cost.own_kernel) {
    facts.instructions = {.special = static_cast<double>(facts.cost.transcendentals)};
  } else if (const auto matmul = MatmulIn(module, op)) {
    facts.matmuls.push_back(*matmul);
  } else {
    facts.instructions = OpInstructions(module, op);
    const auto flops = static_cast<double>(facts.cost.flops);
    if (facts.instructions.lanes + facts.instructions.special < flops) facts.instructions = {.lanes = flops};
  }
  return facts;
}

}  // namespace hespas::estimate::calibrated
