// Which attributes of an op belong to it (MLIR's properties, `<{...}>`) and which are merely attached (`{...}`).
#pragma once

#include <optional>
#include <string_view>

#include "ir/attributes/canonical.h"

namespace hespas::ir {

// Of the generic form of StableHLO 1.20. Ops of unknown dialects have no properties.
bool IsProperty(std::string_view op_name, std::string_view attribute_name);

// How a plain list or number of that name is meant.
PlainMeaning MeaningOf(std::string_view attribute_name);

// A property that MLIR adds where it is not written.
struct DefaultProperty {
  std::string_view name;
  std::string_view text;
};
std::optional<DefaultProperty> DefaultPropertyOf(std::string_view op_name);

}  // namespace hespas::ir
