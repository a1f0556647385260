#include "optimise/gpu/layout/layout.h"

#include <algorithm>
#include <array>

namespace hespas::optimise {
namespace {

using Few = std::array<uint8_t, Layout::kHighestRank>;

// Dimensions that are not 1, and of each dimension its place among them.
struct Compact {
  explicit Compact(const Dimensions& dims) {
    for (size_t i = 0; i < dims.size(); ++i) {
      place[i] = static_cast<uint8_t>(count);
      if (dims[i] == 1) continue;
      original[count] = static_cast<uint8_t>(i);
      sizes[count++] = dims[i];
    }
  }
  std::array<int64_t, Layout::kHighestRank> sizes;
  Few original;
  Few place;
  size_t count = 0;
};

// The smallest runs of dimensions of two shapes that hold the same elements, by the first dimension in one shape: the
// end there, and the run in the other.
struct Parts {
  Few from_end{};  // 0 where no part begins
  Few to{};
  Few to_end{};
};

// Nothing where the shapes differ in size.
std::optional<Parts> PartsOf(const Compact& from, const Compact& to) {
  Parts parts;
  size_t i = 0;
  size_t j = 0;
  while (i < from.count && j < to.count) {
    const size_t first = i;
    parts.to[first] = static_cast<uint8_t>(j);
    int64_t a = from.sizes[i++];
    int64_t b = to.sizes[j++];
    while (a != b) {
      if (a < b ? i == from.count : j == to.count) return std::nullopt;
      const bool overflows =
          a < b ? __builtin_mul_overflow(a, from.sizes[i++], &a) : __builtin_mul_overflow(b, to.sizes[j++], &b);
      if (overflows) return std::nullopt;
    }
    parts.from_end[first] = static_cast<uint8_t>(i);
    parts.to_end[first] = static_cast<uint8_t>(j);
  }
  if (i != from.count || j != to.count) return std::nullopt;
  return parts;
}

// Appends the group where it lies in one piece and in order from `at` on.
bool Takes(const Layout& layout, const Dimensions& group, size_t& at) {
  for (size_t i = 0; i < group.size(); ++i) {
    if (at + i >= layout.rank() || layout[at + i] != static_cast<size_t>(group[i])) return false;
  }
  at += group.size();
  return true;
}

}  // namespace

Layout Layout::Default(size_t rank) {
  Layout layout;
  for (size_t i = 0; i < rank; ++i) layout.Append(i);
  return layout;
}

Layout Layout::Of(const Dimensions& dimensions) {
  Layout layout;
  for (const int64_t d : dimensions) layout.Append(static_cast<size_t>(d));
  return layout;
}

Dimensions Layout::Places() const {
  Dimensions places(rank());
  for (size_t i = 0; i < rank(); ++i) places[(*this)[i]] = static_cast<int64_t>(i);
  return places;
}

Dimensions InMemory(const Dimensions& dims, const Layout& layout) {
  Dimensions out;
  for (size_t i = 0; i < layout.rank(); ++i) out.push_back(dims[layout[i]]);
  return out;
}

std::optional<Layout> Align(const Dimensions& from, const Layout& layout, const Dimensions& to) {
  const Compact source(from);
  const Compact target(to);
  const auto parts = PartsOf(source, target);
  if (!parts) return std::nullopt;
  Layout aligned;
  // XLA's order: unit dimensions lie outermost, the last one first.
  for (size_t i = to.size(); i-- > 0;) {
    if (to[i] == 1) aligned.Append(i);
  }
  Few places;  // of dimensions that are not 1, from major to minor
  size_t count = 0;
  for (size_t i = 0; i < layout.rank(); ++i) {
    if (from[layout[i]] != 1) places[count++] = source.place[layout[i]];
  }
  for (size_t i = 0; i < count;) {
    const size_t first = places[i];
    if (parts->from_end[first] == 0) return std::nullopt;
    for (size_t d = first; d < parts->from_end[first]; ++d) {
      if (i == count || places[i++] != d) return std::nullopt;
    }
    for (size_t d = parts->to[first]; d < parts->to_end[first]; ++d) aligned.Append(target.original[d]);
  }
  return aligned;
}

bool EqualInMemory(const Dimensions& dims, const Layout& a, const Layout& b) {
  size_t j = 0;
  for (size_t i = 0; i < a.rank(); ++i) {
    if (dims[a[i]] == 1) continue;
    while (dims[b[j]] == 1) ++j;
    if (a[i] != b[j++]) return false;
  }
  return true;
}

Layout Filtered(const Layout& layout, const Dimensions& kept) {
  Layout out;
  for (size_t i = 0; i < layout.rank(); ++i) {
    const auto found = std::find(kept.begin(), kept.end(), static_cast<int64_t>(layout[i]));
    if (found != kept.end()) out.Append(static_cast<size_t>(found - kept.begin()));
  }
  return out;
}

bool IsMatrix(const Layout& layout, const Dimensions& batch, const Dimensions& rows, const Dimensions& columns) {
  const Dimensions* last = nullptr;
  for (size_t at = 0; at < layout.rank();) {
    const size_t before = at;
    for (const Dimensions* group : {&batch, &rows, &columns}) {
      if (group->empty() || layout[at] != static_cast<size_t>(group->front())) continue;
      if (!Takes(layout, *group, at)) return false;
      last = group;
      break;
    }
    if (at == before) return false;
  }
  return last != &batch;
}

}  // namespace hespas::optimise
