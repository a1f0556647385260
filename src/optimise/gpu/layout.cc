#include "optimise/gpu/layout.h"

#include <algorithm>

namespace hespas::optimise {
namespace {

// Dimensions of two shapes, none of them 1, that hold the same elements.
struct Part {
  size_t from = 0, from_end = 0;
  size_t to = 0, to_end = 0;
};

// The smallest ones, in order; nothing where the shapes differ in size.
std::optional<std::vector<Part>> PartsOf(const Dimensions& from, const Dimensions& to) {
  std::vector<Part> parts;
  size_t i = 0;
  size_t j = 0;
  while (i < from.size() && j < to.size()) {
    Part part{.from = i, .to = j};
    int64_t a = from[i++];
    int64_t b = to[j++];
    while (a != b) {
      if (a < b ? i == from.size() : j == to.size()) return std::nullopt;
      (a < b ? a *= from[i++] : b *= to[j++]);
    }
    part.from_end = i;
    part.to_end = j;
    parts.push_back(part);
  }
  if (i != from.size() || j != to.size()) return std::nullopt;
  return parts;
}

// Dimensions that are not 1, and of each dimension its place among them.
struct Compact {
  explicit Compact(const Dimensions& dims) {
    for (size_t i = 0; i < dims.size(); ++i) {
      place.push_back(sizes.size());
      if (dims[i] == 1) continue;
      original.push_back(i);
      sizes.push_back(dims[i]);
    }
  }
  Dimensions sizes;
  std::vector<size_t> original;
  std::vector<size_t> place;
};

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
  const auto parts = PartsOf(source.sizes, target.sizes);
  if (!parts) return std::nullopt;
  Layout aligned;
  // XLA's order: unit dimensions lie outermost, the last one first.
  for (size_t i = to.size(); i-- > 0;) {
    if (to[i] == 1) aligned.Append(i);
  }
  std::vector<size_t> places;  // of dimensions that are not 1, from major to minor
  for (size_t i = 0; i < layout.rank(); ++i) {
    if (from[layout[i]] != 1) places.push_back(source.place[layout[i]]);
  }
  for (size_t i = 0; i < places.size();) {
    const auto part =
        std::find_if(parts->begin(), parts->end(), [&](const Part& candidate) { return candidate.from == places[i]; });
    if (part == parts->end()) return std::nullopt;
    for (size_t d = part->from; d < part->from_end; ++d) {
      if (i == places.size() || places[i++] != d) return std::nullopt;
    }
    for (size_t d = part->to; d < part->to_end; ++d) aligned.Append(target.original[d]);
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
