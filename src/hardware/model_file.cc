#include "hardware/model_file.h"

#include <utility>

#include "base/system/file.h"
#include "hardware/presets.h"

namespace hespas::hardware {

Result<ModelFile> ReadModelFile(const std::string& name) {
  const auto folder = DataFolder();
  if (!folder) return folder.error();
  std::string path = (*folder / "models" / name).string();
  auto text = ReadInput(path);
  if (!text) return text.error();
  return ModelFile{*std::move(text), std::move(path)};
}

}  // namespace hespas::hardware
