#include "base/text/hash.h"

#include <fmt/format.h>

// Digests without OpenSSL's providers, which take longer to set up than to hash a program; its static library then adds
// these two functions and nothing that has to be loaded.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <xxhash.h>

namespace hespas {

std::string Hash128::hex() const { return fmt::format("{:016x}{:016x}", high, low); }

Hash128 HashBytes(std::string_view bytes) {
  const XXH128_hash_t h = XXH3_128bits(bytes.data(), bytes.size());
  return {h.low64, h.high64};
}

std::string Sha256Hex(std::string_view bytes) {
  SHA256_CTX state;
  SHA256_Init(&state);
  SHA256_Update(&state, bytes.data(), bytes.size());
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, &state);
  std::string hex;
  for (const unsigned char byte : digest) hex += fmt::format("{:02x}", byte);
  return hex;
}

std::string Sha1(std::string_view bytes) {
  SHA_CTX state;
  SHA1_Init(&state);
  SHA1_Update(&state, bytes.data(), bytes.size());
  unsigned char digest[SHA_DIGEST_LENGTH];
  SHA1_Final(digest, &state);
  return {reinterpret_cast<const char*>(digest), sizeof digest};
}

std::string UrlSafeBase64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) group = group << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    for (size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? kDigits[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

Hash128 Combine(Hash128 seed, Hash128 next) {
  const uint64_t words[] = {seed.low, seed.high, next.low, next.high};
  return HashBytes({reinterpret_cast<const char*>(words), sizeof words});
}

Hash128 Combine(Hash128 seed, uint64_t next) { return Combine(seed, Hash128{next, 0x68657370ull}); }

}  // namespace hespas
