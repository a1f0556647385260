// Copies that keep what a loop overwrites, or what leaves the program twice (XLA's CopyInsertion and CopyFusion).
//
// - A loop works in place on what it carries. What starts there and is a constant, belongs to the caller, or is still
//   needed behind is copied before.
// - Values that change places from one iteration to the next are copied inside it, twice where they go round.
// - A program's results are buffers of their own: constants, parameters that are not given away, and repetitions.
// - The kernel that makes a value stores the copy as a further result.
#include <algorithm>
#include <map>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/passes/donated_buffers.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class CopyInserter {
 public:
  CopyInserter(Dataflow& flow, bool is_main) : flow_(flow), is_main_(is_main) {}

  void Run() {
    FindLastUses();
    const std::vector<NodeId> order = flow_.order();
    for (size_t at = 0; at < order.size(); ++at) {
      if (IsLoop(flow_.node(order[at]))) CopyInits(order[at], at);
    }
    if (is_main_) {
      CopyDonated(flow_);
      StoreDonated();
      CopyResults();
    }
    StoreCopies();
    flow_.Normalise();
  }

  static bool IsLoop(const Node& node) {
    return node.kind == OpKind::kWhile && node.bodies.size() == 2 && node.own_operand_count() == node.result_count &&
           node.bodies[1]->outputs.size() == node.result_count;
  }

  // Of a loop's body, after it was fused.
  void RunOnBody() {
    for (const ValueId out : flow_.outputs) from_.push_back(ParameterOf(out));
    for (size_t i = 0; i < flow_.outputs.size(); ++i) {
      const size_t from = from_[i];
      if (from == i) continue;
      if (from < flow_.outputs.size()) {
        flow_.outputs[i] = Copied(flow_.outputs[i]);
        if (GoesRound(i)) flow_.outputs[i] = Copied(flow_.outputs[i]);
      } else if (IsFixed(flow_.outputs[i])) {
        flow_.outputs[i] = Copied(flow_.outputs[i]);
      }
    }
    flow_.NoteChange();
    flow_.Normalise();
  }

 private:
  ValueId Origin(ValueId value) const {
    const Node* node = flow_.ProducerNode(value);
    while (node != nullptr && (node->kind == OpKind::kReshape || node->kind == OpKind::kBitcast)) {
      value = node->operands[0];
      node = flow_.ProducerNode(value);
    }
    return value;
  }

  size_t ParameterOf(ValueId value) const {
    const auto found = std::find(flow_.parameters.begin(), flow_.parameters.end(), value);
    return static_cast<size_t>(found - flow_.parameters.begin());
  }

  // A buffer that nobody may write into.
  bool IsFixed(ValueId value) const {
    const Node* node = flow_.ProducerNode(Origin(value));
    return node == nullptr ? is_main_ : node->kind == OpKind::kConstant;
  }

  bool GoesRound(size_t start) const {
    size_t at = start;
    for (size_t step = 0; step < flow_.outputs.size(); ++step) {
      at = from_[at];
      if (at >= from_.size()) return false;
      if (at == start) return true;
    }
    return false;
  }

  void FindLastUses() {
    const auto& order = flow_.order();
    for (size_t at = 0; at < order.size(); ++at) {
      for (const ValueId operand : flow_.node(order[at]).operands) last_use_[Origin(operand)] = at;
    }
    for (const ValueId out : flow_.outputs) last_use_[Origin(out)] = order.size();
  }

  // A constant of the region, once for each loop that changes it; a value that is needed later or carried twice.
  void CopyInits(NodeId loop, size_t at) {
    std::vector<ValueId> seen;
    for (size_t i = 0; i < flow_.node(loop).result_count; ++i) {
      const Dataflow& body = *flow_.node(loop).bodies[1];
      if (body.outputs[i] == body.parameters[i]) continue;
      const ValueId value = flow_.node(loop).operands[i];
      const ValueId origin = Origin(value);
      const bool again = std::find(seen.begin(), seen.end(), origin) != seen.end();
      seen.push_back(origin);
      if (!IsFixed(value) && !again && last_use_[origin] <= at) continue;
      const ValueId copy = Duplicate(value);
      flow_.node(loop).operands[i] = copy;
      flow_.NoteChange();
    }
  }

  // Results that are copied for the sake of donated parameters.
  void StoreDonated() {
    for (const ValueId out : flow_.outputs) {
      const ValueId copy = Origin(out);
      const Node* node = flow_.ProducerNode(copy);
      if (node != nullptr && node->kind == OpKind::kCopy) Store(node->operands[0], copy);
    }
  }

  void CopyResults() {
    const std::vector<int64_t> taken = TakenOver(flow_.source(), flow_.parameters.size());
    std::vector<ValueId> seen;
    for (size_t i = 0; i < flow_.outputs.size(); ++i) {
      const ValueId origin = Origin(flow_.outputs[i]);
      const size_t parameter = ParameterOf(origin);
      const bool given =
          parameter < taken.size() && (taken[parameter] == static_cast<int64_t>(i) || taken[parameter] == kAnyResult);
      const bool again = std::find(seen.begin(), seen.end(), origin) != seen.end();
      seen.push_back(origin);
      if (again || (IsFixed(origin) && !given)) flow_.outputs[i] = Duplicate(flow_.outputs[i]);
    }
    flow_.NoteChange();
  }

  ValueId Copied(ValueId value) {
    return flow_.result(flow_.Add({.name = "mhlo.copy", .operands = {value}, .results = {flow_.type_id(value)}}));
  }

  // What a fusion makes is stored twice by it, once all copies are known; until then a copy stands for that.
  ValueId Duplicate(ValueId value) {
    const ValueId copy = Copied(value);
    Store(value, copy);
    return copy;
  }

  void Store(ValueId value, ValueId copy) {
    const NodeId producer = flow_.producer(value);
    if (producer.valid() && FusesCopies(flow_.node(producer))) stored_[producer].push_back({value, copy});
  }

  struct Stored {
    ValueId value;
    ValueId copy;
  };

  void StoreCopies() {
    for (const auto& [fusion, copies] : stored_) {
      Node node = std::move(flow_.node(fusion));
      const ValueId first = node.first_result;
      const uint32_t count = node.result_count;
      std::vector<ir::TypeId> types;
      for (uint32_t r = 0; r < count; ++r) types.push_back(flow_.type_id(ValueId(first.index() + r)));
      for (const Stored& stored : copies) {
        node.bodies[0]->outputs.push_back(node.bodies[0]->outputs[stored.value.index() - first.index()]);
        types.push_back(flow_.type_id(stored.value));
      }
      flow_.node(fusion).dead = true;
      flow_.node(fusion).first_result = first;
      flow_.node(fusion).result_count = count;
      const NodeId made = flow_.Add(std::move(node), types);
      for (uint32_t r = 0; r < count; ++r) flow_.Replace(ValueId(first.index() + r), flow_.result(made, r));
      for (size_t i = 0; i < copies.size(); ++i) flow_.Replace(copies[i].copy, flow_.result(made, count + i));
    }
  }

  Dataflow& flow_;
  bool is_main_;
  std::map<ValueId, size_t> last_use_;  // place in the order; its end for results
  std::map<NodeId, std::vector<Stored>> stored_;
  std::vector<size_t> from_;  // by result of a loop's body: the parameter that it is
};

}  // namespace

void InsertCopies(Dataflow& flow, PassContext& context) {
  for (const NodeId id : flow.order()) {
    Node& node = flow.node(id);
    if (CopyInserter::IsLoop(node)) CopyInserter(*node.bodies[1], false).RunOnBody();
  }
  CopyInserter(flow, context.is_main).Run();
}

}  // namespace hespas::optimise
