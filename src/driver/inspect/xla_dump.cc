#include "driver/inspect/xla_dump.h"

#include <fmt/format.h>

#include <filesystem>

namespace hespas::driver {
namespace {

namespace fs = std::filesystem;

// Not its buffer assignment or memory usage, which have names of their own behind it.
bool IsCompiled(const fs::path& file) {
  const std::string name = file.filename().string();
  return name.ends_with("after_optimizations.txt") || name.ends_with("after_optimizations.hlo");
}

}  // namespace

Result<std::string> CompiledProgramIn(const std::string& folder) {
  std::error_code error;
  std::string largest;
  uintmax_t most = 0;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code unknown;
    const uintmax_t size = IsCompiled(it->path()) ? fs::file_size(it->path(), unknown) : 0;
    const bool same = size == most && !largest.empty() && it->path().string() < largest;
    if (unknown || size == 0 || (size < most || (size == most && !same && !largest.empty()))) continue;
    most = size;
    largest = it->path().string();
  }
  if (error) return MakeError(kNoDump, fmt::format("cannot read `{}`: {}", folder, error.message()));
  if (!largest.empty()) return largest;
  return MakeError(kNoDump, fmt::format("`{}` has no *after_optimizations.txt", folder), {},
                   "run the program with XLA_FLAGS=--xla_dump_to=FOLDER");
}

}  // namespace hespas::driver
