#include "base/text/hash.h"

#include <fmt/format.h>

// Digests without OpenSSL's providers, which take longer to set up than to hash a program; its static library then adds
// these two functions and nothing that has to be loaded.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <xxhash.h>

#include <algorithm>

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
  std::string out(4 * ((bytes.size() + 2) / 3) + 1, '\0');  // and the final NUL that OpenSSL writes
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  out.pop_back();
  std::replace(out.begin(), out.end(), '+', '-');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

Hash128 Combine(Hash128 seed, Hash128 next) {
  const uint64_t words[] = {seed.low, seed.high, next.low, next.high};
  return HashBytes({reinterpret_cast<const char*>(words), sizeof words});
}

Hash128 Combine(Hash128 seed, uint64_t next) { return Combine(seed, Hash128{next, 0x68657370ull}); }

}  // namespace hespas
