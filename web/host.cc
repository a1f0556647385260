// What JavaScript does for the program: compression and digests (Module.codecs of web/engine.mjs), files of pages from
// the data folder.
#include <emscripten.h>
#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/compression.h"
#include "base/system/file.h"
#include "base/text/digest.h"
#include "hardware/presets.h"
#include "report/page/assets.h"

// The answer lies in memory of malloc, 4 bytes of its size before it; 0 where the codec refuses.
EM_JS(uint8_t*, HostCodec, (const char* name, const char* data, size_t size), {
  try {
    const input = HEAPU8.subarray(data >>> 0, (data >>> 0) + (size >>> 0));
    const output = Module["codecs"][UTF8ToString(name)](input);
    const answer = _malloc(output.length + 4) >>> 0;
    if (answer == 0) return 0;
    new DataView(HEAPU8.buffer).setUint32(answer, output.length, true);
    HEAPU8.set(output, answer + 4);
    return answer;
  } catch (error) {
    return 0;
  }
});

// No library can be loaded; the engines that are libraries say so. musl's dlerror tells what its __dl_seterr was given.
extern "C" {
void __dl_seterr(const char* format, ...);
void* dlopen(const char*, int) {
  __dl_seterr("libraries cannot be loaded here");
  return nullptr;
}
void* dlsym(void*, const char*) { return nullptr; }
}

namespace hespas {
namespace {

std::optional<std::string> Codec(const char* name, std::string_view in) {
  const std::unique_ptr<uint8_t, decltype(&std::free)> answer(HostCodec(name, in.data(), in.size()), std::free);
  if (answer == nullptr) return std::nullopt;
  uint32_t size = 0;
  std::memcpy(&size, answer.get(), sizeof size);
  return std::string(reinterpret_cast<const char*>(answer.get()) + sizeof size, size);
}

Result<std::string> Decompressed(const char* codec, std::string_view in, const std::string& path) {
  auto plain = Codec(codec, in);
  if (plain) return *std::move(plain);
  return MakeError(kBadCompression, fmt::format("`{}`: damaged {} data, or more than fits in memory", path, codec), {},
                   "fetch or compress the file again");
}

}  // namespace

Result<std::string> Gunzip(std::string_view in, const std::string& path) { return Decompressed("gzip", in, path); }
Result<std::string> Unzstd(std::string_view in, const std::string& path) { return Decompressed("zstd", in, path); }

std::string Sha256Hex(std::string_view bytes) {
  std::string hex;
  for (const char byte : Codec("sha256", bytes).value_or("")) hex += fmt::format("{:02x}", static_cast<uint8_t>(byte));
  return hex;
}

std::string Sha1(std::string_view bytes) { return Codec("sha1", bytes).value_or(""); }

namespace report::assets {
namespace {

std::string Read(std::string_view name) {
  const auto folder = hardware::DataFolder();
  const auto text = folder ? ReadRaw((*folder / "report" / name).string()) : Result<std::string>(std::string());
  return text ? *text : std::string();
}

}  // namespace

#define HESPAS_ASSET(function, file)            \
  std::string_view function() {                 \
    static const std::string text = Read(file); \
    return text;                                \
  }
HESPAS_ASSET(PageHtml, "page.html")
HESPAS_ASSET(PageCss, "page.css")
HESPAS_ASSET(PageJs, "page.js")
HESPAS_ASSET(ShellJs, "shell.js")
HESPAS_ASSET(LiveJs, "live.js")
HESPAS_ASSET(LiveSectionJs, "live_section.js")
HESPAS_ASSET(Echarts, "echarts.min.js")

}  // namespace report::assets
}  // namespace hespas
