// A sweep file's text as a tree of values with their places; YAML or JSON, told apart by the first character.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "sweep/columns/json.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kSweepSyntax{
    "E1000", "A sweep file is YAML or JSON; this one does not parse. `hespas schema sweep` prints its keys."};

class SweepSource {
 public:
  static Result<SweepSource> Parse(std::string text, const std::string& file);

  const Json& root() const { return root_; }
  const std::string& file() const { return file_; }
  // Of a member; `path` names keys and indices from the root, and as much of it counts as there is.
  Location At(const std::vector<std::string>& path) const;

 private:
  std::string text_;
  std::string file_;
  Json root_;
  bool yaml_ = false;
};

}  // namespace hespas::sweep
