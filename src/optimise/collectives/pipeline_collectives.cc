// Collectives of a loop's body that XLA's CollectivePipeliner moves into the iteration before or after (flags
// --xla_gpu_enable_pipelined_*): they and what belongs to them alone leave the order of the stream.
//
// - A gather of what only the loop's counter and invariant values make starts in the iteration before.
// - A reduction whose result only goes into values that the loop returns ends in the iteration after.
#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/facts/execution/pipelined.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class Pipeliner {
 public:
  Pipeliner(Dataflow& body, Dataflow& condition, const XlaFlags& flags)
      : body_(body), condition_(condition), flags_(flags), users_(body.Users()), marked_(body.node_count(), false) {}

  void Run() {
    FindEarly();
    for (const NodeId id : body_.order()) {
      const Node& node = body_.node(id);
      if (node.kind == OpKind::kAsyncStart && MovesEarlier(node)) MarkMakers(id);
      if (node.kind == OpKind::kAsyncDone && MovesLater(node)) MarkUsers(id);
    }
    if (std::find(marked_.begin(), marked_.end(), true) == marked_.end()) return;
    for (size_t k = 0; k < body_.outputs.size(); ++k) {
      const NodeId step = body_.producer(body_.outputs[k]);
      if (counts_[k] && step.valid()) MarkMakers(step);
    }
    for (const NodeId id : body_.order()) {
      if (marked_[id.index()]) Mark(body_, id);
    }
    for (const NodeId id : condition_.order()) Mark(condition_, id);
  }

 private:
  static void Mark(Dataflow& flow, NodeId id) {
    flow.node(id).attributes.push_back(MakeAttribute(flow.source(), ir::kPipelined, "unit"));
  }

  bool IsEarly(ValueId value) const {
    const NodeId producer = body_.producer(value);
    if (producer.valid()) return early_[producer.index()];
    const auto at = std::find(body_.parameters.begin(), body_.parameters.end(), value);
    const auto k = static_cast<size_t>(at - body_.parameters.begin());
    return k >= body_.outputs.size() || counts_[k] || body_.outputs[k] == value;
  }

  // What the counter, constants and invariant values make; counters are numbers that such values step.
  void FindEarly() {
    for (const ValueId output : body_.outputs) {
      const ir::Type& type = body_.type(output);
      counts_.push_back(type.element_count() == 1 && type.element.kind < ir::ElementKind::kF64);
    }
    for (bool changed = true; changed;) {
      early_.assign(body_.node_count(), false);
      for (const NodeId id : body_.order()) {
        const Node& node = body_.node(id);
        early_[id.index()] =
            node.kind != OpKind::kAsyncDone && node.kind != OpKind::kWhile &&
            std::all_of(node.operands.begin(), node.operands.end(), [&](ValueId operand) { return IsEarly(operand); });
      }
      changed = false;
      for (size_t k = 0; k < counts_.size(); ++k) {
        if (!counts_[k] || IsEarly(body_.outputs[k])) continue;
        counts_[k] = false;
        changed = true;
      }
    }
  }

  static bool Holds(const Node& start, OpKind kind) {
    if (start.bodies.empty()) return false;
    const Dataflow& inner = *start.bodies[0];
    return std::any_of(inner.order().begin(), inner.order().end(),
                       [&](NodeId id) { return inner.node(id).kind == kind; });
  }

  bool MovesEarlier(const Node& start) const {
    return flags_.pipelined_all_gather && Holds(start, OpKind::kAllGather) &&
           std::all_of(start.operands.begin(), start.operands.end(), [&](ValueId operand) { return IsEarly(operand); });
  }

  bool MovesLater(const Node& done) const {
    const Node* start = body_.ProducerNode(done.operands[0]);
    if (start == nullptr || start->kind != OpKind::kAsyncStart) return false;
    const bool flagged = (flags_.pipelined_reduce_scatter && Holds(*start, OpKind::kReduceScatter)) ||
                         (flags_.pipelined_all_reduce && Holds(*start, OpKind::kAllReduce));
    if (!flagged) return false;
    const std::vector<bool> behind = Behind(done);
    // The next iteration may only hand on what the moved ops make, or add to it.
    for (size_t k = 0; k < body_.outputs.size(); ++k) {
      const NodeId producer = body_.producer(body_.outputs[k]);
      if (!producer.valid() || !behind[producer.index()]) continue;
      for (const NodeId user : users_[body_.parameters[k].index()]) {
        if (!behind[user.index()]) return false;
      }
    }
    return true;
  }

  std::vector<bool> Behind(const Node& done) const {
    std::vector<bool> behind(body_.node_count(), false);
    std::vector<NodeId> todo{body_.producer(done.first_result)};
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (behind[id.index()]) continue;
      behind[id.index()] = true;
      const Node& node = body_.node(id);
      for (uint32_t r = 0; r < node.result_count; ++r) {
        for (const NodeId user : users_[body_.result(id, r).index()]) todo.push_back(user);
      }
    }
    return behind;
  }

  void MarkUsers(NodeId done) {
    const std::vector<bool> behind = Behind(body_.node(done));
    for (size_t i = 0; i < behind.size(); ++i) marked_[i] = marked_[i] || behind[i];
  }

  void MarkMakers(NodeId last) {
    std::vector<NodeId> todo{last};
    while (!todo.empty()) {
      const NodeId id = todo.back();
      todo.pop_back();
      if (marked_[id.index()]) continue;
      marked_[id.index()] = true;
      for (const ValueId operand : body_.node(id).operands) {
        if (const NodeId producer = body_.producer(operand); producer.valid()) todo.push_back(producer);
      }
    }
  }

  Dataflow& body_;
  Dataflow& condition_;
  const XlaFlags& flags_;
  UserTable users_;
  std::vector<bool> early_;   // by node
  std::vector<bool> counts_;  // by carried value
  std::vector<bool> marked_;  // by node
};

}  // namespace

void PipelineCollectives(Dataflow& flow, PassContext& context) {
  const XlaFlags& flags = context.flags;
  if (!flags.pipelined_all_gather && !flags.pipelined_reduce_scatter && !flags.pipelined_all_reduce) return;
  for (const NodeId id : flow.order()) {
    const Node& node = flow.node(id);
    if (node.kind == OpKind::kWhile && node.bodies.size() == 2)
      Pipeliner(*node.bodies[1], *node.bodies[0], flags).Run();
  }
}

}  // namespace hespas::optimise
