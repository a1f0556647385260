#include "driver/configuration/stragglers.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/unit_text.h"
#include "driver/configuration/ranks.h"

namespace hespas::driver {

Result<std::vector<double>> ComputeScale(const std::vector<std::string>& stragglers, size_t npus) {
  std::vector<double> scale;
  for (const std::string& text : stragglers) {
    const size_t equals = std::min(text.find('='), text.size());
    const auto ranks = ParseRanks(text.substr(0, equals));
    const auto factor = ParseQuantity(text.substr(std::min(equals + 1, text.size())), Unit::kNumber);
    if (!ranks || !factor || !(*factor > 0)) {
      return MakeError(kBadStraggler, fmt::format("`{}` is not of the form NPU=FACTOR", text), {},
                       "for example 3=1.2: NPU 3 computes a fifth longer");
    }
    if (ranks->back() >= npus) {
      return MakeError(kBadStraggler, fmt::format("`{}`: the run has {} NPUs", text, npus));
    }
    if (scale.size() <= ranks->back()) scale.resize(ranks->back() + 1, 1.0);
    for (const uint32_t rank : *ranks) scale[rank] = *factor;
  }
  return scale;
}

}  // namespace hespas::driver
