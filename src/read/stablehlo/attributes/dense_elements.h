// Whether the elements of a dense attribute can have the type that stands behind them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "ir/type.h"

namespace hespas::read {

struct Misfit {
  const char* at;  // in the attribute's text
  std::string why;
};

// `text` is what stands between `dense<` and `>`, whose syntax is right. Linear; floats are merely scanned for
// brackets.
std::optional<Misfit> FindMisfit(std::string_view text, const ir::Element& element);

}  // namespace hespas::read
