// How the order of equal events over all ranks came about, for runs that simulate one rank in the place of many.
//
// - In a symmetric run every event happens at all ranks of a class at the same tick; only their order among each other
//   differs. An event takes over the order of the event that caused it; a message from a neighbour or peer moves it by
//   that neighbour or peer, perhaps into another class.
// - Rings are the network's dimensions and after them the families of groups.
// - An order is an id of a chain of such steps; equal chains have equal ids. Ascending ranks of class c are order c.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "hardware/system.h"
#include "simulate/engine/match_key.h"
#include "simulate/symmetry/equivalent_ranks.h"

namespace hespas::simulate {

class OrderTrace {
 public:
  // `classes` stay where they are.
  OrderTrace(const hardware::System& system, const EquivalentRanks& classes);

  uint32_t RingOfGroup(uint32_t group) const {
    return static_cast<uint32_t>(dimensions_) + classes_.family_of.at(group);
  }
  // Equal for all groups of a family.
  uint32_t NumberOfGroup(uint32_t group) const {
    const auto family = classes_.family_of.find(group);
    return family == classes_.family_of.end() ? group : classes_.families[family->second].number;
  }
  const GroupFamily& FamilyOf(uint32_t ring) const { return classes_.families[ring - dimensions_]; }

  // The message came from the rank `steps` before (in the clockwise sense) in `ring`.
  uint32_t Shift(uint32_t order, uint32_t ring, uint32_t steps);
  // The message came from the partner whose coordinate differs by exclusive or with `distance` (a power of two).
  uint32_t Swap(uint32_t order, uint32_t ring, uint32_t distance);
  // First of the messages that all members of the ring sent to all others at once; those that travel `hops` (0: any),
  // or are of that class of their family.
  uint32_t Exchange(uint32_t order, uint32_t ring, uint32_t hops, bool clockwise);

  // The message came from the rank whose peer this is.
  uint32_t Cross(uint32_t order, uint32_t link) { return Add({.parent = order, .kind = Kind::kCross, .ring = link}); }

  // A message to the rank so many steps on, or at that distance, as the first rank of the receiver's class gets it.
  MatchKey MirrorSteps(const MatchKey& key, uint32_t ring, uint32_t steps, bool clockwise) const;
  MatchKey MirrorSwap(const MatchKey& key, uint32_t ring, uint32_t distance) const;

  // The ranks of the class whose events have the order, in that order.
  std::vector<uint32_t> Evaluate(uint32_t order) const;

 private:
  enum class Kind : uint8_t { kStart, kShift, kSwap, kExchange, kCross };
  struct Step {
    uint32_t parent = 0;
    Kind kind = Kind::kStart;
    bool clockwise = true;
    uint32_t ring = 0;
    uint32_t amount = 0;
    bool operator==(const Step&) const = default;
  };
  struct HashStep {
    size_t operator()(const Step& step) const {
      const uint64_t low = uint64_t{step.parent} << 32 | step.amount;
      const auto high = static_cast<uint64_t>(step.kind) << 40 | uint64_t{step.ring} << 1 | (step.clockwise ? 1u : 0u);
      return (low * 0x9E3779B97F4A7C15ull) ^ (high * 0xBF58476D1CE4E5B9ull);
    }
  };

  uint32_t Add(const Step& step);
  void ApplyExchange(const Step& step, std::vector<uint32_t>& ranks) const;
  void ApplyFullExchange(const Step& step, std::vector<uint32_t>& ranks) const;
  template <class RingOf>
  void Exchanged(const Step& step, std::vector<uint32_t>& ranks, RingOf ring_of) const;
  void MoveAll(const Step& step, std::vector<uint32_t>& ranks) const;
  bool InStep(const Step& step, uint32_t steps) const;
  uint32_t Moved(uint32_t rank, uint32_t ring, uint32_t coordinate) const;
  uint32_t Coordinate(uint32_t rank, uint32_t ring) const {
    if (ring >= dimensions_) return FamilyOf(ring).position[rank];
    return static_cast<uint32_t>(rank / strides_[ring] % sizes_[ring]);
  }

  std::vector<Step> steps_;  // first one start for each class
  std::unordered_map<Step, uint32_t, HashStep> known_;
  const EquivalentRanks& classes_;
  size_t dimensions_;
  std::vector<uint64_t> strides_;  // of each dimension, then the number of ranks
  std::vector<uint32_t> sizes_;    // of each ring
};

}  // namespace hespas::simulate
