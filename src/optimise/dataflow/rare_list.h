// A list that few nodes have: one pointer where it is empty.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace hespas::optimise {

template <class T>
class RareList {
 public:
  RareList() = default;
  RareList(std::vector<T> items) {
    if (!items.empty()) items_ = std::make_unique<std::vector<T>>(std::move(items));
  }
  RareList(RareList&&) noexcept = default;
  RareList& operator=(RareList&&) noexcept = default;

  // As a vector, to be copied.
  std::vector<T> items() const { return {begin(), end()}; }
  bool empty() const { return size() == 0; }
  size_t size() const { return items_ == nullptr ? 0 : items_->size(); }
  T* begin() { return items_ == nullptr ? nullptr : items_->data(); }
  T* end() { return begin() + size(); }
  const T* begin() const { return items_ == nullptr ? nullptr : items_->data(); }
  const T* end() const { return begin() + size(); }
  T& operator[](size_t i) { return (*items_)[i]; }
  const T& operator[](size_t i) const { return (*items_)[i]; }
  void clear() { items_.reset(); }
  void push_back(T item) {
    if (items_ == nullptr) items_ = std::make_unique<std::vector<T>>();
    items_->push_back(std::move(item));
  }

 private:
  std::unique_ptr<std::vector<T>> items_;
};

}  // namespace hespas::optimise
