// Loops of XLA's CPU compiler (CpuInstructionFusion): from the results backwards, each op takes in the producers that
// it may recompute, element by element; every loop stores one value.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "optimise/cpu/cpu_matmuls.h"
#include "optimise/cpu/cpu_rules.h"
#include "optimise/cpu/rules.h"
#include "optimise/fusion/kernels.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// One loop while it grows: what it computes, and from which places each value is asked for.
struct Loop {
  struct Asked {
    std::unordered_set<NodeId> from;  // ops that ask for places of their own
    bool again = false;               // some elements again and again
  };
  std::vector<NodeId> members;
  std::unordered_map<NodeId, int64_t> evaluations;  // of the members
  std::unordered_map<NodeId, Asked> asked;          // members and what they read

  bool Has(NodeId id) const { return evaluations.contains(id); }
  int64_t EvaluationsOf(NodeId id) const {
    const auto found = asked.find(id);
    int64_t sum = 0;
    if (found == asked.end()) return sum;
    for (const NodeId from : found->second.from) sum += evaluations.at(from);
    return sum;
  }
};

class CpuFusion {
 public:
  CpuFusion(Dataflow& flow, PassContext& context)
      : flow_(flow),
        context_(context),
        position_(flow.node_count(), 0),
        consumers_(flow.node_count()),
        returned_(flow.node_count(), false),
        once_(flow.node_count(), false) {
    for (const NodeId id : flow.order()) position_[id.index()] = next_++;
    for (const ValueId out : flow.outputs) {
      if (flow.producer(out).valid()) returned_[flow.producer(out).index()] = true;
    }
    for (const NodeId id : flow.order()) {
      for (const NodeId producer : Producers(id)) consumers_[producer.index()].push_back(id);
    }
  }

  void Run() {
    for (const NodeId id : flow_.order()) MarkOnce(id);
    const std::vector<NodeId> order = flow_.order();
    std::vector<Loop> loops;
    for (size_t i = order.size(); i-- > 0;) {
      const NodeId id = order[i];
      const bool needed = returned_[id.index()] || !consumers_[id.index()].empty() || flow_.node(id).result_count != 1;
      if (needed && IsLoopRoot(flow_.node(id))) loops.push_back(Grow(id));
    }
    std::reverse(loops.begin(), loops.end());
    KernelFormer former(flow_);
    for (Loop& loop : loops) {
      if (loop.members.size() < 2) continue;
      const NodeId root = loop.members[0];
      std::sort(loop.members.begin(), loop.members.end(), [&](NodeId a, NodeId b) { return Before(a, b); });
      former.Form({&root, 1}, loop.members, "kLoop");
    }
    flow_.Normalise();
  }

 private:
  bool Before(NodeId a, NodeId b) const { return position_[a.index()] < position_[b.index()]; }

  // Producers of what an op reads, each once.
  std::vector<NodeId> Producers(NodeId id) const {
    std::vector<NodeId> out;
    for (const ValueId operand : flow_.node(id).operands) {
      const NodeId producer = flow_.producer(operand);
      if (producer.valid() && std::find(out.begin(), out.end(), producer) == out.end()) out.push_back(producer);
    }
    return out;
  }

  // Whether a consumer, as it stands in the program, may take in one of its operands.
  bool MayTake(NodeId consumer, NodeId producer) const {
    const Node& node = flow_.node(producer);
    const Node& to = flow_.node(consumer);
    if (!IsLoopOp(node) || !IsLoopRoot(to) || IsOverwritten(node, to)) return false;
    if (IsOuterReduction(flow_, node) || IsOuterReduction(flow_, to)) return false;
    return !IsExpensive(flow_, node) || (consumers_[producer.index()].size() == 1 && !Reuses(to, producer));
  }

  bool Reuses(const Node& consumer, NodeId producer) const {
    for (size_t i = 0; i < consumer.operands.size(); ++i) {
      if (flow_.producer(consumer.operands[i]) == producer && ReusesElements(flow_, consumer, i)) return true;
    }
    return false;
  }

  // An op that reads more than it makes is duplicated only where nobody needs it materialized.
  void MarkOnce(NodeId id) {
    const Node& node = flow_.node(id);
    if (!IsLoopOp(node) || ReadsOneArray(flow_, node)) return;
    int64_t read = 0;
    for (const NodeId producer : Producers(id)) read += flow_.ByteSize(flow_.result(producer));
    std::unordered_set<ValueId> given;
    for (const ValueId operand : node.operands) {
      if (!flow_.producer(operand).valid() && given.insert(operand).second) read += flow_.ByteSize(operand);
    }
    if (read <= flow_.ByteSize(node.first_result)) return;
    for (const NodeId consumer : consumers_[id.index()]) {
      if (!TakenOnAllPaths(id, consumer)) once_[id.index()] = true;
    }
  }

  bool TakenOnAllPaths(NodeId id, NodeId consumer) const {
    if (!MayTake(consumer, id)) return false;
    std::vector<NodeId> todo = {consumer};
    std::unordered_set<NodeId> seen = {consumer};
    while (!todo.empty()) {
      const NodeId at = todo.back();
      todo.pop_back();
      for (const NodeId producer : Producers(at)) {
        if (producer == id) {
          if (at != consumer && !MayTake(at, id)) return false;
          continue;
        }
        if (Before(producer, id) || !IsReachable(id, producer)) continue;
        if (once_[producer.index()] || !MayTake(at, producer)) return false;
        if (seen.size() < cpu_rules::kLongestSearch && seen.insert(producer).second) todo.push_back(producer);
      }
    }
    return true;
  }

  // Whether `to` needs `from`, as far as a short search tells.
  bool IsReachable(NodeId from, NodeId to) const {
    std::vector<NodeId> todo = {to};
    std::unordered_set<NodeId> seen = {to};
    while (!todo.empty()) {
      const NodeId at = todo.back();
      todo.pop_back();
      if (at == from) return true;
      for (const NodeId producer : Producers(at)) {
        if (Before(producer, from) || seen.size() >= cpu_rules::kLongestSearch) continue;
        if (seen.insert(producer).second) todo.push_back(producer);
      }
    }
    return false;
  }

  Loop Grow(NodeId root) {
    Loop loop;
    loop.asked[root].from = {root};
    loop.evaluations[root] = 1;
    loop.members = {root};
    Ask(loop, root);
    std::vector<NodeId> outside = Producers(root);
    const auto nearer = [&](NodeId a, NodeId b) { return Before(b, a); };
    std::sort(outside.begin(), outside.end(), nearer);
    for (size_t i = 0; i < outside.size();) {
      const NodeId producer = outside[i];
      if (!Takes(loop, producer)) {
        ++i;
        continue;
      }
      Take(loop, producer);
      outside.erase(outside.begin() + static_cast<ptrdiff_t>(i));
      for (const NodeId next : Producers(producer)) {
        if (loop.Has(next) || std::find(outside.begin(), outside.end(), next) != outside.end()) continue;
        outside.insert(std::lower_bound(outside.begin(), outside.end(), next, nearer), next);
      }
      i = 0;
    }
    if (context_.explanations != nullptr) Explain(loop);
    return loop;
  }

  bool Takes(const Loop& loop, NodeId producer) const {
    const Node& node = flow_.node(producer);
    const Node& root = flow_.node(loop.members[0]);
    const bool alone = loop.members.size() == 1;
    if (!IsLoopOp(node) || once_[producer.index()] || IsOuterReduction(flow_, node)) return false;
    if (IsOverwritten(node, root)) return false;
    if (alone && (IsOuterReduction(flow_, root) || IsBareConstant(node))) return false;
    const bool expensive = IsExpensive(flow_, node);
    if (expensive && (consumers_[producer.index()].size() > 1 || loop.asked.at(producer).again)) return false;
    const int64_t evaluations = loop.EvaluationsOf(producer);
    return alone || (evaluations <= cpu_rules::kMostEvaluations && (node.kind != OpKind::kReduce || evaluations == 1));
  }

  // A number or a table: no loop of its own for its consumer. An array of one number is a broadcast.
  bool IsBareConstant(const Node& node) const {
    return node.kind == OpKind::kConstant &&
           (flow_.type(node.first_result).element_count() == 1 || !IsInlineConstant(flow_, node));
  }

  // Notes from where a member asks for what it reads.
  void Ask(Loop& loop, NodeId member) const {
    const Node& node = flow_.node(member);
    const Loop::Asked mine = loop.asked[member];
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const NodeId producer = flow_.producer(node.operands[i]);
      if (!producer.valid()) continue;
      Loop::Asked& asked = loop.asked[producer];
      asked.again = asked.again || mine.again || ReusesElements(flow_, node, i);
      if (ChangesIndex(flow_, node, i)) {
        asked.from.insert(member);
      } else {
        asked.from.insert(mine.from.begin(), mine.from.end());
      }
    }
  }

  void Take(Loop& loop, NodeId producer) {
    loop.evaluations[producer] = std::max<int64_t>(1, loop.EvaluationsOf(producer));
    loop.members.push_back(producer);
    Ask(loop, producer);
    const NodeId root = loop.members[0];
    std::erase(consumers_[producer.index()], root);
    for (const NodeId next : Producers(producer)) {
      std::vector<NodeId>& consumers = consumers_[next.index()];
      if (!loop.Has(next) && std::find(consumers.begin(), consumers.end(), root) == consumers.end())
        consumers.push_back(root);
    }
    if (!consumers_[producer.index()].empty() || returned_[producer.index()]) return;
    for (const NodeId next : Producers(producer)) std::erase(consumers_[next.index()], producer);
  }

  void Explain(const Loop& loop) const {
    for (const NodeId id : loop.members) {
      const bool root = id == loop.members[0];
      context_.explanations->push_back(
          {.op = std::string(flow_.source().name(flow_.node(id).name)),
           .kernel = fmt::format("kernel {}", position_[loop.members[0].index()]),
           .reason = root ? "materialized: a consumer needs it in memory, it is returned, or it is "
                            "too expensive to duplicate into its consumers"
                          : "duplicated into its consumers",
           .origin = flow_.node(id).origin});
    }
  }

  Dataflow& flow_;
  PassContext& context_;
  uint32_t next_ = 0;
  std::vector<uint32_t> position_;              // by node
  std::vector<std::vector<NodeId>> consumers_;  // by node: ops and roots of loops outside which it stands
  std::vector<bool> returned_;
  std::vector<bool> once_;  // not to be duplicated
};

}  // namespace

void FuseOnCpu(Dataflow& flow, PassContext& context) {
  FormMatmulsOnCpu(flow, context);
  CpuFusion(flow, context).Run();
}

}  // namespace hespas::optimise
