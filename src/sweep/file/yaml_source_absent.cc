// Without yaml-cpp sweeps come as JSON.
#include "base/left_out.h"
#include "sweep/file/yaml_source.h"

namespace hespas::sweep {

Result<Json> ParseYaml(const std::string&, const std::string& file) {
  return LeftOut("reader of YAML", {.file = file}, "write the file as JSON");
}

Location LocateYaml(const std::string&, const std::string& file, const std::vector<std::string>&) {
  return {.file = file};
}

}  // namespace hespas::sweep
