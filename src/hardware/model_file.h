// The constants of a model that ship with the program: data/models/NAME.
#pragma once

#include <string>

#include "base/result.h"

namespace hespas::hardware {

struct ModelFile {
  std::string text;
  std::string path;
};
Result<ModelFile> ReadModelFile(const std::string& name);

}  // namespace hespas::hardware
