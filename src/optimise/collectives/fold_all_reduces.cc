// An all-reduce of an all-reduce over other groups is one all-reduce over both (XLA's AllReduceFolder): sums over the
// rows of a mesh and then over its columns are sums over all of it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/dataflow/read_once.h"
#include "optimise/dataflow/reducer.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using Groups = std::vector<Dimensions>;

// By device, its group.
std::optional<std::map<int64_t, const Dimensions*>> ByDevice(const Groups& groups) {
  std::map<int64_t, const Dimensions*> out;
  for (const Dimensions& group : groups) {
    for (const int64_t device : group) {
      if (!out.emplace(device, &group).second) return std::nullopt;
    }
  }
  return out;
}

// The groups of one reduction that does what `inner` and then `outer` do: nothing where a device would count twice, or
// where groups would not come out equal in size.
std::optional<Groups> Folded(const Groups& inner, const Groups& outer) {
  const auto group_of = ByDevice(inner);
  const auto outer_of = ByDevice(outer);
  if (!group_of || !outer_of || group_of->size() != outer_of->size()) return std::nullopt;
  std::set<Dimensions> out;
  for (const auto& [device, group] : *outer_of) {
    Dimensions all;
    for (const int64_t member : *group) {
      const auto found = group_of->find(member);
      if (found == group_of->end()) return std::nullopt;
      all.insert(all.end(), found->second->begin(), found->second->end());
    }
    std::sort(all.begin(), all.end());
    if (std::adjacent_find(all.begin(), all.end()) != all.end()) return std::nullopt;
    if (!std::binary_search(all.begin(), all.end(), device)) return std::nullopt;
    out.insert(std::move(all));
  }
  const Groups groups(out.begin(), out.end());
  const auto members = ByDevice(groups);  // nothing where groups overlap
  const bool equal = members && std::all_of(groups.begin(), groups.end(),
                                            [&](const Dimensions& g) { return g.size() == groups[0].size(); });
  return equal ? std::optional(groups) : std::nullopt;
}

class Folder {
 public:
  explicit Folder(Dataflow& flow) : flow_(flow), users_(flow.Users()) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      for (ValueId& operand : flow_.node(id).operands) operand = flow_.Resolve(operand);
      if (IsPlain(flow_.node(id))) Visit(id);
    }
    flow_.Normalise();
  }

 private:
  static bool IsPlain(const Node& node) {
    return node.kind == OpKind::kAllReduce && node.result_count == 1 && node.operands.size() == 1 &&
           node.capture_count == 0;
  }

  void Visit(NodeId id) {
    const ValueId between = flow_.node(id).operands[0];
    const NodeId before = flow_.producer(between);
    if (!before.valid() || !IsPlain(flow_.node(before)) || !IsReadOnce(between)) return;
    const OpKind reducer = ReducerKind(flow_.source(), flow_.node(id).origin);
    if (reducer == OpKind::kUnknown || reducer != ReducerKind(flow_.source(), flow_.node(before).origin)) return;
    if (Text(id, "use_global_device_ids") != Text(before, "use_global_device_ids")) return;
    const auto inner = ir::AsReplicaGroups(flow_.source(), Text(before, "replica_groups"));
    const auto outer = ir::AsReplicaGroups(flow_.source(), Text(id, "replica_groups"));
    const auto groups = inner && outer ? Folded(*inner, *outer) : std::nullopt;
    if (groups) Rewrite(id, flow_.node(before).operands[0], *groups);
  }

  // New nodes have the one consumer that the node had which they replace.
  bool IsReadOnce(ValueId value) const {
    const auto found = stands_for_.find(value);
    return optimise::IsReadOnce(flow_, users_, found == stands_for_.end() ? value : found->second);
  }

  std::string_view Text(NodeId id, std::string_view name) const {
    const std::string_view* text = flow_.attribute(flow_.node(id), name);
    return text == nullptr ? std::string_view() : *text;
  }

  void Rewrite(NodeId id, ValueId input, const Groups& groups) {
    Node made = flow_.Copy(id);
    made.operands[0] = input;
    const std::string text = fmt::format("dense<{}> : tensor<{}x{}xi64>", groups, groups.size(), groups[0].size());
    SetAttribute(flow_.source(), made, "replica_groups", text);
    const ValueId old = flow_.result(id);
    const std::vector<ir::TypeId> types{flow_.type_id(old)};
    const ValueId whole = flow_.result(flow_.Add(std::move(made), types));
    stands_for_[whole] = old;
    flow_.Replace(old, whole);
  }

  Dataflow& flow_;
  UserTable users_;
  std::map<ValueId, ValueId> stands_for_;
};

}  // namespace

void FoldAllReduces(Dataflow& flow, PassContext&) { Folder(flow).Run(); }

}  // namespace hespas::optimise
