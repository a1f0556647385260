// What a loop does not change. Constants that it carries or captures, broadcast or not, are made where the body uses
// them (XLA's while-loop constant sinking): there they fuse into their consumers instead of being materialized and read
// again, and what the loop then carries for nothing is dropped. Other work on values it does not change is done once
// before it (while-loop invariant code motion).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr int kLongestChain = 16;
// Bounds on our own time: arrays of a loop that are told apart, and ops that are compared for two of them.
constexpr size_t kMostStacks = 64;
constexpr int kMostSteps = 64;

bool FeedsBroadcast(OpKind kind) {
  return kind == OpKind::kBroadcastInDim || kind == OpKind::kReshape || kind == OpKind::kConvert;
}

using Merged = std::unordered_map<uint32_t, uint32_t>;  // carried values that are another's

// What a loop carries and captures.
class LoopState {
 public:
  LoopState(Dataflow& flow, NodeId loop) : flow_(flow), loop_(loop), carried_(flow.node(loop).result_count) {}

  bool IsRead(size_t parameter) const {
    const auto& bodies = flow_.node(loop_).bodies;
    return std::any_of(bodies.begin(), bodies.end(), [&](const auto& body) { return Reads(*body, parameter); });
  }

  // Values that nothing reads go round no more (XLA's WhileLoopSimplifier, TryRemoveDeadWhileParams).
  void DropUnread() {
    std::vector<bool> drop(flow_.node(loop_).operands.size(), false);
    for (size_t p = 0; p < drop.size(); ++p) drop[p] = (p >= carried_ || OnlyGoesRound(p)) && !IsRead(p);
    Drop(drop, {});
  }

  void Drop(const std::vector<bool>& drop, const Merged& merged) {
    if (std::find(drop.begin(), drop.end(), true) != drop.end()) Rebuild(drop, merged);
  }

 private:
  static bool Reads(const Dataflow& body, size_t parameter) {
    const ValueId value = body.parameters[parameter];
    return std::any_of(body.order().begin(), body.order().end(), [&](NodeId id) {
      const auto& operands = body.node(id).operands;
      return std::find(operands.begin(), operands.end(), value) != operands.end();
    });
  }

  bool OnlyGoesRound(size_t i) const {
    const Node& node = flow_.node(loop_);
    const auto times = [](const Dataflow& body, size_t parameter) {
      return std::count(body.outputs.begin(), body.outputs.end(), body.parameters[parameter]);
    };
    return node.bodies[1]->outputs[i] == node.bodies[1]->parameters[i] && times(*node.bodies[1], i) == 1 &&
           times(*node.bodies[0], i) == 0;
  }

  template <class List>
  static void Filter(List& list, const std::vector<bool>& drop) {
    size_t kept = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      if (drop[i]) continue;
      list[kept++] = list[i];
    }
    list.resize(kept);
  }

  void Rebuild(const std::vector<bool>& drop, const Merged& merged) {
    std::vector<ir::TypeId> types;
    for (uint32_t i = 0; i < carried_; ++i) {
      if (!drop[i]) types.push_back(flow_.type_id(flow_.result(loop_, i)));
    }
    Node node = std::move(flow_.node(loop_));
    const std::vector<ValueId> before = node.operands;
    const ValueId first = node.first_result;
    Filter(node.operands, drop);
    const auto captures = static_cast<uint32_t>(std::count(drop.begin() + carried_, drop.end(), false));
    node.capture_count = captures;
    for (const auto& body : node.bodies) {
      Filter(body->parameters, drop);
      body->captured_parameters = captures;
      body->NoteChange();
    }
    Filter(node.bodies[1]->outputs, drop);
    flow_.node(loop_).dead = true;
    flow_.NoteChange();
    flow_.node(loop_).first_result = first;
    flow_.node(loop_).result_count = carried_;
    const NodeId rebuilt = flow_.Add(std::move(node), types);
    uint32_t next = 0;
    std::vector<ValueId> now(before.begin(), before.begin() + carried_);
    for (uint32_t i = 0; i < carried_; ++i) {
      if (merged.contains(i)) {
        now[i] = now[merged.at(i)];
      } else if (!drop[i]) {
        now[i] = flow_.result(rebuilt, next++);
      }
      flow_.Replace(ValueId(first.index() + i), now[i]);
    }
  }

  Dataflow& flow_;
  NodeId loop_;
  uint32_t carried_;
};

class LoopSinker {
 public:
  LoopSinker(Dataflow& flow, NodeId loop) : flow_(flow), loop_(loop), carried_(flow.node(loop).result_count) {}

  void Run() {
    MergeCounters();
    MergeStacks();
    for (uint32_t i = 0; i < carried_; ++i) {
      if (IsUnchanged(i)) Sink(i, flow_.node(loop_).operands[i]);
    }
    const Node& node = flow_.node(loop_);
    for (size_t c = carried_, end = node.operands.size(); c < end; ++c) Sink(c, flow_.node(loop_).operands[c]);
    for (const auto& body : flow_.node(loop_).bodies) body->Normalise();
    DropUnused();
  }

 private:
  Dataflow& Body() { return *flow_.node(loop_).bodies[1]; }

  bool IsUnchanged(uint32_t i) { return Body().outputs[i] == Body().parameters[i]; }

  static std::string_view ConstantText(const Dataflow& flow, ValueId value) {
    const Node* node = flow.ProducerNode(value);
    if (node == nullptr || node->kind != OpKind::kConstant || !flow.type(value).dims.empty()) return {};
    const std::string_view* text = flow.attribute(*node, "value");
    return text == nullptr ? std::string_view() : *text;
  }

  // What a carried number grows by each time; empty where it does not.
  std::string_view StepOf(uint32_t i) {
    const Dataflow& body = Body();
    const Node* sum = body.ProducerNode(body.outputs[i]);
    if (sum == nullptr || sum->kind != OpKind::kAdd || sum->operands[0] != body.parameters[i]) return {};
    return ConstantText(body, sum->operands[1]);
  }

  // Numbers that start alike and grow alike are one (XLA's WhileLoopSimplifier).
  void MergeCounters() {
    for (uint32_t j = 1; j < carried_; ++j) {
      const std::string_view start = ConstantText(flow_, flow_.node(loop_).operands[j]);
      const std::string_view step = StepOf(j);
      if (start.empty() || step.empty()) continue;
      for (uint32_t i = 0; i < j; ++i) {
        if (merged_.contains(i) || StepOf(i) != step || ConstantText(flow_, flow_.node(loop_).operands[i]) != start)
          continue;
        Unite(j, i);
        break;
      }
    }
  }

  void Unite(uint32_t gone, uint32_t kept) {
    const ValueId old = Body().parameters[gone];
    for (const auto& body : flow_.node(loop_).bodies) body->Replace(body->parameters[gone], body->parameters[kept]);
    kept_.push_back({gone, old});
    merged_[gone] = kept;
  }

  // Arrays that start alike, and into which each iteration writes the same at the same place, are one
  // (TryRemoveRepeatedWhileTupleIndices).
  void MergeStacks() {
    std::vector<uint32_t> stacks;
    for (uint32_t j = 0; j < carried_; ++j) {
      const Node* write = WriteInto(j);
      if (write == nullptr || merged_.contains(j)) continue;
      const auto same = std::find_if(stacks.begin(), stacks.end(), [&](uint32_t i) { return AreAlike(i, j); });
      if (same == stacks.end()) {
        if (stacks.size() < kMostStacks) stacks.push_back(j);
      } else {
        Unite(j, *same);
      }
    }
  }

  // The op that writes into a carried array and makes the next one.
  const Node* WriteInto(uint32_t i) {
    const Node* write = Body().ProducerNode(Body().outputs[i]);
    const bool writes = write != nullptr && write->kind == OpKind::kDynamicUpdateSlice;
    return writes && write->operands[0] == Body().parameters[i] ? write : nullptr;
  }

  bool AreAlike(uint32_t i, uint32_t j) {
    const auto& operands = flow_.node(loop_).operands;
    const Node& a = *WriteInto(i);
    const Node& b = *WriteInto(j);
    if (flow_.type_id(operands[i]) != flow_.type_id(operands[j]) || a.operands.size() != b.operands.size())
      return false;
    int steps = kMostSteps;
    for (size_t o = 1; o < a.operands.size(); ++o) {
      if (!AreEqual(Body(), a.operands[o], b.operands[o], steps)) return false;
    }
    return AreEqual(flow_, operands[i], operands[j], steps);
  }

  static bool IsPlain(OpKind kind) {
    const ir::OpSort sort = ir::Traits(kind).sort;
    return sort == ir::OpSort::kElementwise || sort == ir::OpSort::kLayout || sort == ir::OpSort::kSlice ||
           kind == OpKind::kConstant || kind == OpKind::kIota;
  }

  // Whether the same ops on the same operands make two values, as far as so many steps show.
  static bool AreEqual(Dataflow& flow, ValueId a, ValueId b, int& steps) {
    std::vector<std::pair<ValueId, ValueId>> work{{a, b}};
    while (!work.empty()) {
      const ValueId x = flow.Resolve(work.back().first);
      const ValueId y = flow.Resolve(work.back().second);
      work.pop_back();
      if (x == y) continue;
      const Node* p = flow.ProducerNode(x);
      const Node* q = flow.ProducerNode(y);
      const bool plain = p != nullptr && q != nullptr && p->result_count == 1 && q->result_count == 1 &&
                         p->bodies.empty() && q->bodies.empty() && p->capture_count + q->capture_count == 0;
      if (--steps < 0 || !plain || p->name != q->name || p->operands.size() != q->operands.size()) return false;
      if (flow.type_id(x) != flow.type_id(y) || p->attributes.size() != q->attributes.size()) return false;
      if (!IsPlain(p->kind)) return false;
      for (size_t i = 0; i < p->attributes.size(); ++i) {
        if (p->attributes[i].name != q->attributes[i].name || p->attributes[i].text != q->attributes[i].text)
          return false;
      }
      for (size_t i = 0; i < p->operands.size(); ++i) work.push_back({p->operands[i], q->operands[i]});
    }
    return true;
  }

  // A constant, broadcast or not. XLA stores whatever else a loop does not change, broadcast masks, too.
  bool IsConstant(ValueId value) const {
    for (int i = 0; i < kLongestChain; ++i) {
      const Node* producer = flow_.ProducerNode(value);
      if (producer == nullptr || !FeedsBroadcast(producer->kind))
        return producer != nullptr && producer->kind == OpKind::kConstant;
      value = producer->operands[0];
    }
    return false;
  }

  void Sink(size_t parameter, ValueId value) {
    if (!IsConstant(value)) return;
    Dataflow& body = Body();
    const ValueId old = body.parameters[parameter];
    body.Replace(old, Clone(value));
    // What goes round stays the parameter itself.
    if (parameter < carried_) kept_.push_back({parameter, old});
  }

  ValueId Clone(ValueId value) {
    if (const auto known = clones_.find(value.value); known != clones_.end()) return known->second;
    const Node* producer = flow_.ProducerNode(value);
    NodeInit init{.name = flow_.source().name(producer->name), .operands = {}, .results = {flow_.type_id(value)}};
    init.attributes = producer->attributes;
    init.origin = producer->origin;
    for (const ValueId operand : ValueList(producer->operands)) init.operands.push_back(Clone(operand));
    Dataflow& body = Body();
    return clones_[value.value] = body.result(body.Add(std::move(init)));
  }

  void DropUnused() {
    for (const auto& [parameter, value] : kept_) Body().outputs[parameter] = value;
    Body().NoteChange();
    const Node& node = flow_.node(loop_);
    LoopState state(flow_, loop_);
    std::vector<bool> drop(node.operands.size(), false);
    for (const auto& [parameter, value] : kept_) drop[parameter] = !state.IsRead(parameter);
    for (size_t c = carried_; c < drop.size(); ++c) drop[c] = !state.IsRead(c);
    state.Drop(drop, merged_);
  }

  Dataflow& flow_;
  NodeId loop_;
  uint32_t carried_;
  std::vector<std::pair<size_t, ValueId>> kept_;
  Merged merged_;
  std::unordered_map<uint32_t, ValueId> clones_;  // by value of the outer flow
};

class LoopHoister {
 public:
  LoopHoister(Dataflow& flow, NodeId loop) : flow_(flow), loop_(loop) {}

  void Run() {
    const uint32_t carried = flow_.node(loop_).result_count;
    for (size_t p = 0; p < Body().parameters.size(); ++p) {
      const bool unchanged = p >= carried || Body().outputs[p] == Body().parameters[p];
      if (unchanged) outside_.emplace(Body().parameters[p].value, flow_.node(loop_).operands[p]);
    }
    const auto users = Body().Users();
    const std::vector<NodeId> order = Body().order();
    for (const NodeId id : order) Visit(id);
    for (const NodeId id : order) {
      if (hoisted_.contains(id.value)) Bring(id, users);
    }
    Body().Normalise();
    if (!hoisted_.empty()) LoopState(flow_, loop_).DropUnread();
  }

 private:
  Dataflow& Body() { return *flow_.node(loop_).bodies[1]; }

  // Work that is worth doing once and whose result is no larger than what it reads.
  bool MayHoist(const Node& node) {
    const ir::OpSort sort = ir::Traits(node.kind).sort;
    const bool work = sort == ir::OpSort::kElementwise || sort == ir::OpSort::kReduction ||
                      sort == ir::OpSort::kContraction || node.kind == OpKind::kTranspose ||
                      node.kind == OpKind::kReshape;
    if (!work || node.result_count != 1 || !node.bodies.empty() || node.capture_count > 0) return false;
    int64_t read = 0;
    for (const ValueId operand : node.operands) {
      if (!outside_.contains(operand.value)) return false;
      read += Body().ByteSize(operand);
    }
    return !node.operands.empty() && Body().ByteSize(node.first_result) <= read;
  }

  void Visit(NodeId id) {
    const Node& node = Body().node(id);
    if (!MayHoist(node)) return;
    NodeInit init{
        .name = flow_.source().name(node.name), .operands = {}, .results = {Body().type_id(node.first_result)}};
    init.attributes = node.attributes;
    init.origin = node.origin;
    for (const ValueId operand : node.operands) init.operands.push_back(outside_.at(operand.value));
    outside_.emplace(node.first_result.value, flow_.result(flow_.Add(std::move(init))));
    hoisted_.insert(id.value);
  }

  // What stays inside reads hoisted values as captured ones; bitcasts alone are left where they were.
  void Bring(NodeId id, const UserTable& users) {
    const ValueId value = Body().node(id).first_result;
    const auto& consumers = users[value.index()];
    const bool read_inside = std::any_of(consumers.begin(), consumers.end(),
                                         [&](NodeId consumer) { return !hoisted_.contains(consumer.value); });
    const bool returned = std::find(Body().outputs.begin(), Body().outputs.end(), value) != Body().outputs.end();
    if ((!read_inside && !returned) || Body().node(id).kind == OpKind::kReshape) return;
    Node& node = flow_.node(loop_);
    node.operands.push_back(outside_.at(value.value));
    flow_.NoteChange();
    ++node.capture_count;
    const ir::TypeId type = Body().type_id(value);
    for (const auto& body : node.bodies) {
      body->AddParameter(type);
      ++body->captured_parameters;
    }
    Body().Replace(value, Body().parameters.back());
  }

  Dataflow& flow_;
  NodeId loop_;
  std::unordered_map<uint32_t, ValueId> outside_;  // value of the body -> value outside that equals it
  std::unordered_set<uint32_t> hoisted_;           // nodes of the body
};

bool IsWellFormed(const Node& node) {
  if (node.kind != OpKind::kWhile || node.bodies.size() != 2 || node.own_operand_count() != node.result_count)
    return false;
  return std::all_of(node.bodies.begin(), node.bodies.end(),
                     [&](const auto& body) { return body->parameters.size() == node.operands.size(); }) &&
         node.bodies[1]->outputs.size() == node.result_count;
}

template <class Rewrite>
void OnLoops(Dataflow& flow) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    if (!IsWellFormed(flow.node(id))) continue;
    for (ValueId& operand : flow.node(id).operands) operand = flow.Resolve(operand);
    Rewrite(flow, id).Run();
  }
  flow.Normalise();
}

}  // namespace

void SinkInvariants(Dataflow& flow, PassContext&) { OnLoops<LoopSinker>(flow); }

void HoistInvariants(Dataflow& flow, PassContext&) { OnLoops<LoopHoister>(flow); }

}  // namespace hespas::optimise
