#include "optimise/gpu/tiled_transpose.h"

#include <algorithm>

#include "base/units.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

bool IsIntermediate(const Node& node) {
  if (node.operands.empty() || node.operands.size() > gpu_rules::kIntermediateOperands || node.result_count != 1)
    return false;
  return ir::Traits(node.kind).sort == ir::OpSort::kElementwise || node.kind == OpKind::kReshape ||
         node.kind == OpKind::kBitcast;
}

}  // namespace

std::optional<TiledTranspose> TiledTransposeOf(const Dataflow& flow, const Node& transpose) {
  const auto permutation = IntegersOf(flow, transpose, "permutation");
  const Dimensions& from = flow.type(transpose.operands[0]).dims;
  if (!permutation || permutation->size() != from.size()) return std::nullopt;
  // Groups in the result's order, each named by its first dimension.
  Dimensions firsts, sizes;
  int64_t last = -2;
  for (const int64_t d : *permutation) {
    const int64_t size = from[static_cast<size_t>(d)];
    if (size == 1) continue;
    bool follows = last >= 0 && d > last;
    for (int64_t between = last + 1; follows && between < d; ++between)
      follows = from[static_cast<size_t>(between)] == 1;
    if (follows) {
      sizes.back() = internal::SaturatingMultiply(sizes.back(), size);
    } else {
      firsts.push_back(d);
      sizes.push_back(size);
    }
    last = d;
  }
  if (firsts.size() < 2 || firsts.size() > gpu_rules::kTransposeRank) return std::nullopt;
  Dimensions sorted = firsts;
  std::sort(sorted.begin(), sorted.end());
  TiledTranspose tiled{Dimensions(firsts.size()), {}};
  for (size_t i = 0; i < firsts.size(); ++i) {
    const auto place = std::find(sorted.begin(), sorted.end(), firsts[i]) - sorted.begin();
    tiled.order.push_back(place);
    tiled.from[static_cast<size_t>(place)] = sizes[i];
  }
  if (tiled.order.back() + 1 == static_cast<int64_t>(firsts.size())) return std::nullopt;
  const int64_t a = tiled.from.back();
  const int64_t b = sizes.back();
  const bool tiles = std::min(a, b) >= gpu_rules::kTransposeSide ||
                     (std::min(a, b) >= gpu_rules::kTransposeShortSide && a * b >= gpu_rules::kTransposeArea);
  return tiles ? std::optional(tiled) : std::nullopt;
}

bool ReadsAcross(const Dataflow& flow, const Node& node) {
  const auto permutation = node.kind == OpKind::kTranspose ? IntegersOf(flow, node, "permutation") : std::nullopt;
  if (!permutation || permutation->empty()) return false;
  const Dimensions& from = flow.type(node.operands[0]).dims;
  int64_t last = static_cast<int64_t>(from.size()) - 1;
  while (last > 0 && from[static_cast<size_t>(last)] == 1) --last;
  const auto inner = std::find_if(permutation->rbegin(), permutation->rend(),
                                  [&](int64_t d) { return from[static_cast<size_t>(d)] != 1; });
  if (inner == permutation->rend() || *inner == last) return false;
  const Node* producer = flow.ProducerNode(node.operands[0]);
  for (int step = 0; producer != nullptr && step < 64; ++step) {
    if (producer->kind == OpKind::kBroadcastInDim || producer->kind == OpKind::kIota) return false;
    const bool passes = ir::Traits(producer->kind).sort == ir::OpSort::kElementwise ||
                        producer->kind == OpKind::kReshape || producer->kind == OpKind::kBitcast;
    if (producer->operands.size() != 1 || !passes) break;
    producer = flow.ProducerNode(producer->operands[0]);
  }
  return true;
}

const TiledTranspose* TiledTransposes::Of(NodeId transpose) {
  const auto [known, is_new] = known_.try_emplace(transpose);
  if (is_new) known->second = TiledTransposeOf(flow_, flow_.node(transpose));
  return known->second ? &*known->second : nullptr;
}

TiledTransposes::Found TiledTransposes::Find(NodeId root, const IsInside& is_inside, NodeId end) {
  Found found;
  std::vector<NodeId> seen = {root};
  for (size_t i = 0; i < seen.size() && seen.size() <= gpu_rules::kTransposeSearch; ++i) {
    if (seen[i] == end) {
      found.meets_end = true;
      continue;
    }
    const Node& node = flow_.node(seen[i]);
    if (node.kind == OpKind::kTranspose) {
      if (const TiledTranspose* tiled = Of(seen[i])) {
        found.has_several = found.has_several || (found.hero != nullptr && *found.hero != *tiled);
        found.hero = tiled;
        continue;
      }
    }
    if (!IsIntermediate(node)) continue;
    for (const ValueId operand : node.operands) {
      const NodeId producer = flow_.producer(operand);
      const bool goes_on = producer.valid() && (producer == end || is_inside(operand));
      if (goes_on && std::find(seen.begin(), seen.end(), producer) == seen.end()) seen.push_back(producer);
    }
  }
  return found;
}

const TiledTranspose* TiledTransposes::Hero(NodeId root, const IsInside& is_inside) {
  const Found found = Find(root, is_inside, NodeId());
  return found.has_several ? nullptr : found.hero;
}

const TiledTranspose* TiledTransposes::HeroOfBoth(NodeId root, const IsInside& in_consumer, NodeId value,
                                                  const IsInside& in_producer) {
  const Found consumer = Find(root, in_consumer, value);
  if (consumer.has_several || !consumer.meets_end) return consumer.has_several ? nullptr : consumer.hero;
  const TiledTranspose* producer = Hero(value, in_producer);
  if (consumer.hero != nullptr && producer != nullptr) return nullptr;
  return consumer.hero != nullptr ? consumer.hero : producer;
}

}  // namespace hespas::optimise
