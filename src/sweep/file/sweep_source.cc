#include "sweep/file/sweep_source.h"

#include <utility>

#include "base/text/json.h"
#include "base/text/json_text.h"
#include "sweep/file/yaml_source.h"

namespace hespas::sweep {

Result<SweepSource> SweepSource::Parse(std::string text, const std::string& file) {
  SweepSource source;
  source.text_ = std::move(text);
  source.file_ = file;
  const size_t first = source.text_.find_first_not_of(" \t\r\n");
  source.yaml_ = first == std::string::npos || source.text_[first] != '{';
  if (!source.yaml_) {
    const auto checked = ParseJson(source.text_, file);
    if (!checked) return checked.error();
    source.root_ = ReadOrderedJson(source.text_);
    return source;
  }
  auto root = ParseYaml(source.text_, file);
  if (!root) return root.error();
  source.root_ = *std::move(root);
  return source;
}

Location SweepSource::At(const std::vector<std::string>& path) const {
  return yaml_ ? LocateYaml(text_, file_, path) : LocateJson(text_, file_, path);
}

}  // namespace hespas::sweep
