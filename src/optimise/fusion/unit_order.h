// An order of units in which some can be moved in front of another without touching the rest: places are labels with
// gaps between them, renumbered where a gap is used up (Dietz and Sleator's order maintenance, in its plain form).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hespas::optimise {

class UnitOrder {
 public:
  static constexpr uint64_t kSpacing = uint64_t{1} << 38;  // between neighbours of a fresh order

  // Units are numbered below `count`; each is appended once.
  explicit UnitOrder(size_t count = 0) : units_(count + 1), end_(static_cast<uint32_t>(count)) {
    units_[end_] = {.place = 0, .before = end_, .after = end_};
  }

  void Append(uint32_t unit);
  void Remove(uint32_t unit);
  // `moved` in the order in which they are given.
  void MoveBefore(const std::vector<uint32_t>& moved, uint32_t unit);
  uint64_t place(uint32_t unit) const { return units_[unit].place; }

 private:
  struct Unit {
    uint64_t place = 0;
    uint32_t before = 0;
    uint32_t after = 0;
  };
  void Link(uint32_t unit, uint32_t before);
  void Renumber();

  std::vector<Unit> units_;  // and one that stands for both ends
  uint32_t end_;
};

}  // namespace hespas::optimise
