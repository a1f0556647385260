// Typed 4-byte ids into flat stores; ids of different stores do not mix.
#pragma once

#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace hespas {

template <class Tag>
struct Id {
  static constexpr uint32_t kNone = 0xFFFFFFFFu;
  uint32_t value = kNone;

  constexpr Id() = default;
  constexpr explicit Id(size_t index) : value(static_cast<uint32_t>(index)) {}
  constexpr bool valid() const { return value != kNone; }
  constexpr size_t index() const { return value; }
  constexpr auto operator<=>(const Id&) const = default;
};

// A run of consecutive ids.
template <class T>
struct IdRange {
  T first;
  uint32_t count = 0;

  struct Iterator {
    uint32_t at;
    T operator*() const { return T(at); }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {first.value}; }
  Iterator end() const { return {first.value + count}; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  T operator[](size_t i) const { return T(first.value + i); }
};

}  // namespace hespas

// Declares a typed id, for example HESPAS_ID(OpId).
#define HESPAS_ID(Name)              \
  struct Name : ::hespas::Id<Name> { \
    using Id::Id;                    \
  }

template <class T>
requires std::derived_from<T, hespas::Id<T>>
struct std::hash<T> {
  size_t operator()(const T& id) const noexcept { return id.value * 0x9E3779B97F4A7C15ull; }
};
