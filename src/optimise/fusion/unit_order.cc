#include "optimise/fusion/unit_order.h"

namespace hespas::optimise {

void UnitOrder::Link(uint32_t unit, uint32_t before) {
  const uint32_t last = units_[before].before;
  units_[unit].before = last;
  units_[unit].after = before;
  units_[last].after = unit;
  units_[before].before = unit;
}

void UnitOrder::Append(uint32_t unit) {
  const uint32_t last = units_[end_].before;
  Link(unit, end_);
  units_[unit].place = units_[last].place + kSpacing;
}

void UnitOrder::Remove(uint32_t unit) {
  units_[units_[unit].before].after = units_[unit].after;
  units_[units_[unit].after].before = units_[unit].before;
}

void UnitOrder::MoveBefore(const std::vector<uint32_t>& moved, uint32_t unit) {
  for (const uint32_t m : moved) Remove(m);
  uint64_t place = units_[units_[unit].before].place;
  const uint64_t step = (units_[unit].place - place) / (moved.size() + 1);
  for (const uint32_t m : moved) {
    Link(m, unit);
    units_[m].place = place += step;
  }
  if (step == 0) Renumber();
}

void UnitOrder::Renumber() {
  uint64_t place = 0;
  for (uint32_t at = units_[end_].after; at != end_; at = units_[at].after) units_[at].place = place += kSpacing;
}

}  // namespace hespas::optimise
