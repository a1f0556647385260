#include "optimise/gpu/loop_reductions.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "optimise/dataflow/build.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

struct Run {
  bool reduced = false;
  int64_t elements = 1;
};

// Neighbouring dimensions that are all reduced or all kept, from the outermost on; dimensions of size 1 do not count.
std::vector<Run> RunsOf(const Dimensions& dims, const Dimensions& reduced) {
  std::vector<Run> runs;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (dims[d] == 1) continue;
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) != reduced.end();
    if (runs.empty() || runs.back().reduced != is_reduced) runs.push_back({is_reduced, 1});
    runs.back().elements = internal::SaturatingMultiply(runs.back().elements, dims[d]);
  }
  return runs;
}

bool AreRowsShort(int64_t length) {
  return length < gpu_rules::kWarp && (length < 1 || gpu_rules::kWarp % length != 0);
}

bool AreColumnsShort(int64_t length, int64_t columns) {
  constexpr int64_t kWarp = gpu_rules::kWarp;
  return length < kWarp || (length < 2 * kWarp && columns < kWarp) || (length < 4 * kWarp && columns < 8) ||
         (length < 8 * kWarp && columns < 3);
}

}  // namespace

bool ReducesInLoop(const Dataflow& flow, const Node& reduce) {
  const ir::Type& type = flow.type(reduce.operands[0]);
  const auto reduced = IntegersOf(flow, reduce, "dimensions");
  if (reduce.kind != ir::OpKind::kReduce || !reduced || !type.has_static_shape()) return false;
  const std::vector<Run> runs = RunsOf(type.dims, *reduced);
  if (runs.size() > 3) return true;
  if (runs.empty()) return false;
  // Rows end the array, also where batches of them are reduced, too.
  if (runs.back().reduced) return AreRowsShort(runs.back().elements);
  const bool has_columns = runs.size() > 1;
  return has_columns && AreColumnsShort(runs[runs.size() - 2].elements, runs.back().elements);
}

}  // namespace hespas::optimise
