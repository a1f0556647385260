// Records addressed by 32-bit indices, reused after release. References are valid until the next Take.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace hespas::simulate {

inline constexpr uint32_t kNil = 0xFFFFFFFFu;

template <class T>
class Pool {
 public:
  uint32_t Take() {
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<uint32_t>(items_.size() - 1);
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    return index;
  }
  uint32_t Take(T value) {
    const uint32_t index = Take();
    items_[index] = std::move(value);
    return index;
  }
  void Release(uint32_t index) { free_.push_back(index); }
  T& operator[](uint32_t index) { return items_[index]; }
  const T& operator[](uint32_t index) const { return items_[index]; }

 private:
  std::vector<T> items_;
  std::vector<uint32_t> free_;
};

}  // namespace hespas::simulate
