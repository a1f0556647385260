// What libc++ 13, which Emscripten 3.1.6 has, lacks of the C++20 library; empty with a library that has it. Included
// before each source.
#pragma once

#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 14000
#include <fast_float/fast_float.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>
#include <string>
#include <utility>

_LIBCPP_BEGIN_NAMESPACE_STD

inline from_chars_result from_chars(const char* first, const char* last, double& value) {
  const auto [end, error] = fast_float::from_chars(first, last, value);
  return {end, error};
}

// The shortest digits that read back as `value`; of equally short forms the one without exponent.
to_chars_result to_chars(char* first, char* last, double value);
to_chars_result to_chars(char* first, char* last, double value, chars_format format);

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  return __builtin_bit_cast(To, from);
}

// The algorithms on whole containers, in terms of those on iterators.
namespace ranges {

template <class Range, class Value>
auto find(Range&& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value);
}
template <class Range, class Value, class Projection>
auto find(Range&& range, const Value& value, Projection projection) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const auto& item) { return std::invoke(projection, item) == value; });
}
template <class Range, class Predicate>
auto find_if(Range&& range, Predicate predicate) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const auto& item) { return std::invoke(predicate, item); });
}
template <class Range, class Predicate>
bool any_of(Range&& range, Predicate predicate) {
  return ranges::find_if(range, predicate) != std::end(range);
}
template <class Range, class Predicate>
bool none_of(Range&& range, Predicate predicate) {
  return !ranges::any_of(range, predicate);
}
template <class Range, class Predicate>
bool all_of(Range&& range, Predicate predicate) {
  return std::all_of(std::begin(range), std::end(range),
                     [&](const auto& item) { return std::invoke(predicate, item); });
}
template <class A, class B>
bool equal(const A& a, const B& b) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b));
}
template <class A, class B, class Predicate>
bool equal(const A& a, const B& b, Predicate predicate) {
  return std::equal(std::begin(a), std::end(a), std::begin(b), std::end(b), predicate);
}
template <class Less, class Projection>
auto Projected(Less less, Projection projection) {
  return [=](const auto& a, const auto& b) { return less(std::invoke(projection, a), std::invoke(projection, b)); };
}
struct LessThan {
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return a < b;
  }
};
struct Self {
  template <class T>
  const T& operator()(const T& item) const {
    return item;
  }
};
template <class Range, class Less = LessThan, class Projection = Self>
void sort(Range&& range, Less less = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range), ranges::Projected(less, projection));
}
template <class Range, class Less = LessThan, class Projection = Self>
void stable_sort(Range&& range, Less less = {}, Projection projection = {}) {
  std::stable_sort(std::begin(range), std::end(range), ranges::Projected(less, projection));
}
template <class Range, class Less = LessThan, class Projection = Self>
auto min_element(Range&& range, Less less = {}, Projection projection = {}) {
  return std::min_element(std::begin(range), std::end(range), ranges::Projected(less, projection));
}
template <class Range, class Less = LessThan, class Projection = Self>
auto max_element(Range&& range, Less less = {}, Projection projection = {}) {
  return std::max_element(std::begin(range), std::end(range), ranges::Projected(less, projection));
}
template <class Range>
auto minmax(Range&& range) {
  const auto [least, most] = std::minmax_element(std::begin(range), std::end(range));
  return std::pair(*least, *most);
}
template <class Range, class Value, class Less = LessThan, class Projection>
auto lower_bound(Range&& range, const Value& value, Less, Projection projection) {
  return std::lower_bound(std::begin(range), std::end(range), value, [&](const auto& item, const Value& wanted) {
    return std::invoke(projection, item) < wanted;
  });
}
template <class Range, class Value>
bool binary_search(Range&& range, const Value& value) {
  return std::binary_search(std::begin(range), std::end(range), value);
}
template <class Range, class Out>
auto move(Range&& range, Out out) {
  return std::move(std::begin(range), std::end(range), out);
}

}  // namespace ranges
_LIBCPP_END_NAMESPACE_STD
#endif
