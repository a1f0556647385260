// Large reductions run in two stages (XLA's TreeReductionRewriter): a block reduces what fits without atomics, a second
// kernel reduces the partial results.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/units.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// One block reduces 1024 threads x 16 elements of a row, 32 threads x 128 elements of a column (XLA
// ReductionDimensionRaceFreeBound).
constexpr int64_t kRowBound = 16384;
constexpr int64_t kColumnBound = 4096;
constexpr int64_t kWindow = 32;     // of a tree's stages on CPUs
constexpr int64_t kBatchBound = 8;  // batches of rows that one block reduces together (BatchedReductionRaceFreeBound)
constexpr int64_t kShortestRow =
    32;  // of batches of rows (reduction_utils.cc, IsReductionFromOrToContiguousDimensions)

// A reduction over neighbouring dimensions: [before, reduced, after].
struct Extent {
  int64_t before = 1;
  int64_t reduced = 1;
  int64_t after = 1;
};

std::optional<Extent> ExtentOf(const Dimensions& dims, const Dimensions& reduced) {
  std::vector<char> is_reduced(dims.size(), 0);
  for (const int64_t d : reduced) {
    if (d < 0 || static_cast<size_t>(d) >= dims.size()) return std::nullopt;
    is_reduced[static_cast<size_t>(d)] = 1;
  }
  Extent extent;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (is_reduced[i]) {
      if (extent.after != 1) return std::nullopt;
      extent.reduced = internal::SaturatingMultiply(extent.reduced, dims[i]);
    } else {
      int64_t& side = extent.reduced == 1 ? extent.before : extent.after;
      side = internal::SaturatingMultiply(side, dims[i]);
    }
  }
  return extent;
}

// The first stage reduces `inside` elements to each of `parts`; together as many as there are, or a few more.
struct Split {
  int64_t parts;
  int64_t inside;
};

// Nearest to equal with the least padding, a power of two if it can be, then the rather longer first stage.
Split SplitOf(int64_t n, bool rows) {
  const int64_t bound = rows ? kRowBound : kColumnBound;
  const int64_t root = std::min(bound, static_cast<int64_t>(std::sqrt(static_cast<double>(n))));
  const auto padding = [n](int64_t d) { return (d - n % d) % d; };
  int64_t best = root;
  int64_t least = padding(root);
  for (int64_t d = root - 1; d > root / 2; --d) {
    const bool power = (d & (d - 1)) == 0;
    const int64_t added = padding(d);
    if (added > least || (added == least && !power)) continue;
    best = d;
    least = added;
  }
  const Split split{(n + least) / best, best};
  if (split.parts > bound) return split;
  const bool even = n % 2 == 0;
  const bool vectors = even && split.inside % 2 == 0;
  const bool longer = vectors ? split.inside * 2 < split.parts || split.parts % 2 == 0 : even || split.parts % 2 != 0;
  return !rows || longer ? Split{split.inside, split.parts} : split;
}

NodeId AddReduce(Dataflow& flow, NodeId like, ValueId input, const Dimensions& reduced) {
  Node made = flow.Copy(like);
  made.operands[0] = input;
  SetAttribute(flow.source(), made, "dimensions", ArrayText(reduced));
  Dimensions dims = flow.type(input).dims;
  for (size_t i = reduced.size(); i-- > 0;) dims.erase(dims.begin() + reduced[i]);
  const std::vector<ir::TypeId> types{TensorLike(flow.source(), flow.type_id(flow.result(like)), std::move(dims))};
  return flow.Add(std::move(made), types);
}

// One stage of a tree: windows of the dimensions that are reduced, the last of which may hang over.
NodeId AddWindows(Dataflow& flow, NodeId like, ValueId input, const Dimensions& reduced) {
  Dimensions dims = flow.type(input).dims;
  Dimensions window(dims.size(), 1);
  std::string padding;
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t lack = 0;
    if (std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) != reduced.end()) {
      window[d] = std::min(dims[d], kWindow);
      const int64_t windows = (dims[d] + window[d] - 1) / window[d];
      lack = windows * window[d] - dims[d];
      dims[d] = windows;
    }
    padding += fmt::format("{}[{}, {}]", d == 0 ? "" : ", ", lack / 2, lack - lack / 2);
  }
  ir::Module& source = flow.source();
  Node made = flow.Copy(like);
  made.kind = OpKind::kReduceWindow;
  made.name = source.InternName("stablehlo.reduce_window");
  made.operands[0] = input;
  made.attributes = {
      MakeAttribute(source, "window_dimensions", ArrayText(window)),
      MakeAttribute(source, "window_strides", ArrayText(window)),
      MakeAttribute(source, "padding", fmt::format("dense<[{}]> : tensor<{}x2xi64>", padding, dims.size()))};
  const std::vector<ir::TypeId> types{TensorLike(source, flow.type_id(flow.result(like)), std::move(dims))};
  return flow.Add(std::move(made), types);
}

// Runs of reduced dimensions with others between them, and whether others come before the first or after the last;
// dimensions of one element count with what is before them.
struct Runs {
  std::vector<Dimensions> dimensions;
  std::vector<int64_t> sizes;
  bool begins_kept = false;
  bool ends_kept = false;
};

Runs RunsOf(const Dimensions& dims, const Dimensions& reduced) {
  Runs runs;
  bool inside = false;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool is_reduced = std::find(reduced.begin(), reduced.end(), static_cast<int64_t>(d)) != reduced.end();
    if (dims[d] == 1 && (!is_reduced || runs.sizes.empty())) {
      if (is_reduced) return {};
      continue;
    }
    if (is_reduced && !inside && dims[d] != 1) {
      runs.dimensions.emplace_back();
      runs.sizes.push_back(1);
    }
    if (is_reduced) {
      runs.dimensions.back().push_back(static_cast<int64_t>(d));
      runs.sizes.back() = internal::SaturatingMultiply(runs.sizes.back(), dims[d]);
    }
    if (dims[d] == 1) continue;
    inside = is_reduced;
    runs.ends_kept = !is_reduced;
    runs.begins_kept = runs.begins_kept || (!is_reduced && runs.sizes.empty());
  }
  return runs;
}

// The run that is reduced first where two runs are reduced one after the other (ReductionSplitter,
// TreeReductionRewriter); nothing where one kernel reduces all.
std::optional<size_t> FirstRun(const Runs& runs) {
  if (runs.sizes.size() != 2) return std::nullopt;
  const size_t larger = runs.sizes[1] > runs.sizes[0] ? 1 : 0;
  if (runs.begins_kept || runs.ends_kept || runs.sizes[1] < kShortestRow) return larger;
  return runs.sizes[0] > kBatchBound ? std::optional<size_t>(1) : std::nullopt;
}

bool IsLong(const Dimensions& dims, const Dimensions& reduced) {
  return std::any_of(reduced.begin(), reduced.end(), [&](int64_t d) { return dims[static_cast<size_t>(d)] > kWindow; });
}

}  // namespace

// XLA's TreeReductionRewriter on CPUs.
void FormReductionTrees(Dataflow& flow, PassContext&) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    if (flow.node(id).kind != OpKind::kReduce || flow.node(id).own_operand_count() != 2) continue;
    const auto reduced = IntegersOf(flow, flow.node(id), "dimensions");
    ValueId input = flow.node(id).operands[0];
    if (!reduced || flow.node(id).capture_count != 0 || !flow.type(input).has_static_shape()) continue;
    while (IsLong(flow.type(input).dims, *reduced)) input = flow.result(AddWindows(flow, id, input, *reduced));
    flow.node(id).operands[0] = input;
    flow.NoteChange();
  }
  flow.Normalise();
}

void SplitReductions(Dataflow& flow, PassContext&) {
  std::vector<NodeId> order = flow.order();
  for (size_t at = 0; at < order.size(); ++at) {
    const NodeId id = order[at];
    const Node& node = flow.node(id);
    if (node.kind != OpKind::kReduce || node.result_count != 1 || node.own_operand_count() != 2) continue;
    const auto reduced = IntegersOf(flow, node, "dimensions");
    const ValueId input = node.operands[0];
    if (!reduced || !flow.type(input).has_static_shape() || flow.type(input).element_count() == 0) continue;
    const Runs runs = RunsOf(flow.type(input).dims, *reduced);
    if (const auto first = FirstRun(runs)) {
      const ValueId replaced = flow.result(id);
      Dimensions later = runs.dimensions[1 - *first];
      for (int64_t& d : later) {
        d -= std::count_if(runs.dimensions[*first].begin(), runs.dimensions[*first].end(),
                           [&](int64_t e) { return e < d; });
      }
      const NodeId inner = AddReduce(flow, id, input, runs.dimensions[*first]);
      const NodeId outer = AddReduce(flow, id, flow.result(inner), later);
      order.insert(order.end(), {inner, outer});
      flow.Replace(replaced, flow.result(outer));
      continue;
    }
    const auto extent = ExtentOf(flow.type(input).dims, *reduced);
    if (!extent || extent->reduced <= (extent->after == 1 ? kRowBound : kColumnBound)) continue;
    const Split split = SplitOf(extent->reduced, extent->after == 1);
    const ValueId old = flow.result(id);
    const ValueId value = node.operands[1];
    const int64_t added = split.parts * split.inside - extent->reduced;
    // A wider sum starts from a wider number, which nothing can be padded with.
    if (added != 0 && flow.type(value).element != flow.type(input).element) continue;
    const ValueId flat = Reshape(flow, input, {extent->before, extent->reduced, extent->after});
    const ValueId whole_parts = PadTo(flow, flat, value, {extent->before, split.parts * split.inside, extent->after});
    const ValueId cut = Reshape(flow, whole_parts, {extent->before, split.parts, split.inside, extent->after});
    const ValueId partial = flow.result(AddReduce(flow, id, cut, {2}));
    const ValueId whole = flow.result(AddReduce(flow, id, partial, {1}));
    flow.Replace(old, ReshapeTo(flow, whole, flow.type_id(old)));
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
