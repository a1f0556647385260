// Units as types: integer picoseconds and bytes, floating rates.
//
// - Time is exact; a quotient such as Bytes / BytesPerSecond is rounded to the nearest picosecond and saturates.
// - Formats with coarser units (Chakra's microseconds, nanosecond ticks) convert at their edge.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <limits>

namespace hespas {

namespace internal {

// Nearest integer, saturating at the ends; not-a-number counts as 0.
inline int64_t SaturatingRound(double x) {
  constexpr double kEnd = 9.2233720368547e18;
  if (std::isnan(x)) return 0;
  if (x >= kEnd) return std::numeric_limits<int64_t>::max();
  if (x <= -kEnd) return std::numeric_limits<int64_t>::min();
  return std::llround(x);
}

inline int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

inline int64_t SaturatingSubtract(int64_t a, int64_t b) {
  int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return b < 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

inline int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

template <class Derived>
struct Count {
  int64_t value = 0;
  constexpr Count() = default;
  constexpr explicit Count(int64_t v) : value(v) {}
  constexpr auto operator<=>(const Count&) const = default;
  friend Derived operator+(Derived a, Derived b) { return Derived(SaturatingAdd(a.value, b.value)); }
  friend Derived operator-(Derived a, Derived b) { return Derived(SaturatingSubtract(a.value, b.value)); }
  friend Derived operator*(int64_t k, Derived a) { return Derived(SaturatingMultiply(k, a.value)); }
  friend Derived operator*(Derived a, int64_t k) { return k * a; }
  Derived& operator+=(Derived b) {
    value = SaturatingAdd(value, b.value);
    return static_cast<Derived&>(*this);
  }
};

}  // namespace internal

struct Time : internal::Count<Time> {  // picoseconds
  using Count::Count;
  static Time Seconds(double s) { return Time(internal::SaturatingRound(s * 1e12)); }
  static constexpr Time Nanoseconds(int64_t ns) { return Time(ns * 1000); }
  double seconds() const { return static_cast<double>(value) * 1e-12; }
};

struct Bytes : internal::Count<Bytes> {
  using Count::Count;
};

struct Flops : internal::Count<Flops> {  // floating-point operations
  using Count::Count;
};

struct BytesPerSecond {
  double value = 0;
  constexpr auto operator<=>(const BytesPerSecond&) const = default;
};

struct FlopsPerSecond {
  double value = 0;
  constexpr auto operator<=>(const FlopsPerSecond&) const = default;
};

inline Time operator/(Bytes b, BytesPerSecond rate) { return Time::Seconds(static_cast<double>(b.value) / rate.value); }
inline Time operator/(Flops f, FlopsPerSecond rate) { return Time::Seconds(static_cast<double>(f.value) / rate.value); }

}  // namespace hespas
