// Steps over the data of `dense<...>` without decoding it, yet refusing malformed elements and ragged lists.
#pragma once

#include <cstdint>
#include <vector>

#include "read/stablehlo/cursor.h"

namespace hespas::read {

struct DenseShape {
  enum class Form : uint8_t { kEmpty, kSplat, kList, kHex };
  Form form = Form::kEmpty;
  std::vector<int64_t> dims;  // kList only
};

// From after `dense<` to its closing `>`, which is consumed.
bool ReadDense(Cursor& cursor, DenseShape& shape);

}  // namespace hespas::read
