#include <algorithm>

#include "ir/verify/index_dims.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

bool CheckEqualShapes(Check& check, size_t first, size_t count, std::string_view what) {
  for (size_t i = first + 1; i < first + count; ++i) {
    if (!check.operand_ranked(first) || !check.operand_ranked(i)) continue;
    if (!CompatibleShapes(check.operand(first), check.operand(i))) {
      return check.Fail(kTypeMismatch, "{} have different shapes: `{}` and `{}`", what,
                        check.text(check.operand_type(first)), check.text(check.operand_type(i)));
    }
  }
  return true;
}

// Window dimensions of an update against those of the input that are left.
bool CheckWindow(Check& check, const ScatterDimensions& dims, const Type& update) {
  const Type& input = check.operand(0);
  Dimensions sizes;
  for (int64_t d = 0; d < check.operand_rank(0); ++d) {
    if (Contains(dims.inserted_window, d) || Contains(dims.input_batching, d)) continue;
    sizes.push_back(input.dims[static_cast<size_t>(d)]);
  }
  for (size_t i = 0; i < dims.update_window.size(); ++i) {
    const int64_t size = update.dims[static_cast<size_t>(dims.update_window[i])];
    if (size == kDynamic || sizes[i] == kDynamic || size <= sizes[i]) continue;
    return check.Fail(kBadDimension, "the update's window has size {} in dimension {}, but the input only {}", size,
                      dims.update_window[i], sizes[i]);
  }
  return true;
}

// The other dimensions of an update are those of the indices.
bool CheckUpdateBatch(Check& check, const ScatterDimensions& dims, const Type& update, const Dimensions& batch) {
  size_t next = 0;
  for (int64_t d = 0; d < static_cast<int64_t>(update.dims.size()); ++d) {
    if (Contains(dims.update_window, d)) continue;
    const int64_t size = update.dims[static_cast<size_t>(d)];
    if (CompatibleSizes(size, batch[next])) {
      ++next;
      continue;
    }
    return check.Fail(kTypeMismatch, "the update has size {} in dimension {}, but the indices have {}", size, d,
                      batch[next]);
  }
  return true;
}

bool CheckUpdate(Check& check, const ScatterDimensions& dims, size_t indices) {
  if (!check.operand_ranked(indices + 1)) return true;
  const Type& update = check.operand(indices + 1);
  const Dimensions batch = IndexBatch(check.operand(indices), dims.index_vector);
  if (update.dims.size() != batch.size() + dims.update_window.size()) {
    return check.Fail(kTypeMismatch, "the update `{}` must have {} dimensions of the indices and {} of the window",
                      check.text(check.operand_type(indices + 1)), batch.size(), dims.update_window.size());
  }
  const int64_t rank = static_cast<int64_t>(update.dims.size());
  return ExpectSorted(check, dims.update_window, "update_window_dims") &&
         check.ExpectDimensions(dims.update_window, rank, "update_window_dims") && CheckWindow(check, dims, update) &&
         CheckUpdateBatch(check, dims, update, batch);
}

bool CheckInputDimensions(Check& check, const ScatterDimensions& dims) {
  const size_t named = dims.update_window.size() + dims.inserted_window.size() + dims.input_batching.size();
  if (named != check.operand(0).dims.size()) {
    return check.Fail(kBadDimension, "{} window, {} inserted and {} batching dimensions do not make the rank {}",
                      dims.update_window.size(), dims.inserted_window.size(), dims.input_batching.size(),
                      check.operand_rank(0));
  }
  Dimensions all = dims.inserted_window;
  all.insert(all.end(), dims.input_batching.begin(), dims.input_batching.end());
  return ExpectSorted(check, dims.inserted_window, "inserted_window_dims") &&
         ExpectSorted(check, dims.input_batching, "input_batching_dims") &&
         check.ExpectDimensions(all, check.operand_rank(0), "inserted_window_dims and input_batching_dims");
}

bool CheckBody(Check& check, size_t count) {
  Reducer reducer{.block = check.block(0), .scalar_inits = true};
  if (!reducer.block.valid()) return check.Fail(kBadRegion, "the body is empty");
  for (size_t i = 0; i < count; ++i) {
    reducer.inputs.push_back(check.operand_type(count + 1 + i));
    reducer.inits.push_back(check.operand_type(i));
  }
  if (!CheckReducer(check, reducer)) return false;
  const auto returned = check.returned_types(reducer.block);
  for (size_t i = 0; i < count; ++i) {
    const TypeId type = (*returned)[i];
    if (!CompatibleElements(check.facts(), type, check.result_type(i))) {
      return check.Fail(kTypeMismatch, "the body returns `{}`, but result {} has type `{}`", check.text(type), i,
                        check.text(check.result_type(i)));
    }
    if (check.operand_ranked(i) && !check.ExpectShape(check.operand(i).dims, i)) return false;
  }
  return true;
}

}  // namespace

// Operands are inputs, one tensor of indices, then as many updates.
bool CheckScatter(Check& check) {
  const size_t count = check.operand_count() / 2;
  if (check.operand_count() % 2 == 0 || count == 0) {
    return check.Fail(kWrongCount, "inputs, indices and as many updates are needed, but there are {} operands",
                      check.operand_count());
  }
  if ((check.operand_facts(count).classes & (kInteger | kIndex)) == 0) {
    return check.Fail(kWrongType, "the indices must be integers, not `{}`", check.text(check.operand_type(count)));
  }
  if (!check.ExpectResults(count) || !check.Require("scatter_dimension_numbers")) return false;
  const auto dims = ScatterDimensionsOf(check.module(), check.id());
  if (!dims) return check.Fail(kBadAttribute, "`scatter_dimension_numbers` cannot be read");
  if (!CheckEqualShapes(check, 0, count, "inputs") || !CheckEqualShapes(check, count + 1, count, "updates")) {
    return false;
  }
  if (!CheckBody(check, count)) return false;
  if (!check.operand_ranked(0) || !check.operand_ranked(count)) return true;
  const IndexDimensions indices{.indices = count,
                                .index_vector = dims->index_vector,
                                .map = dims->scatter_to_operand,
                                .operand_batching = dims->input_batching,
                                .indices_batching = dims->scatter_indices_batching,
                                .map_name = "scatter_dims_to_operand_dims"};
  return CheckInputDimensions(check, *dims) && CheckIndexDimensions(check, indices) && CheckUpdate(check, *dims, count);
}

}  // namespace hespas::ir::verify
