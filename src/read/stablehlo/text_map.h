// Maps short texts that repeat all the time (types, names of ops and attributes) to small values.
//
// Open addressing; keys are views into the source and are never removed.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace hespas::read {

// A few multiplications over eight bytes at a time; equal texts have equal hashes, nothing more is asked of it.
inline uint64_t HashText(std::string_view text) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15ull;
  uint64_t hash = text.size() * kFactor;
  const char* p = text.data();
  size_t left = text.size();
  for (; left >= 8; left -= 8, p += 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  }
  uint64_t tail = 0;
  std::memcpy(&tail, p, left);
  hash = (hash ^ tail) * kFactor;
  return hash ^ (hash >> 29);
}

template <class T>
class TextMap {
 public:
  TextMap() : slots_(256) {}

  const T* Find(std::string_view text) const {
    const Slot& slot = slots_[IndexOf(text, HashText(text))];
    return slot.text.data() ? &slot.value : nullptr;
  }

  // The value of `text`, made by `make()` where it is new.
  template <class Make>
  T& FindOrAdd(std::string_view text, Make&& make) {
    const uint64_t hash = HashText(text);
    size_t index = IndexOf(text, hash);
    if (!slots_[index].text.data()) {
      T value = make();
      if (2 * ++count_ > slots_.size()) Grow();
      index = IndexOf(text, hash);
      slots_[index] = {text, hash, std::move(value)};
    }
    return slots_[index].value;
  }

 private:
  struct Slot {
    std::string_view text;
    uint64_t hash = 0;
    T value{};
  };

  // Where `text` is, or the free slot where it belongs.
  size_t IndexOf(std::string_view text, uint64_t hash) const {
    const size_t mask = slots_.size() - 1;
    size_t index = hash & mask;
    while (slots_[index].text.data() && (slots_[index].hash != hash || slots_[index].text != text)) {
      index = (index + 1) & mask;
    }
    return index;
  }

  void Grow() {
    std::vector<Slot> old(2 * slots_.size());
    old.swap(slots_);
    for (Slot& slot : old) {
      if (slot.text.data()) slots_[IndexOf(slot.text, slot.hash)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  size_t count_ = 0;
};

}  // namespace hespas::read
