// Where Hespas keeps what can be made again.
#pragma once

#include <filesystem>

namespace hespas {

// $XDG_CACHE_HOME/hespas, else ~/.cache/hespas; it need not exist.
std::filesystem::path CacheFolder();

}  // namespace hespas
