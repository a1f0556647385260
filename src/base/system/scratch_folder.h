// A temporary folder of our own that goes away with its content, after an interrupt too.
#pragma once

#include <filesystem>
#include <optional>

#include "base/system/temporary_name.h"

namespace hespas {

class ScratchFolder {
 public:
  ScratchFolder();  // `path` stays empty where none could be made
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<TemporaryName> registered_;
};

}  // namespace hespas
