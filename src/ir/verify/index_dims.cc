#include "ir/verify/index_dims.h"

#include <algorithm>

namespace hespas::ir::verify {
namespace {

bool CheckBatching(Check& check, const IndexDimensions& dims) {
  const Type& indices = check.operand(dims.indices);
  if (!check.ExpectDimensions(dims.indices_batching, check.operand_rank(dims.indices), "indices batching dimensions")) {
    return false;
  }
  if (Contains(dims.indices_batching, dims.index_vector)) {
    return check.Fail(kBadDimension, "the indices' batching dimensions must not hold `index_vector_dim` {}",
                      dims.index_vector);
  }
  if (dims.operand_batching.size() != dims.indices_batching.size()) {
    return check.Fail(kBadDimension, "there are {} batching dimensions of the operand, but {} of the indices",
                      dims.operand_batching.size(), dims.indices_batching.size());
  }
  for (size_t i = 0; i < dims.operand_batching.size(); ++i) {
    const int64_t left = check.operand(0).dims[static_cast<size_t>(dims.operand_batching[i])];
    const int64_t right = indices.dims[static_cast<size_t>(dims.indices_batching[i])];
    if (CompatibleSizes(left, right)) continue;
    return check.Fail(kBadDimension, "batching dimensions {} and {} have sizes {} and {}", dims.operand_batching[i],
                      dims.indices_batching[i], left, right);
  }
  return true;
}

}  // namespace

bool Contains(const Dimensions& dims, int64_t value) {
  return std::find(dims.begin(), dims.end(), value) != dims.end();
}

bool ExpectSorted(Check& check, const Dimensions& dims, std::string_view what) {
  return std::is_sorted(dims.begin(), dims.end()) ||
         check.Fail(kBadDimension, "`{}` must be sorted, but is {}", what, ShapeList(dims));
}

bool CheckIndexDimensions(Check& check, const IndexDimensions& dims) {
  const Type& indices = check.operand(dims.indices);
  const int64_t rank = check.operand_rank(dims.indices);
  if (dims.index_vector < 0 || dims.index_vector > rank) {
    return check.Fail(kBadDimension, "`index_vector_dim` {} is not in [0, {}]", dims.index_vector, rank);
  }
  const int64_t length = dims.index_vector == rank ? 1 : indices.dims[static_cast<size_t>(dims.index_vector)];
  if (!CompatibleSizes(length, static_cast<int64_t>(dims.map.size()))) {
    return check.Fail(kBadDimension, "`{}` has {} entries, but an index vector has {}", dims.map_name, dims.map.size(),
                      length);
  }
  Dimensions all = dims.map;
  all.insert(all.end(), dims.operand_batching.begin(), dims.operand_batching.end());
  return check.ExpectDimensions(all, check.operand_rank(0), dims.map_name) && CheckBatching(check, dims);
}

Dimensions IndexBatch(const Type& indices, int64_t index_vector) {
  Dimensions sizes = indices.dims;
  if (index_vector < static_cast<int64_t>(sizes.size())) sizes.erase(sizes.begin() + index_vector);
  return sizes;
}

}  // namespace hespas::ir::verify
