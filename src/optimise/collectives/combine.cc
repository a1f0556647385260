// Collectives of one kind and group become one, up to XLA's thresholds.
//
// - A group never spans a dependency: its members are ready together and its result is asked for together.
// - On GPUs all-reduces travel in one flat buffer, so they cost a concatenation and a slice each.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/fusion/policy.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Every node after its operands, from the first output's on (XLA's MakeInstructionPostOrder).
std::vector<NodeId> PostOrder(const Dataflow& flow) {
  std::vector<NodeId> order;
  std::vector<char> seen(flow.node_count(), 0);
  std::vector<std::pair<NodeId, size_t>> stack;
  const auto enter = [&](ValueId value) {
    const NodeId id = flow.producer(value);
    if (!id.valid() || seen[id.index()]) return;
    seen[id.index()] = 1;
    stack.emplace_back(id, 0);
  };
  for (const ValueId out : flow.outputs) {
    enter(out);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const auto& operands = flow.node(id).operands;
      if (next < operands.size()) {
        enter(operands[next++]);
      } else {
        order.push_back(id);
        stack.pop_back();
      }
    }
  }
  return order;
}

class Combiner {
 public:
  Combiner(Dataflow& flow, PassContext& context, OpKind kind)
      : flow_(flow), context_(context), kind_(kind), limits_(context.policy->CombineLimitsOf(kind, context.flags)) {}

  void Run() {
    if (limits_.count < 2) return;
    levels_.assign(flow_.node_count(), 0);
    if (context_.policy->CombinesByLevel()) FindLevels();
    std::map<std::string, std::vector<NodeId>> members;
    for (const NodeId id : flow_.order()) {
      if (MayCombine(id)) members[Key(id)].push_back(id);
    }
    for (const auto& [key, nodes] : members) {
      if (nodes.size() > 1) Combine(nodes);
    }
  }

 private:
  bool MayCombine(NodeId id) const {
    const Node& node = flow_.node(id);
    return node.kind == kind_ && node.result_count == 1 && node.own_operand_count() == 1 && node.capture_count == 0;
  }

  // How many collectives of this kind stand on the longest path after a node. XLA's TPU compiler combines what is used
  // last first: equal levels, which never depend on each other.
  void FindLevels() {
    for (size_t i = flow_.order().size(); i-- > 0;) {
      const NodeId id = flow_.order()[i];
      const uint32_t level = levels_[id.index()] + (flow_.node(id).kind == kind_ ? 1u : 0u);
      for (const ValueId operand : flow_.node(id).operands) {
        const NodeId before = flow_.producer(operand);
        if (before.valid()) levels_[before.index()] = std::max(levels_[before.index()], level);
      }
    }
  }

  // XLA's CombineInstructionsByKey: a group takes members in order until one needs another of them, or it is full. A
  // node's number is that of the last group it needs.
  void Combine(const std::vector<NodeId>& members) {
    std::vector<char> is_member(flow_.node_count(), 0);
    for (const NodeId id : members) is_member[id.index()] = 1;
    std::vector<uint32_t> needs(flow_.node_count(), 0);
    std::vector<std::vector<NodeId>> groups(1);
    int64_t bytes = 0;
    for (const NodeId id : PostOrder(flow_)) {
      uint32_t& mine = needs[id.index()];
      for (const ValueId operand : flow_.node(id).operands) {
        if (flow_.producer(operand).valid()) mine = std::max(mine, needs[flow_.producer(operand).index()]);
      }
      if (!is_member[id.index()]) continue;
      const int64_t size = flow_.ByteSize(flow_.result(id));
      if (size > limits_.bytes) continue;
      if (mine == groups.size() || bytes + size > limits_.bytes || groups.back().size() >= limits_.count) {
        groups.emplace_back();
        bytes = 0;
      }
      groups.back().push_back(id);
      bytes += size;
      mine = static_cast<uint32_t>(groups.size());
    }
    for (const auto& group : groups) CombineGroup(group);
    flow_.Normalise();
  }

  std::string ReducerOf(const Node& node) const {
    const ir::Module& source = flow_.source();
    if (!node.origin.valid() || !source.op(node.origin).first_region.valid()) return {};
    const ir::BlockId body = source.body(node.origin);
    if (!body.valid() || source.block(body).ops.empty()) return {};
    return std::string(source.name(source.block(body).ops[0]));
  }

  std::string Key(NodeId id) {
    const Node& node = flow_.node(id);
    std::string key = fmt::format("{}|{:06}|{}", flow_.source().name(node.name), levels_[id.index()], ReducerOf(node));
    for (const ir::Attribute& a : node.attributes) {
      const std::string_view name = flow_.source().name(a.name);
      if (name == "replica_groups" || name == "use_global_device_ids" || name == "all_gather_dim" ||
          name == "scatter_dimension") {
        key += fmt::format("|{}={}", name, a.text);
      }
    }
    if (node.kind != OpKind::kAllGather) key += "|" + ir::ElementText(flow_.type(node.operands[0]).element);
    return key;
  }

  void CombineGroup(const std::vector<NodeId>& group) {
    if (group.size() < 2) return;
    if (flow_.node(group[0]).kind == OpKind::kAllReduce && context_.policy->FlattensAllReduces())
      return CombineFlattened(group);
    Node made = flow_.Copy(group[0]);
    made.operands.clear();
    std::vector<ir::TypeId> types;
    for (const NodeId id : group) {
      made.operands.push_back(flow_.node(id).operands[0]);
      types.push_back(flow_.type_id(flow_.result(id)));
    }
    const NodeId added = flow_.Add(std::move(made), types);
    for (size_t i = 0; i < group.size(); ++i) flow_.Replace(flow_.result(group[i]), flow_.result(added, i));
  }

  void CombineFlattened(const std::vector<NodeId>& group) {
    std::vector<ValueId> flat;
    for (const NodeId id : group) {
      const ValueId operand = flow_.node(id).operands[0];
      flat.push_back(Reshape(flow_, operand, {flow_.type(operand).element_count()}));
    }
    Node made = flow_.Copy(group[0]);
    made.operands = {Concatenate(flow_, flat, 0)};
    const std::vector<ir::TypeId> types{flow_.type_id(made.operands[0])};
    const ValueId whole = flow_.result(flow_.Add(std::move(made), types));
    int64_t start = 0;
    for (size_t i = 0; i < group.size(); ++i) {
      const int64_t count = flow_.type(flat[i]).element_count();
      const ValueId part = SliceOf(flow_, whole, 0, start, start + count);
      start += count;
      const ValueId old = flow_.result(group[i]);
      flow_.Replace(old, ReshapeTo(flow_, part, flow_.type_id(old)));
    }
  }

  Dataflow& flow_;
  PassContext& context_;
  OpKind kind_;
  CombineLimits limits_;
  std::vector<uint32_t> levels_;
};

// A cast that is not realised is of the same kind, but changes types.
bool KeepsTypes(const Dataflow& flow, NodeId id) {
  const Node& node = flow.node(id);
  if (node.operands.size() != node.result_count) return false;
  for (uint32_t i = 0; i < node.result_count; ++i) {
    if (flow.type_id(node.operands[i]) != flow.type_id(flow.result(id, i))) return false;
  }
  return true;
}

}  // namespace

// One kind after the other: combining two kinds at once could make each wait for the other.
void CombineCollectives(Dataflow& flow, PassContext& context) {
  for (const OpKind kind : {OpKind::kAllGather, OpKind::kReduceScatter, OpKind::kAllReduce}) {
    Combiner(flow, context, kind).Run();
  }
}

void RemoveBarriers(Dataflow& flow, PassContext&) {
  for (const NodeId id : flow.order()) {
    const Node& node = flow.node(id);
    if (node.kind != OpKind::kOptimizationBarrier || !KeepsTypes(flow, id)) continue;
    for (uint32_t i = 0; i < node.result_count; ++i) flow.Replace(flow.result(id, i), flow.node(id).operands[i]);
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
