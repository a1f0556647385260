// In which order the dimensions of a value lie in memory (docs/spec/xla-gpu.md, section 9).
#pragma once

#include <compare>
#include <cstdint>
#include <initializer_list>
#include <optional>

#include "optimise/dataflow/build.h"

namespace hespas::optimise {

// Dimensions from major to minor, four bits each.
class Layout {
 public:
  static constexpr size_t kHighestRank = 16;

  static Layout Default(size_t rank);
  static Layout Of(const Dimensions& dimensions);

  size_t rank() const { return rank_; }
  size_t operator[](size_t place) const { return (places_ >> (4 * place)) & 15; }
  void Append(size_t dimension) { places_ |= static_cast<uint64_t>(dimension) << (4 * rank_++); }
  // By dimension, its place.
  Dimensions Places() const;
  bool IsDefault() const { return *this == Default(rank_); }
  auto operator<=>(const Layout&) const = default;

 private:
  uint64_t places_ = 0;
  uint32_t rank_ = 0;
};

// The shape as it lies in memory.
Dimensions InMemory(const Dimensions& dims, const Layout& layout);

// The layout of `to` with which a reshape of `from` moves nothing; nothing where there is none
// (ShapeUtil::AlignLayouts).
std::optional<Layout> Align(const Dimensions& from, const Layout& layout, const Dimensions& to);

// Whether the two differ in places of unit dimensions alone.
bool EqualInMemory(const Dimensions& dims, const Layout& a, const Layout& b);

// Without the dimensions that `kept` lacks; these are numbered by their place in `kept`, which need not be sorted.
Layout Filtered(const Layout& layout, const Dimensions& kept);

// Whether cuBLAS could read batches, rows and columns: each in one piece and in order, batches not innermost
// (MatrixLayout::For).
bool IsMatrix(const Layout& layout, const Dimensions& batch, const Dimensions& rows, const Dimensions& columns);

}  // namespace hespas::optimise
