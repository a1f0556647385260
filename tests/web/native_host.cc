// The host of the engine on this machine: the libraries behind what web/codecs.mjs does in JavaScript.
#include <openssl/evp.h>
#include <zlib.h>
#include <zstd.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "web/host.h"

namespace {

constexpr size_t kMost = size_t{1} << 28;  // the programs of the test unpack to less

std::optional<std::string> Gunzip(std::string_view in) {
  std::string out(kMost, '\0');
  z_stream stream{};
  inflateInit2(&stream, 15 + 16);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return code == Z_STREAM_END ? std::optional(out) : std::nullopt;
}

std::optional<std::string> Unzstd(std::string_view in) {
  std::string out(kMost, '\0');
  const size_t size = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(size)) return std::nullopt;
  out.resize(size);
  return out;
}

std::string Digest(const EVP_MD* kind, std::string_view in) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned size = 0;
  EVP_Digest(in.data(), in.size(), digest, &size, kind, nullptr);
  return {reinterpret_cast<const char*>(digest), size};
}

std::string Base64(std::string_view in) {
  std::string out((in.size() + 2) / 3 * 4, '\0');
  EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()), reinterpret_cast<const unsigned char*>(in.data()),
                  static_cast<int>(in.size()));
  return out;
}

std::optional<std::string> Answer(std::string_view name, std::string_view in) {
  if (name == "gzip") return Gunzip(in);
  if (name == "zstd") return Unzstd(in);
  if (name == "base64") return Base64(in);
  return Digest(name == "sha256" ? EVP_sha256() : EVP_sha1(), in);
}

}  // namespace

HostAnswer HostCodec(const char* name, const char* data, size_t size) {
  const auto answer = Answer(name, {data, size});
  if (!answer) return nullptr;
  const auto length = static_cast<uint32_t>(answer->size());
  auto* bytes = static_cast<HostAnswer>(std::malloc(sizeof length + length));
  std::memcpy(bytes, &length, sizeof length);
  std::memcpy(bytes + sizeof length, answer->data(), length);
  return bytes;
}
