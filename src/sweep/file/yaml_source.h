// YAML as a tree of values, and where a member of it stands.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sweep/columns/json.h"

namespace hespas::sweep {

Result<Json> ParseYaml(const std::string& text, const std::string& file);
Location LocateYaml(const std::string& text, const std::string& file, const std::vector<std::string>& path);

}  // namespace hespas::sweep
