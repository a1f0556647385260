#include "memory/order/block_order.h"

#include <algorithm>
#include <utility>

#include "ir/walk.h"
#include "memory/order/gradient_sinking.h"
#include "memory/order/memory_order.h"
#include "memory/order/within_limit.h"

namespace hespas::memory {
namespace {

int64_t Peak(const Liveness& liveness) { return liveness.bytes[liveness.peak]; }

Ordered Least(const ir::Module& module, const BlockToOrder& what, const AnalyseOrder& analyse) {
  Ordered least;
  for (std::vector<ir::OpId>& order : MemoryOrders(module, what.block, what.sizes)) {
    Liveness liveness = analyse(order);
    if (!least.liveness.bytes.empty() && Peak(liveness) >= Peak(least.liveness)) continue;
    least = {.order = std::move(order), .liveness = std::move(liveness)};
  }
  return least;
}

void UseIfHigher(std::vector<ir::OpId> order, const AnalyseOrder& analyse, Ordered& chosen) {
  if (order == chosen.order) return;
  Liveness liveness = analyse(order);
  if (Peak(liveness) < Peak(chosen.liveness)) return;
  chosen = {.order = std::move(order), .liveness = std::move(liveness)};
}

}  // namespace

std::vector<ir::OpId> OwnOrder(const ir::Module& module, ir::BlockId block) {
  const auto& ops = module.block(block).ops;
  const bool returns = !ops.empty() && ir::IsTerminator(module.kind(ops.back()));
  return {ops.begin(), returns ? ops.end() - 1 : ops.end()};
}

Ordered OrderOf(const ir::Module& module, const BlockToOrder& what, const AnalyseOrder& analyse) {
  Ordered chosen = Least(module, what, analyse);
  const std::vector<ir::OpId> least = chosen.order;
  const SinkUntil until = what.plans_by_model ? SinkUntil::kEnd : SinkUntil::kNextGather;
  std::vector<ir::OpId> sunk = SinkWeightGradients(module, what.block, least, until);
  if (what.limit != kNoLimit && sunk != least) {
    sunk = WithinLimit(module, what.block, what.sizes, sunk, least, what.limit);
  }
  UseIfHigher(std::move(sunk), analyse, chosen);
  const auto has = [&](auto is) {
    return std::any_of(least.begin(), least.end(), [&](ir::OpId op) { return is(module.kind(op)); });
  };
  if (has([](ir::OpKind kind) { return kind == ir::OpKind::kAsyncStart; })) {
    if (what.own_counts) UseIfHigher(OwnOrder(module, what.block), analyse, chosen);
  } else if (what.plans_by_model && has(ir::IsCollective)) {
    UseIfHigher(HidingOrder(module, what.block, what.sizes, least, what.limit), analyse, chosen);
  }
  return chosen;
}

}  // namespace hespas::memory
