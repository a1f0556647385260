#include "simulate/order_trace.h"

#include <algorithm>
#include <numeric>

namespace hespas::simulate {

OrderTrace::OrderTrace(const hardware::System& system) {
  uint64_t stride = 1;
  for (const hardware::NetworkDimension& dimension : system.dimensions) {
    strides_.push_back(stride);
    sizes_.push_back(dimension.npus);
    stride *= dimension.npus;
  }
  strides_.push_back(stride);
}

uint32_t OrderTrace::Add(const Step& step) {
  const auto [at, added] = known_.try_emplace(step, static_cast<uint32_t>(steps_.size()));
  if (added) steps_.push_back(step);
  return at->second;
}

uint32_t OrderTrace::Shift(uint32_t order, uint32_t dimension, uint32_t steps) {
  const Step& last = steps_[order];
  if (last.kind == Kind::kShift && last.dimension == dimension) {
    return Shift(last.parent, dimension, (last.amount + steps) % sizes_[dimension]);
  }
  if (steps == 0) return order;
  return Add({.parent = order, .kind = Kind::kShift, .dimension = dimension, .amount = steps});
}

uint32_t OrderTrace::Swap(uint32_t order, uint32_t dimension, uint32_t distance) {
  const Step& last = steps_[order];
  if (last.kind == Kind::kSwap && last.dimension == dimension) {
    return Swap(last.parent, dimension, last.amount ^ distance);
  }
  if (distance == 0) return order;
  return Add({.parent = order, .kind = Kind::kSwap, .dimension = dimension, .amount = distance});
}

uint32_t OrderTrace::Exchange(uint32_t order, uint32_t dimension, uint32_t hops, bool clockwise) {
  return Add(
      {.parent = order, .kind = Kind::kExchange, .clockwise = clockwise, .dimension = dimension, .amount = hops});
}

uint32_t OrderTrace::Moved(uint32_t rank, uint32_t dimension, uint32_t coordinate) const {
  const uint64_t stride = strides_[dimension];
  return static_cast<uint32_t>(rank + (uint64_t{coordinate} - Coordinate(rank, dimension)) * stride);
}

// Every sender in turn reaches the members of its ring in the order of its sends; a rank counts when reached first.
void OrderTrace::ApplyExchange(const Step& step, std::vector<uint32_t>& ranks) const {
  if (step.amount == 0) return ApplyFullExchange(step, ranks);
  const uint32_t size = sizes_[step.dimension];
  std::vector<uint32_t> distances;
  for (uint32_t k = 1; k < size; ++k) {
    if (std::min(k, size - k) == step.amount) distances.push_back(step.clockwise ? k : size - k);
  }
  std::vector<uint32_t> reached;
  reached.reserve(ranks.size());
  std::vector<bool> seen(ranks.size());
  for (const uint32_t sender : ranks) {
    const uint32_t here = Coordinate(sender, step.dimension);
    for (const uint32_t distance : distances) {
      const uint32_t target = Moved(sender, step.dimension, (here + distance) % size);
      if (seen[target]) continue;
      seen[target] = true;
      reached.push_back(target);
    }
  }
  ranks = std::move(reached);
}

// The first sender of a ring reaches all others, the second one the first sender.
void OrderTrace::ApplyFullExchange(const Step& step, std::vector<uint32_t>& ranks) const {
  constexpr uint32_t kNone = 0xFFFFFFFFu;
  constexpr uint32_t kDone = 0xFFFFFFFEu;
  const uint32_t size = sizes_[step.dimension];
  const auto stride = static_cast<uint32_t>(strides_[step.dimension]);
  std::vector<uint32_t> first(ranks.size(), kNone);  // sender of each ring, by its member with coordinate 0
  std::vector<uint32_t> reached;
  reached.reserve(ranks.size());
  for (const uint32_t sender : ranks) {
    const uint32_t here = sender / stride % size;
    uint32_t& in_ring = first[sender - here * stride];
    if (in_ring == kDone) continue;
    if (in_ring != kNone) {
      reached.push_back(in_ring);
      in_ring = kDone;
      continue;
    }
    in_ring = sender;
    const uint32_t zero = sender - here * stride;
    for (uint32_t k = 1; k < size; ++k) {
      const uint32_t at = here + (step.clockwise ? k : size - k);
      reached.push_back(zero + (at >= size ? at - size : at) * stride);
    }
  }
  ranks = std::move(reached);
}

std::vector<uint32_t> OrderTrace::Evaluate(uint32_t order) const {
  std::vector<uint32_t> chain;
  for (uint32_t at = order; at != kStartOrder; at = steps_[at].parent) chain.push_back(at);
  std::vector<uint32_t> ranks(strides_.back());
  std::iota(ranks.begin(), ranks.end(), 0u);
  std::vector<uint32_t> shift(sizes_.size(), 0);  // shifts of different dimensions commute: applied together
  const auto apply_shifts = [&] {
    for (uint32_t d = 0; d < shift.size(); ++d) {
      if (shift[d] == 0) continue;
      for (uint32_t& rank : ranks) rank = Moved(rank, d, (Coordinate(rank, d) + shift[d]) % sizes_[d]);
      shift[d] = 0;
    }
  };
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    const Step& step = steps_[*at];
    if (step.kind == Kind::kShift) {
      shift[step.dimension] = (shift[step.dimension] + step.amount) % sizes_[step.dimension];
      continue;
    }
    apply_shifts();
    if (step.kind == Kind::kExchange) {
      ApplyExchange(step, ranks);
    } else {
      for (uint32_t& rank : ranks) rank = Moved(rank, step.dimension, Coordinate(rank, step.dimension) ^ step.amount);
    }
  }
  apply_shifts();
  return ranks;
}

}  // namespace hespas::simulate
