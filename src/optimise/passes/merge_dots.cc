// Small dots of one shared operand are put side by side.
#include <fmt/format.h>

#include <map>
#include <unordered_set>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/passes/canonical_dots.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

bool IsPlainMatrix(const Dataflow& flow, const Node& dot, const ir::DotDimensions& dims) {
  return dims.lhs_batching.empty() && dims.lhs_contracting.size() == 1 && dims.rhs_contracting.size() == 1 &&
         flow.type(dot.operands[0]).dims.size() == 2 && flow.type(dot.operands[1]).dims.size() == 2;
}

// Dots of one shared operand become one dot of the others put side by side (XLA's DotMerger).
class Merger {
 public:
  Merger(Dataflow& flow, int64_t limit) : flow_(flow), limit_(limit), position_(flow.node_count(), 0) {
    for (size_t i = 0; i < flow.order().size(); ++i) position_[flow.order()[i].index()] = i;
  }

  void Run() {
    for (const size_t shared : {size_t{0}, size_t{1}}) {
      std::map<std::pair<uint32_t, std::string>, std::vector<NodeId>> groups;
      for (const NodeId id : flow_.order()) {
        if (merged_.count(id) > 0 || !IsCandidate(id)) continue;
        const Node& dot = flow_.node(id);
        const auto dims = *CanonicalDimensions(flow_, dot);
        const int64_t contracted = shared == 0 ? dims.lhs_contracting[0] : dims.rhs_contracting[0];
        groups[{dot.operands[shared].value, fmt::format("{}:{}", contracted, ElementsOf(dot))}].push_back(id);
      }
      for (const auto& [key, members] : groups) Gather(members, 1 - shared);
    }
    flow_.Normalise();
  }

 private:
  bool IsCandidate(NodeId id) const {
    const Node& dot = flow_.node(id);
    if (dot.kind != OpKind::kDotGeneral || dot.operands.size() != 2) return false;
    if (SizeOf(id) > limit_) return false;
    const auto dims = CanonicalDimensions(flow_, dot);
    return dims && IsPlainMatrix(flow_, dot, *dims);
  }

  std::string ElementsOf(const Node& dot) const {
    std::string text;
    for (const ValueId value : {dot.operands[0], dot.operands[1], dot.first_result}) {
      text += ir::ElementText(flow_.type(value).element) + ",";
    }
    for (const ir::Attribute& attribute : PrecisionAttributes(flow_, dot)) text += attribute.text;
    return text;
  }

  int64_t SizeOf(NodeId id) const {
    const Node& dot = flow_.node(id);
    return flow_.ByteSize(dot.operands[0]) + flow_.ByteSize(dot.operands[1]) + flow_.ByteSize(dot.first_result);
  }

  void Gather(const std::vector<NodeId>& members, size_t other) {
    std::vector<NodeId> group;
    for (const NodeId id : members) {
      if (!group.empty() && DependsOn(flow_.node(id).operands[other], group)) {
        Merge(group, other);
        group.clear();
      }
      group.push_back(id);
    }
    Merge(group, other);
  }

  // Whether a value needs any dot of the group; gives up (yes) where the search grows large.
  bool DependsOn(ValueId value, const std::vector<NodeId>& group) const {
    const std::unordered_set<NodeId> targets(group.begin(), group.end());
    std::vector<NodeId> work{flow_.producer(value)};
    std::unordered_set<NodeId> seen;
    while (!work.empty()) {
      const NodeId id = work.back();
      work.pop_back();
      if (!id.valid() || position_[id.index()] < position_[group[0].index()] || !seen.insert(id).second) continue;
      if (targets.count(id) > 0 || seen.size() > 400) return true;
      for (const ValueId operand : flow_.node(id).operands) work.push_back(flow_.producer(operand));
    }
    return false;
  }

  void Merge(const std::vector<NodeId>& group, size_t other) {
    if (group.size() < 2) return;
    const auto dims = *CanonicalDimensions(flow_, flow_.node(group[0]));
    const int64_t contract = other == 0 ? dims.lhs_contracting[0] : dims.rhs_contracting[0];
    std::vector<ValueId> parts;
    for (const NodeId id : group) {
      const auto own = *CanonicalDimensions(flow_, flow_.node(id));
      const bool transposed = (other == 0 ? own.lhs_contracting[0] : own.rhs_contracting[0]) != contract;
      const ValueId part = flow_.node(id).operands[other];
      parts.push_back(transposed ? Transpose(flow_, part, {1, 0}) : part);
    }
    const ValueId together = Concatenate(flow_, parts, static_cast<size_t>(1 - contract));
    Node made = flow_.Copy(group[0]);
    made.operands[other] = together;
    Dimensions out = flow_.type(flow_.result(group[0])).dims;
    const size_t grown = other == 0 ? 0 : 1;
    out[grown] = flow_.type(together).dims[static_cast<size_t>(1 - contract)];
    const std::vector<ir::TypeId> types{TensorLike(flow_.source(), flow_.type_id(flow_.result(group[0])), out)};
    const ValueId whole = flow_.result(flow_.Add(std::move(made), types));
    int64_t start = 0;
    for (const NodeId id : group) {
      const int64_t size = flow_.type(flow_.result(id)).dims[grown];
      flow_.Replace(flow_.result(id), SliceOf(flow_, whole, grown, start, start + size));
      start += size;
      merged_.insert(id);
    }
  }

  Dataflow& flow_;
  int64_t limit_;
  std::vector<size_t> position_;
  std::unordered_set<NodeId> merged_;
};

}  // namespace

void MergeDots(Dataflow& flow, PassContext& context) { Merger(flow, context.dot_merge_bytes).Run(); }

}  // namespace hespas::optimise
