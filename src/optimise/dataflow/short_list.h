// A list of ids that mostly has up to three, which need no memory of their own.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace hespas::optimise {

template <class T>
class ShortList {
 public:
  ShortList() = default;
  ShortList(std::initializer_list<T> items) { Assign({items.begin(), items.size()}); }
  ShortList(std::span<const T> items) { Assign(items); }
  ShortList(const std::vector<T>& items) { Assign(items); }
  ShortList(const ShortList& other) { Assign(other); }
  ShortList(ShortList&& other) noexcept
      : far_(std::move(other.far_)), size_(std::exchange(other.size_, 0)), near_(other.near_) {}
  ShortList& operator=(ShortList other) noexcept {
    far_ = std::move(other.far_);
    size_ = other.size_;
    near_ = other.near_;
    return *this;
  }
  operator std::vector<T>() const { return {begin(), end()}; }

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  T* data() { return far_ == nullptr ? near_.data() : far_.get(); }
  const T* data() const { return far_ == nullptr ? near_.data() : far_.get(); }
  T* begin() { return data(); }
  T* end() { return data() + size_; }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size_; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }

  void push_back(T item) {
    if (far_ == nullptr ? size_ == kNear : std::has_single_bit(size_)) Move(size_ + 1);
    data()[size_++] = item;
  }
  void clear() { size_ = 0; }
  // Only to fewer.
  void resize(size_t size) { size_ = static_cast<uint32_t>(std::min<size_t>(size, size_)); }

 private:
  static constexpr uint32_t kNear = 3;

  // There is always room far away for the next power of two.
  void Move(size_t room) {
    std::unique_ptr<T[]> to = std::make_unique<T[]>(std::bit_ceil(room));
    std::copy(begin(), end(), to.get());
    far_ = std::move(to);
  }
  void Assign(std::span<const T> items) {
    if (items.size() > kNear) Move(items.size());
    size_ = static_cast<uint32_t>(items.size());
    std::copy(items.begin(), items.end(), begin());
  }

  std::unique_ptr<T[]> far_;
  uint32_t size_ = 0;
  std::array<T, kNear> near_;
};

}  // namespace hespas::optimise
