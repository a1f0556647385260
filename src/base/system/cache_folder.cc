#include "base/system/cache_folder.h"

#include <cstdlib>

namespace hespas {

std::filesystem::path CacheFolder() {
  const char* given = std::getenv("XDG_CACHE_HOME");
  if (given != nullptr && *given != '\0') return std::filesystem::path(given) / "hespas";
  const char* home = std::getenv("HOME");
  return std::filesystem::path(home == nullptr ? "/tmp" : home) / ".cache" / "hespas";
}

}  // namespace hespas
