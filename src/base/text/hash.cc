#include "base/text/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

namespace hespas {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 HashBytes(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

Hash128 Combine(Hash128 seed, Hash128 next) {
  const uint64_t words[] = {seed.low, seed.high, next.low, next.high};
  return HashBytes({reinterpret_cast<const char*>(words), sizeof words});
}

Hash128 Combine(Hash128 seed, uint64_t next) { return Combine(seed, Hash128{next, 0x68657370ull}); }

}  // namespace hespas
