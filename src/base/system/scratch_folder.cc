#include "base/system/scratch_folder.h"

#include <stdlib.h>

#include <string>
#include <system_error>

namespace hespas {

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "hespas-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) return;
  path_ = name;
  registered_.emplace(path_.c_str());
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

}  // namespace hespas
