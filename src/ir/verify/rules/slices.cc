#include <algorithm>

#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

// Start indices from operand `first` on: one scalar of one element type for each dimension.
bool CheckIndices(Check& check, size_t first) {
  const size_t count = check.operand_count() - std::min(first, check.operand_count());
  if (check.operand_ranked(0) && count != check.operand(0).dims.size()) {
    return check.Fail(kWrongCount, "{} start indices are given for an operand of rank {}", count,
                      check.operand(0).dims.size());
  }
  for (size_t i = first; i < check.operand_count(); ++i) {
    if (check.operand_ranked(i) && check.operand_rank(i) != 0) {
      return check.Fail(kWrongType, "start index {} must be a scalar, not `{}`", i - first,
                        check.text(check.operand_type(i)));
    }
    if (!CompatibleElements(check.facts(), check.operand_type(first), check.operand_type(i))) {
      return check.Fail(kTypeMismatch, "start indices must have one element type, but are `{}` and `{}`",
                        check.text(check.operand_type(first)), check.text(check.operand_type(i)));
    }
  }
  return true;
}

bool CheckBounds(Check& check, size_t i, int64_t start, int64_t limit, int64_t stride, int64_t size) {
  if (start < 0) return check.Fail(kBadDimension, "the start index {} of dimension {} is negative", start, i);
  if (size != kDynamic && limit > size) {
    return check.Fail(kBadDimension, "the limit {} of dimension {} lies beyond its size {}", limit, i, size);
  }
  if (start > limit) {
    return check.Fail(kBadDimension, "the start index {} of dimension {} lies beyond its limit {}", start, i, limit);
  }
  if (stride <= 0) return check.Fail(kBadDimension, "the stride {} of dimension {} is not positive", stride, i);
  return true;
}

}  // namespace

bool CheckSlice(Check& check) {
  const auto start = check.Integers("start_indices");
  const auto limit = check.Integers("limit_indices");
  if (!start || !limit || !check.operand_ranked(0)) return false;
  auto strides = check.OptionalIntegers("strides");
  if (!strides) return false;
  const Type& operand = check.operand(0);
  const size_t rank = operand.dims.size();
  if (!check.has("strides")) strides->assign(rank, 1);
  if (start->size() != rank || limit->size() != rank || strides->size() != rank) {
    return check.Fail(kBadDimension, "start, limit and strides have {}, {} and {} entries for an operand of rank {}",
                      start->size(), limit->size(), strides->size(), rank);
  }
  const std::vector<int64_t> most = UpperSizes(operand);
  std::vector<int64_t> dims;
  for (size_t i = 0; i < rank; ++i) {
    if (!CheckBounds(check, i, (*start)[i], (*limit)[i], (*strides)[i], most[i])) return false;
    const int64_t length = (*limit)[i] - (*start)[i];
    dims.push_back(length / (*strides)[i] + (length % (*strides)[i] != 0));
  }
  return check.ExpectShape(dims);
}

bool CheckDynamicSlice(Check& check) {
  const auto sizes = check.Integers("slice_sizes");
  if (!sizes || !check.operand_ranked(0)) return false;
  const Type& operand = check.operand(0);
  if (sizes->size() != check.operand_count() - 1) {
    return check.Fail(kBadDimension, "{} slice sizes are given for {} start indices", sizes->size(),
                      check.operand_count() - 1);
  }
  if (!CheckIndices(check, 1)) return false;
  for (size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] < 0) return check.Fail(kBadDimension, "the slice size {} is negative", (*sizes)[i]);
    if (operand.dims[i] != kDynamic && (*sizes)[i] > operand.dims[i]) {
      return check.Fail(kBadDimension, "the slice size {} is larger than dimension {}, which has size {}", (*sizes)[i],
                        i, operand.dims[i]);
    }
  }
  return check.ExpectShape(*sizes);
}

bool CheckDynamicUpdateSlice(Check& check) {
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  const Type& operand = check.operand(0);
  const Type& update = check.operand(1);
  if (update.dims.size() != operand.dims.size()) {
    return check.Fail(kTypeMismatch, "an update of rank {} does not fit an operand of rank {}", update.dims.size(),
                      operand.dims.size());
  }
  if (!CompatibleElements(check.facts(), check.operand_type(0), check.operand_type(1))) {
    return check.Fail(kTypeMismatch, "operand `{}` and update `{}` differ in element type",
                      check.text(check.operand_type(0)), check.text(check.operand_type(1)));
  }
  if (!CheckIndices(check, 2)) return false;
  for (size_t i = 0; i < update.dims.size(); ++i) {
    if (operand.dims[i] == kDynamic || update.dims[i] == kDynamic || update.dims[i] <= operand.dims[i]) continue;
    return check.Fail(kBadDimension, "the update has size {} in dimension {}, but the operand only {}", update.dims[i],
                      i, operand.dims[i]);
  }
  return check.ExpectSameType(0);
}

bool CheckRealDynamicSlice(Check& check) {
  for (size_t i = 1; i < 4; ++i) {
    if (!check.operand_ranked(0) || !check.operand_ranked(i)) continue;
    const Type& list = check.operand(i);
    if (list.dims.size() == 1 && !CompatibleSizes(list.dims[0], check.operand_rank(0))) {
      return check.Fail(kTypeMismatch, "operand {} has {} entries, but the sliced operand has rank {}", i, list.dims[0],
                        check.operand_rank(0));
    }
  }
  if (!check.operand_ranked(0)) return true;
  return check.ExpectShape(std::vector<int64_t>(check.operand(0).dims.size(), kDynamic));
}

}  // namespace hespas::ir::verify
