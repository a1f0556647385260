// Names of one computation at a time: a hash table whose clearing costs nothing, so that a million small computations
// after a large one stay linear.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace hespas::read::hlo {

class NameTable {
 public:
  void Clear() {
    ++generation_;
    count_ = 0;
  }

  // False where the name is known already.
  bool Insert(std::string_view name, uint32_t value) {
    if (2 * (count_ + 1) > slots_.size()) Grow();
    Slot& slot = slots_[SlotOf(name)];
    if (slot.generation == generation_) return false;
    slot = {name, generation_, value};
    ++count_;
    return true;
  }

  std::optional<uint32_t> Find(std::string_view name) const {
    const Slot& slot = slots_[SlotOf(name)];
    if (slot.generation != generation_) return std::nullopt;
    return slot.value;
  }

  template <class Visit>
  void ForEach(Visit&& visit) const {
    for (const Slot& slot : slots_) {
      if (slot.generation == generation_) visit(slot.name);
    }
  }

 private:
  struct Slot {
    std::string_view name;
    uint32_t generation = 0;
    uint32_t value = 0;
  };

  size_t SlotOf(std::string_view name) const {
    const size_t mask = slots_.size() - 1;
    size_t at = std::hash<std::string_view>{}(name)&mask;
    while (slots_[at].generation == generation_ && slots_[at].name != name) at = (at + 1) & mask;
    return at;
  }

  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.generation == generation_) slots_[SlotOf(slot.name)] = slot;
    }
  }

  std::vector<Slot> slots_ = std::vector<Slot>(64);
  uint32_t generation_ = 1;
  size_t count_ = 0;
};

}  // namespace hespas::read::hlo
