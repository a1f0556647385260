// Lists of numbers, one after the other in one array.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hespas::graph {

class NumberLists {
 public:
  size_t size() const { return starts_.size() - 1; }
  std::span<const uint32_t> operator[](size_t list) const { return {items_.data() + starts_[list], Length(list)}; }
  std::span<uint32_t> operator[](size_t list) { return {items_.data() + starts_[list], Length(list)}; }

  // Appends to the list that End closes.
  void Add(uint32_t item) { items_.push_back(item); }
  void End() { starts_.push_back(static_cast<uint32_t>(items_.size())); }

  // For each of `count` items the lists that hold it, in order.
  NumberLists Inverted(size_t count) const {
    NumberLists out;
    out.starts_.assign(count + 1, 0);
    for (const uint32_t item : items_) ++out.starts_[item + 1];
    for (size_t i = 0; i < count; ++i) out.starts_[i + 1] += out.starts_[i];
    out.items_.resize(items_.size());
    std::vector<uint32_t> next(out.starts_.begin(), out.starts_.end() - 1);
    for (uint32_t list = 0; list < size(); ++list) {
      for (const uint32_t item : (*this)[list]) out.items_[next[item]++] = list;
    }
    return out;
  }

 private:
  uint32_t Length(size_t list) const { return starts_[list + 1] - starts_[list]; }

  std::vector<uint32_t> starts_ = {0};
  std::vector<uint32_t> items_;
};

}  // namespace hespas::graph
