#include "base/text/digest.h"

#include <fmt/format.h>

// Digests without OpenSSL's providers, which take longer to set up than to hash a program; its static library then adds
// these functions and nothing that has to be loaded.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/evp.h>
#include <openssl/sha.h>

namespace hespas {

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

std::string Base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4, '\0');  // and a zero behind it
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                  static_cast<int>(bytes.size()));
  return text;
}

}  // namespace hespas
