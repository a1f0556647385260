// The measured sets of data/measured as comparisons with the models, by device and op.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/diagnostic.h"
#include "driver/validation.h"

namespace hespas::driver {

struct GroupKey {
  std::string set, device, op;
  auto operator<=>(const GroupKey&) const = default;
};
using Groups = std::map<GroupKey, std::vector<Comparison>>;

// Each adds its set's groups; false where a file is missing or damaged.
bool AddGemms(Groups& groups, Diagnostics& diagnostics);
bool AddKernels(Groups& groups, Diagnostics& diagnostics);
bool AddCollectives(Groups& groups, Diagnostics& diagnostics);
bool AddModels(Groups& groups, Diagnostics& diagnostics);  // sets "nodes" and "models"

}  // namespace hespas::driver
