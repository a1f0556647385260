#include "base/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <xxhash.h>

namespace hespas {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 HashBytes(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

std::string Sha256Hex(std::string_view bytes) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest, &length, EVP_sha256(), nullptr);
  std::string hex;
  for (unsigned i = 0; i < length; ++i) hex += fmt::format("{:02x}", digest[i]);
  return hex;
}

Hash128 Combine(Hash128 seed, Hash128 next) {
  const uint64_t words[] = {seed.low, seed.high, next.low, next.high};
  return HashBytes({reinterpret_cast<const char*>(words), sizeof words});
}

Hash128 Combine(Hash128 seed, uint64_t next) { return Combine(seed, Hash128{next, 0x68657370ull}); }

}  // namespace hespas
