#include "estimate/calibrated/leaf_facts.h"

#include "estimate/calls/attention.h"
#include "estimate/fusion_cost.h"
#include "ir/facts/library_call.h"

namespace hespas::estimate::calibrated {
namespace {

// A lone query's kernel reads its cache, and no more.
std::optional<field::AttentionCall> LibraryAttention(const ir::Module& module, ir::OpId op) {
  const auto call = AttentionOf(module, op, ir::CallTarget(module, op));
  if (!call || call->queries <= 1) return std::nullopt;
  return field::AttentionCall{.phase = call->causal ? field::Phase::kContext : field::Phase::kEncoder,
                              .f8 = call->f8,
                              .batch = call->batch,
                              .queries = call->queries,
                              .keys = call->keys,
                              .heads = call->heads,
                              .key_heads = call->key_heads,
                              .head_size = static_cast<double>(call->head),
                              .window = call->window,
                              .in_step = true,
                              .cudnn = true,
                              .backward = call->backward};
}

}  // namespace

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
  if (facts.cost.block_scaled) facts.scaled_dot = BlockScaledDotOf(module, op, ir::CallTarget(module, op));
  if (facts.cost.own_kernel) {
    facts.instructions = {.special = static_cast<double>(facts.cost.transcendentals)};
    if (facts.cost.head > 0) facts.attention = LibraryAttention(module, op);
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
