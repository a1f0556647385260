#include "base/system/compression.h"

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/system/file.h"

namespace hespas {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

Error Damaged(const std::string& path, std::string_view format) {
  return MakeError(kBadCompression, fmt::format("`{}`: damaged {} data", path, format), {},
                   "fetch or compress the file again");
}

// Grows `out` geometrically and decompresses into its tail; no second copy of the plain text exists.
class Sink {
 public:
  explicit Sink(size_t hint) { out_.resize(std::max(kChunk, hint)); }
  char* room() {
    if (used_ == out_.size()) out_.resize(out_.size() + out_.size() / 2);
    return out_.data() + used_;
  }
  size_t space() const { return out_.size() - used_; }
  void Take(size_t n) { used_ += n; }
  size_t used() const { return used_; }
  std::string Finish() {
    out_.resize(used_);
    return std::move(out_);
  }

 private:
  std::string out_;
  size_t used_ = 0;
};

}  // namespace

Result<std::string> Gunzip(std::string_view in, const std::string& path) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) return Damaged(path, "gzip");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  Sink sink(in.size() * 4);
  size_t at = 0;
  while (true) {
    const size_t piece = std::min(kChunk, in.size() - at);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data() + at));
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(sink.room());
    const size_t space = std::min(sink.space(), size_t{1} << 30);
    stream.avail_out = static_cast<uInt>(space);
    const int code = inflate(&stream, Z_NO_FLUSH);
    at += piece - stream.avail_in;
    sink.Take(space - stream.avail_out);
    if (uint64_t{sink.used()} > kMaximumInput)
      return MakeError(kInputTooLarge, fmt::format("`{}` unpacks to over 64 GiB", path));
    if (code == Z_STREAM_END) {
      if (at == in.size()) return sink.Finish();
      if (inflateReset(&stream) != Z_OK) return Damaged(path, "gzip");  // concatenated members
    } else if (code != Z_OK || (at == in.size() && stream.avail_out > 0)) {
      return Damaged(path, "gzip");
    }
  }
}

Result<std::string> Unzstd(std::string_view in, const std::string& path) {
  const std::unique_ptr<ZSTD_DStream, size_t (*)(ZSTD_DStream*)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  Sink sink(in.size() * 4);
  ZSTD_inBuffer input{in.data(), in.size(), 0};
  size_t pending = 1;
  while (true) {
    ZSTD_outBuffer output{sink.room(), sink.space(), 0};
    pending = ZSTD_decompressStream(stream.get(), &output, &input);
    if (ZSTD_isError(pending)) return Damaged(path, "zstd");
    sink.Take(output.pos);
    if (uint64_t{sink.used()} > kMaximumInput)
      return MakeError(kInputTooLarge, fmt::format("`{}` unpacks to over 64 GiB", path));
    if (input.pos == input.size && output.pos < output.size) break;
  }
  if (pending != 0) return Damaged(path, "zstd");
  return sink.Finish();
}

}  // namespace hespas
