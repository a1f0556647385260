#include "estimate/profile/file_identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/text/hash.h"

namespace hespas::estimate {

std::string FileIdentity(const std::string& path) {
  std::error_code error;
  std::ifstream file(path, std::ios::binary);
  std::string head(size_t{1} << 20, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<size_t>(file.gcount()));
  return fmt::format("{}|{}", std::filesystem::file_size(path, error), HashBytes(head).hex());
}

std::string HostProcessor() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name"))
      return fmt::format("{} x {}", line.substr(line.find(':') + 1), sysconf(_SC_NPROCESSORS_ONLN));
  }
  return {};
}

}  // namespace hespas::estimate
