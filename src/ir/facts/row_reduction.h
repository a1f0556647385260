// Reductions along rows: of the dimension that is contiguous in memory (row-major), which a warp of XLA's emitter
// reads.
#pragma once

#include <algorithm>

#include "ir/attributes/op_attributes.h"

namespace hespas::ir {

// `extents` are the operand's; dimensions of size 1 are none.
inline bool ReducesRows(const Dimensions& extents, const Dimensions& reduced) {
  int64_t last = static_cast<int64_t>(extents.size()) - 1;
  while (last >= 0 && extents[static_cast<size_t>(last)] == 1) --last;
  return last < 0 || std::find(reduced.begin(), reduced.end(), last) != reduced.end();
}

}  // namespace hespas::ir
