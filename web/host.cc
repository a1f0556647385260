// What the host of the program does for it: compression, digests, files of pages from the data folder.
#include "web/host.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include "base/system/compression.h"
#include "base/system/file.h"
#include "base/text/digest.h"
#include "hardware/presets.h"
#include "report/page/assets.h"

namespace hespas {
namespace {

std::optional<std::string> Codec(const char* name, std::string_view in) {
  const HostAnswer given = HostCodec(name, in.data(), in.size());
  if (given == kHostOutOfMemory) throw std::bad_alloc();
  const std::unique_ptr<uint8_t, decltype(&std::free)> answer(given, std::free);
  if (answer == nullptr) return std::nullopt;
  uint32_t size = 0;
  std::memcpy(&size, answer.get(), sizeof size);
  return std::string(reinterpret_cast<const char*>(answer.get()) + sizeof size, size);
}

Result<std::string> Decompressed(const char* codec, std::string_view in, const std::string& path) {
  auto plain = Codec(codec, in);
  if (plain) return *std::move(plain);
  return MakeError(kBadCompression, fmt::format("`{}`: damaged {} data", path, codec), {},
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
std::string Base64(std::string_view bytes) { return Codec("base64", bytes).value_or(""); }

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
HESPAS_ASSET(KernelJs, "kernel_section.js")
HESPAS_ASSET(GraphJs, "graph.js")
HESPAS_ASSET(GraphSectionJs, "graph_section.js")
HESPAS_ASSET(SweepJs, "sweep.js")
HESPAS_ASSET(Echarts, "echarts.min.js")

}  // namespace report::assets
}  // namespace hespas
