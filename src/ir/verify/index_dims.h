// Dimension lists that gather and scatter share.
#pragma once

#include "ir/attributes/op_attributes.h"
#include "ir/verify/check.h"

namespace hespas::ir::verify {

bool ExpectSorted(Check& check, const Dimensions& dims, std::string_view what);
bool Contains(const Dimensions& dims, int64_t value);

// How the indices operand (operand `indices`) picks elements of operand 0.
struct IndexDimensions {
  size_t indices = 1;
  int64_t index_vector = 0;
  const Dimensions& map;  // start_index_map, scatter_dims_to_operand_dims
  const Dimensions& operand_batching;
  const Dimensions& indices_batching;
  std::string_view map_name;
};
bool CheckIndexDimensions(Check& check, const IndexDimensions& dims);

// Sizes of the indices operand without the index vector dimension.
Dimensions IndexBatch(const Type& indices, int64_t index_vector);

}  // namespace hespas::ir::verify
