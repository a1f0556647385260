#include <algorithm>

#include "ir/verify/index_dims.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

// Dimensions of the operand that leave no offset dimension.
bool CheckRemoved(Check& check, const GatherDimensions& dims, const Dimensions* sizes) {
  const int64_t rank = check.operand_rank(0);
  if (!ExpectSorted(check, dims.collapsed_slice, "collapsed_slice_dims") ||
      !ExpectSorted(check, dims.operand_batching, "operand_batching_dims")) {
    return false;
  }
  Dimensions all = dims.collapsed_slice;
  all.insert(all.end(), dims.operand_batching.begin(), dims.operand_batching.end());
  if (!check.ExpectDimensions(all, rank, "collapsed_slice_dims and operand_batching_dims")) return false;
  for (const int64_t d : all) {
    if (!sizes || (*sizes)[static_cast<size_t>(d)] <= 1) continue;
    return check.Fail(kBadDimension, "dimension {} is collapsed or batching, but its slice size is {}", d,
                      (*sizes)[static_cast<size_t>(d)]);
  }
  return true;
}

bool CheckSliceSizes(Check& check, const Dimensions& sizes) {
  const Type& operand = check.operand(0);
  if (sizes.size() != operand.dims.size()) {
    return check.Fail(kBadDimension, "`slice_sizes` has {} entries for an operand of rank {}", sizes.size(),
                      operand.dims.size());
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || (operand.dims[i] != kDynamic && sizes[i] > operand.dims[i])) {
      return check.Fail(kBadDimension, "the slice size {} does not fit dimension {} of size {}", sizes[i], i,
                        operand.dims[i]);
    }
  }
  return true;
}

// Batch sizes from the indices, in order, with the offset sizes at `offset`.
bool CheckResult(Check& check, const GatherDimensions& dims, const Dimensions* sizes) {
  const Dimensions batch = IndexBatch(check.operand(1), dims.index_vector);
  const int64_t rank = static_cast<int64_t>(batch.size() + dims.offset.size());
  if (!ExpectSorted(check, dims.offset, "offset_dims") || !check.ExpectDimensions(dims.offset, rank, "offset_dims")) {
    return false;
  }
  Dimensions offsets;
  for (int64_t d = 0; d < check.operand_rank(0); ++d) {
    if (Contains(dims.collapsed_slice, d) || Contains(dims.operand_batching, d)) continue;
    offsets.push_back(sizes ? (*sizes)[static_cast<size_t>(d)] : kDynamic);
  }
  Dimensions shape;
  size_t next_batch = 0;
  size_t next_offset = 0;
  for (int64_t d = 0; d < rank; ++d) {
    shape.push_back(Contains(dims.offset, d) ? offsets[next_offset++] : batch[next_batch++]);
  }
  return check.ExpectShape(shape);
}

bool CheckGatherWith(Check& check, const GatherDimensions& dims, const Dimensions* sizes) {
  const int64_t rank = check.operand_rank(0);
  if (dims.offset.size() + dims.collapsed_slice.size() + dims.operand_batching.size() != static_cast<size_t>(rank)) {
    return check.Fail(kBadDimension, "{} offset, {} collapsed and {} batching dimensions do not make the rank {}",
                      dims.offset.size(), dims.collapsed_slice.size(), dims.operand_batching.size(), rank);
  }
  if (sizes && !CheckSliceSizes(check, *sizes)) return false;
  const IndexDimensions indices{.index_vector = dims.index_vector,
                                .map = dims.start_index_map,
                                .operand_batching = dims.operand_batching,
                                .indices_batching = dims.start_indices_batching,
                                .map_name = "start_index_map"};
  return CheckRemoved(check, dims, sizes) && CheckIndexDimensions(check, indices) && CheckResult(check, dims, sizes);
}

}  // namespace

bool CheckGather(Check& check) {
  if (!check.Require("dimension_numbers") || !check.Require("slice_sizes")) return false;
  const auto dims = GatherDimensionsOf(check.module(), check.id());
  if (!dims) return check.Fail(kBadAttribute, "`dimension_numbers` or `slice_sizes` cannot be read");
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  return CheckGatherWith(check, *dims, &dims->slice_sizes);
}

bool CheckDynamicGather(Check& check) {
  if (!check.Require("dimension_numbers")) return false;
  const auto dims = GatherDimensionsOf(check.module(), check.id());
  if (!dims) return check.Fail(kBadAttribute, "`dimension_numbers` cannot be read");
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  const Type& list = check.operand(2);
  if (check.operand_ranked(2) && list.dims.size() == 1 && !CompatibleSizes(list.dims[0], check.operand_rank(0))) {
    return check.Fail(kBadDimension, "{} slice sizes are given for an operand of rank {}", list.dims[0],
                      check.operand_rank(0));
  }
  const auto sizes = check.ConstantOperand(2);
  return CheckGatherWith(check, *dims, sizes ? &*sizes : nullptr);
}

}  // namespace hespas::ir::verify
