// 128-bit structural hashes (XXH3), stable across runs and machines.
#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hespas {

struct Hash128 {
  uint64_t low = 0;
  uint64_t high = 0;
  auto operator<=>(const Hash128&) const = default;
  std::string hex() const;  // 32 digits
};

Hash128 HashBytes(std::string_view bytes);

// Order-dependent combination, for hashing a structure piece by piece.
Hash128 Combine(Hash128 seed, Hash128 next);
Hash128 Combine(Hash128 seed, uint64_t next);

}  // namespace hespas

template <>
struct std::hash<hespas::Hash128> {
  size_t operator()(const hespas::Hash128& h) const noexcept { return h.low ^ (h.high * 0x9E3779B97F4A7C15ull); }
};
