#include "estimate/roofline/leaf_facts.h"

#include "estimate/fusion_cost.h"

namespace hespas::estimate {
namespace {

void AddPart(const ir::Module& module, ir::OpId op, const OpCost& cost, RooflineFacts& facts) {
  if (cost.flops <= 0) return;
  RooflineFacts::Part part{.op = op, .flops = static_cast<double>(cost.flops), .contraction = cost.contraction};
  if (const ir::Element* element = RateElement(module, op, cost.contraction)) {
    ir::Element component = *element;
    component.complex = false;
    part.datatype = ir::ElementText(component);
    part.may_be_tf32 = cost.contraction && part.datatype == "f32" && AllowsTf32(module, op);
  }
  facts.parts.push_back(std::move(part));
}

}  // namespace

RooflineFacts RooflineFactsOf(const ir::Module& module, ir::OpId op) {
  RooflineFacts facts{.cost = CostOf(module, op)};
  if (facts.cost.bytes == 0 && facts.cost.flops == 0) return facts;
  facts.dynamic = HasDynamicShape(module, op);
  if (facts.cost.flops <= 0) return facts;
  if (module.kind(op) != ir::OpKind::kFusion) {
    AddPart(module, op, facts.cost, facts);
    return facts;
  }
  for (const ir::OpId inner : FusedOps(module, op)) AddPart(module, inner, CostOf(module, inner), facts);
  return facts;
}

}  // namespace hespas::estimate
