// A large dot whose result is scattered is computed part by part, and each part's sum travels beside the next part's
// dot (XLA's windowed einsum, also called collective matmul).
//
// - The rule is that of GetWindowedEinsumConfiguration (XLA, service/spmd/dot_handler.cc) for operands that are divided
//   along what the dot contracts: the result has at least --xla_jf_spmd_threshold_for_windowed_einsum_mib, and the
//   group no more members than SpmdPartitionerOptions::max_windowed_einsum_iteration.
// - XLA's parts are the shards of the result, which permutes hand from neighbour to neighbour. Here they are as many
//   parts of its rows, each with a reduce-scatter of its own: the same values, the same bytes on each link, and the
//   same order.
// - Gathers of an operand stay whole. XLA does not divide them either where users share them
//   (skip_checking_windowed_einsum_users), as those of MaxText's layers do.
#include <algorithm>
#include <array>

#include "ir/attributes/op_attributes.h"
#include "ir/facts/execution/asynchronous.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/dataflow/read_once.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr int64_t kMostIterations = 32;  // SpmdPartitionerOptions::max_windowed_einsum_iteration (spmd_partitioner.h)

// A dimension of a dot's result that comes from one operand alone, and in how many parts it may be cut.
struct Cut {
  size_t result = 0;   // its place in the result
  size_t operand = 0;  // 0: left, 1: right
  size_t source = 0;   // its place there
  int64_t parts = 1;
};

int64_t LargestDivisor(int64_t extent, int64_t most) {
  int64_t parts = std::min(extent, most);
  while (parts > 1 && extent % parts != 0) --parts;
  return parts;
}

class Windower {
 public:
  Windower(Dataflow& flow, int64_t least_bytes) : flow_(flow), users_(flow.Users()), least_bytes_(least_bytes) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      if (flow_.node(id).kind == OpKind::kReduceScatter) Visit(id);
    }
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    const Node& scatter = flow_.node(id);
    if (scatter.result_count != 1 || scatter.operands.size() != 1) return;
    const auto dimension = IntegerOf(flow_, scatter, "scatter_dimension");
    const ValueId whole = scatter.operands[0];
    const NodeId dot = flow_.producer(whole);
    if (!dimension || !dot.valid() || flow_.node(dot).kind != OpKind::kDotGeneral || !IsReadOnce(flow_, users_, whole))
      return;
    if (flow_.ByteSize(whole) < least_bytes_) return;
    const auto scattered = static_cast<size_t>(*dimension);
    const int64_t kept = flow_.type(flow_.result(id)).dims[scattered];
    const int64_t members = kept > 0 ? flow_.type(whole).dims[scattered] / kept : 0;
    if (members < 2 || members > kMostIterations) return;
    const Cut cut = BestCut(dot, scattered, members);
    if (cut.parts > 1) Rewrite(id, dot, cut);
  }

  // Results have batches first, then what the left operand keeps, then the right one.
  Cut BestCut(NodeId dot, size_t scattered, int64_t members) const {
    const Node& node = flow_.node(dot);
    const auto dims = node.origin.valid() ? ir::DotDimensionsOf(flow_.source(), node.origin) : std::nullopt;
    Cut best;
    if (!dims) return best;
    const std::array contracted{&dims->lhs_contracting, &dims->rhs_contracting};
    const std::array batching{&dims->lhs_batching, &dims->rhs_batching};
    size_t result = dims->lhs_batching.size();
    for (size_t operand = 0; operand < 2; ++operand) {
      const ir::Type& type = flow_.type(node.operands[operand]);
      for (size_t d = 0; d < type.dims.size(); ++d) {
        if (Holds(*contracted[operand], d) || Holds(*batching[operand], d)) continue;
        const Cut cut{result, operand, d, LargestDivisor(type.dims[d], members)};
        if (result != scattered && cut.parts > best.parts) best = cut;
        ++result;
      }
    }
    return best;
  }

  void Rewrite(NodeId id, NodeId dot, const Cut& cut) {
    const ValueId operand = flow_.node(dot).operands[cut.operand];
    const int64_t step = flow_.type(operand).dims[cut.source] / cut.parts;
    std::vector<ValueId> parts;
    for (int64_t i = 0; i < cut.parts; ++i) {
      Node partial = flow_.Copy(dot);
      partial.operands[cut.operand] = SliceOf(flow_, operand, cut.source, i * step, (i + 1) * step);
      const ValueId product = AddPart(std::move(partial), flow_.result(dot), cut, step);
      Node scatter = flow_.Copy(id);
      scatter.operands[0] = product;
      scatter.attributes.push_back(MakeAttribute(flow_.source(), ir::kAsynchronous, "unit"));
      parts.push_back(AddPart(std::move(scatter), flow_.result(id), cut, step));
    }
    flow_.Replace(flow_.result(id), Concatenate(flow_, parts, cut.result));
  }

  ValueId AddPart(Node node, ValueId whole, const Cut& cut, int64_t step) {
    Dimensions dims = flow_.type(whole).dims;
    dims[cut.result] = step;
    const std::vector<ir::TypeId> types{TensorLike(flow_.source(), flow_.type_id(whole), std::move(dims))};
    return flow_.result(flow_.Add(std::move(node), types));
  }

  Dataflow& flow_;
  UserTable users_;
  int64_t least_bytes_;
};

}  // namespace

void WindowEinsums(Dataflow& flow, PassContext& context) { Windower(flow, context.flags.windowed_einsum).Run(); }

}  // namespace hespas::optimise
