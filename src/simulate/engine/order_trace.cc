#include "simulate/engine/order_trace.h"

#include <algorithm>
#include <utility>

namespace hespas::simulate {

OrderTrace::OrderTrace(const hardware::System& system, const EquivalentRanks& classes)
    : classes_(classes), dimensions_(system.dimensions.size()) {
  for (uint32_t c = 0; c < classes.members.size(); ++c) steps_.push_back({.kind = Kind::kStart, .ring = c});
  uint64_t stride = 1;
  for (const hardware::NetworkDimension& dimension : system.dimensions) {
    strides_.push_back(stride);
    sizes_.push_back(dimension.npus);
    stride *= dimension.npus;
  }
  strides_.push_back(stride);
  for (const GroupFamily& family : classes.families) sizes_.push_back(family.size);
}

uint32_t OrderTrace::Add(const Step& step) {
  const auto [at, added] = known_.try_emplace(step, static_cast<uint32_t>(steps_.size()));
  if (added) steps_.push_back(step);
  return at->second;
}

uint32_t OrderTrace::Shift(uint32_t order, uint32_t ring, uint32_t steps) {
  const Step& last = steps_[order];
  if (last.kind == Kind::kShift && last.ring == ring) {
    return Shift(last.parent, ring, (last.amount + steps) % sizes_[ring]);
  }
  if (steps == 0) return order;
  return Add({.parent = order, .kind = Kind::kShift, .ring = ring, .amount = steps});
}

uint32_t OrderTrace::Swap(uint32_t order, uint32_t ring, uint32_t distance) {
  const Step& last = steps_[order];
  if (last.kind == Kind::kSwap && last.ring == ring) {
    return Swap(last.parent, ring, last.amount ^ distance);
  }
  if (distance == 0) return order;
  return Add({.parent = order, .kind = Kind::kSwap, .ring = ring, .amount = distance});
}

uint32_t OrderTrace::Exchange(uint32_t order, uint32_t ring, uint32_t hops, bool clockwise) {
  return Add({.parent = order, .kind = Kind::kExchange, .clockwise = clockwise, .ring = ring, .amount = hops});
}

uint32_t OrderTrace::Moved(uint32_t rank, uint32_t ring, uint32_t coordinate) const {
  if (ring >= dimensions_) return (*FamilyOf(ring).group_of[rank])[coordinate];
  return static_cast<uint32_t>(rank + (uint64_t{coordinate} - Coordinate(rank, ring)) * strides_[ring]);
}

MatchKey OrderTrace::MirrorSteps(const MatchKey& key, uint32_t ring, uint32_t steps, bool clockwise) const {
  MatchKey mirrored = key;
  mirrored.destination = classes_.first(key.destination);
  const uint32_t back = clockwise ? sizes_[ring] - steps : steps;
  mirrored.source = Moved(mirrored.destination, ring, (Coordinate(mirrored.destination, ring) + back) % sizes_[ring]);
  return mirrored;
}

MatchKey OrderTrace::MirrorSwap(const MatchKey& key, uint32_t ring, uint32_t distance) const {
  MatchKey mirrored = key;
  mirrored.destination = classes_.first(key.destination);
  mirrored.source = Moved(mirrored.destination, ring, Coordinate(mirrored.destination, ring) ^ distance);
  return mirrored;
}

// Whether messages that many places on belong to the exchange.
bool OrderTrace::InStep(const Step& step, uint32_t steps) const {
  const uint32_t size = sizes_[step.ring];
  if (step.ring < dimensions_) return std::min(steps, size - steps) == step.amount;
  return FamilyOf(step.ring).class_of_steps[step.clockwise ? steps : size - steps] == step.amount;
}

// Every sender in turn reaches the members of its ring in the order of its sends; a rank counts when reached first.
void OrderTrace::ApplyExchange(const Step& step, std::vector<uint32_t>& ranks) const {
  if (step.amount == 0) return ApplyFullExchange(step, ranks);
  const uint32_t size = sizes_[step.ring];
  std::vector<uint32_t> distances;
  for (uint32_t k = 1; k < size; ++k) {
    if (InStep(step, k)) distances.push_back(step.clockwise ? k : size - k);
  }
  std::vector<uint32_t> reached;
  reached.reserve(ranks.size());
  std::vector<bool> seen(strides_.back());
  for (const uint32_t sender : ranks) {
    const uint32_t here = Coordinate(sender, step.ring);
    for (const uint32_t distance : distances) {
      const uint32_t target = Moved(sender, step.ring, (here + distance) % size);
      if (seen[target]) continue;
      seen[target] = true;
      reached.push_back(target);
    }
  }
  ranks = std::move(reached);
}

// The first sender of a ring reaches all others, the second one the first sender.
void OrderTrace::ApplyFullExchange(const Step& step, std::vector<uint32_t>& ranks) const {
  if (step.ring >= dimensions_) {
    const GroupFamily& family = FamilyOf(step.ring);
    return Exchanged(step, ranks, [&](uint32_t rank, uint32_t& here) {
      here = family.position[rank];
      const uint32_t* members = family.group_of[rank]->data();
      return [members](uint32_t at) { return members[at]; };
    });
  }
  const uint32_t size = sizes_[step.ring];
  const auto stride = static_cast<uint32_t>(strides_[step.ring]);
  Exchanged(step, ranks, [=](uint32_t rank, uint32_t& here) {
    here = rank / stride % size;
    const uint32_t zero = rank - here * stride;
    return [=](uint32_t at) { return zero + at * stride; };
  });
}

// `ring_of` gives a rank's coordinate and the members of its ring by theirs.
template <class RingOf>
void OrderTrace::Exchanged(const Step& step, std::vector<uint32_t>& ranks, RingOf ring_of) const {
  constexpr uint32_t kNone = 0xFFFFFFFFu;
  constexpr uint32_t kDone = 0xFFFFFFFEu;
  const uint32_t size = sizes_[step.ring];
  std::vector<uint32_t> first(strides_.back(), kNone);  // sender of each ring, by its member with coordinate 0
  std::vector<uint32_t> reached;
  reached.reserve(ranks.size());
  for (const uint32_t sender : ranks) {
    uint32_t here = 0;
    const auto member = ring_of(sender, here);
    uint32_t& in_ring = first[member(0)];
    if (in_ring == kDone) continue;
    if (in_ring != kNone) {
      reached.push_back(in_ring);
      in_ring = kDone;
      continue;
    }
    in_ring = sender;
    for (uint32_t k = 1; k < size; ++k) {
      const uint32_t at = here + (step.clockwise ? k : size - k);
      reached.push_back(member(at >= size ? at - size : at));
    }
  }
  ranks = std::move(reached);
}

std::vector<uint32_t> OrderTrace::Evaluate(uint32_t order) const {
  std::vector<uint32_t> chain;
  uint32_t start = order;
  for (; steps_[start].kind != Kind::kStart; start = steps_[start].parent) chain.push_back(start);
  std::vector<uint32_t> ranks = classes_.members[steps_[start].ring];
  std::vector<uint32_t> shift(dimensions_, 0);  // shifts of different dimensions commute: applied together
  const auto apply_shifts = [&] {
    for (uint32_t d = 0; d < shift.size(); ++d) {
      if (shift[d] == 0) continue;
      for (uint32_t& rank : ranks) rank = Moved(rank, d, (Coordinate(rank, d) + shift[d]) % sizes_[d]);
      shift[d] = 0;
    }
  };
  for (auto at = chain.rbegin(); at != chain.rend(); ++at) {
    const Step& step = steps_[*at];
    if (step.kind == Kind::kShift && step.ring < dimensions_) {
      shift[step.ring] = (shift[step.ring] + step.amount) % sizes_[step.ring];
      continue;
    }
    apply_shifts();
    if (step.kind == Kind::kExchange) {
      ApplyExchange(step, ranks);
    } else if (step.kind == Kind::kCross) {
      for (uint32_t& rank : ranks) rank = classes_.links[step.ring][rank];
    } else {
      MoveAll(step, ranks);
    }
  }
  apply_shifts();
  return ranks;
}

// A shift within groups, or a swap.
void OrderTrace::MoveAll(const Step& step, std::vector<uint32_t>& ranks) const {
  for (uint32_t& rank : ranks) {
    const uint32_t here = Coordinate(rank, step.ring);
    const uint32_t there = step.kind == Kind::kSwap ? here ^ step.amount : (here + step.amount) % sizes_[step.ring];
    rank = Moved(rank, step.ring, there);
  }
}

}  // namespace hespas::simulate
