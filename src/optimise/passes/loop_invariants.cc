// What a loop does not change. Constants that it carries or captures, spread or not, are made where the body uses them
// (XLA's while-loop constant sinking): there they fuse into their readers instead of being stored and read again, and
// what the loop then carries for nothing is dropped. Other work on values it does not change is done once before it
// (while-loop invariant code motion).
#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr int kLongestChain = 16;

bool IsSpread(OpKind kind) {
  return kind == OpKind::kBroadcastInDim || kind == OpKind::kReshape || kind == OpKind::kConvert;
}

class LoopSinker {
 public:
  LoopSinker(Dataflow& flow, NodeId loop) : flow_(flow), loop_(loop), carried_(flow.node(loop).result_count) {}

  void Run() {
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

  // A constant, spread or not. XLA stores whatever else a loop does not change, a mask that broadcasts repeat, too.
  bool IsConstant(WireId wire) const {
    for (int i = 0; i < kLongestChain; ++i) {
      const Node* maker = flow_.MakerNode(wire);
      if (maker == nullptr || !IsSpread(maker->kind)) return maker != nullptr && maker->kind == OpKind::kConstant;
      wire = maker->operands[0];
    }
    return false;
  }

  void Sink(size_t parameter, WireId wire) {
    if (!IsConstant(wire)) return;
    Dataflow& body = Body();
    const WireId old = body.parameters[parameter];
    body.Replace(old, Clone(wire));
    // What goes round stays the parameter itself.
    if (parameter < carried_) kept_.push_back({parameter, old});
  }

  WireId Clone(WireId wire) {
    if (const auto known = clones_.find(wire.value); known != clones_.end()) return known->second;
    const Node* maker = flow_.MakerNode(wire);
    NodeInit init{.name = flow_.source().name(maker->name), .operands = {}, .results = {flow_.type_id(wire)}};
    init.attributes = maker->attributes;
    init.origin = maker->origin;
    for (const WireId operand : std::vector<WireId>(maker->operands)) init.operands.push_back(Clone(operand));
    Dataflow& body = Body();
    return clones_[wire.value] = body.result(body.Add(std::move(init)));
  }

  bool ReadsParameter(const Dataflow& body, size_t parameter) const {
    const WireId wire = body.parameters[parameter];
    return std::any_of(body.order().begin(), body.order().end(), [&](NodeId id) {
      const auto& operands = body.node(id).operands;
      return std::find(operands.begin(), operands.end(), wire) != operands.end();
    });
  }

  void DropUnused() {
    for (const auto& [parameter, wire] : kept_) Body().outputs[parameter] = wire;
    Body().NoteChange();
    const Node& node = flow_.node(loop_);
    std::vector<bool> drop(node.operands.size(), false);
    const auto unread = [&](size_t parameter) {
      return !ReadsParameter(*node.bodies[0], parameter) && !ReadsParameter(*node.bodies[1], parameter);
    };
    for (const auto& [parameter, wire] : kept_) drop[parameter] = unread(parameter);
    for (size_t c = carried_; c < drop.size(); ++c) drop[c] = unread(c);
    if (std::find(drop.begin(), drop.end(), true) != drop.end()) Rebuild(drop);
  }

  template <class T>
  static void Filter(std::vector<T>& list, const std::vector<bool>& drop) {
    size_t kept = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      if (drop[i]) continue;
      list[kept++] = list[i];
    }
    list.resize(kept);
  }

  void Rebuild(const std::vector<bool>& drop) {
    std::vector<ir::TypeId> types;
    for (uint32_t i = 0; i < carried_; ++i) {
      if (!drop[i]) types.push_back(flow_.type_id(flow_.result(loop_, i)));
    }
    Node node = std::move(flow_.node(loop_));
    const std::vector<WireId> before = node.operands;
    const WireId first = node.first_result;
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
    for (uint32_t i = 0; i < carried_; ++i) {
      const WireId old(first.index() + i);
      flow_.Replace(old, drop[i] ? before[i] : flow_.result(rebuilt, next++));
    }
  }

  Dataflow& flow_;
  NodeId loop_;
  uint32_t carried_;
  std::vector<std::pair<size_t, WireId>> kept_;
  std::unordered_map<uint32_t, WireId> clones_;  // by wire of the outer flow
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
  }

 private:
  Dataflow& Body() { return *flow_.node(loop_).bodies[1]; }

  // Work that is worth doing once and whose result is no larger than what it reads.
  bool MayHoist(const Node& node) {
    using ir::OpSort;
    const OpSort sort = ir::Traits(node.kind).sort;
    const bool work = sort == OpSort::kElementwise || sort == OpSort::kReduction || sort == OpSort::kContraction ||
                      node.kind == OpKind::kTranspose || node.kind == OpKind::kReshape;
    if (!work || node.result_count != 1 || !node.bodies.empty() || node.capture_count > 0) return false;
    int64_t read = 0;
    for (const WireId operand : node.operands) {
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
    for (const WireId operand : node.operands) init.operands.push_back(outside_.at(operand.value));
    outside_.emplace(node.first_result.value, flow_.result(flow_.Add(std::move(init))));
    hoisted_.insert(id.value);
  }

  // What stays inside reads hoisted values as captured ones; views alone are left where they were.
  void Bring(NodeId id, const UserTable& users) {
    const WireId wire = Body().node(id).first_result;
    const auto& readers = users[wire.index()];
    const bool read_inside =
        std::any_of(readers.begin(), readers.end(), [&](NodeId reader) { return !hoisted_.contains(reader.value); });
    const bool returned = std::find(Body().outputs.begin(), Body().outputs.end(), wire) != Body().outputs.end();
    if ((!read_inside && !returned) || Body().node(id).kind == OpKind::kReshape) return;
    Node& node = flow_.node(loop_);
    node.operands.push_back(outside_.at(wire.value));
    flow_.NoteChange();
    ++node.capture_count;
    const ir::TypeId type = Body().type_id(wire);
    for (const auto& body : node.bodies) {
      body->AddParameter(type);
      ++body->captured_parameters;
    }
    Body().Replace(wire, Body().parameters.back());
  }

  Dataflow& flow_;
  NodeId loop_;
  std::unordered_map<uint32_t, WireId> outside_;  // wire of the body -> wire of equal value outside
  std::unordered_set<uint32_t> hoisted_;          // nodes of the body
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
    for (WireId& operand : flow.node(id).operands) operand = flow.Resolve(operand);
    Rewrite(flow, id).Run();
  }
  flow.Normalise();
}

}  // namespace

void SinkInvariants(Dataflow& flow, PassContext&) { OnLoops<LoopSinker>(flow); }

void HoistInvariants(Dataflow& flow, PassContext&) { OnLoops<LoopHoister>(flow); }

}  // namespace hespas::optimise
