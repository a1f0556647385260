#include "optimise/dataflow/dataflow.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace hespas::optimise {

using ir::OpKind;
using ir::OpSort;

const std::string_view* Dataflow::attribute(const Node& node, std::string_view name) const {
  for (const ir::Attribute& a : node.attributes) {
    if (source_->name(a.name) == name) return &a.text;
  }
  return nullptr;
}

void Dataflow::Reserve(size_t nodes) {
  nodes_.reserve(nodes);
  order_.reserve(nodes);
  values_.reserve(2 * nodes);
}

ValueId Dataflow::AddParameter(ir::TypeId type) {
  const ValueId id(values_.size());
  values_.push_back({type, NodeId(), id});
  parameters.push_back(id);
  return id;
}

NodeId Dataflow::Add(Node node, std::span<const ir::TypeId> results) {
  const NodeId id(nodes_.size());
  node.first_result = ValueId(values_.size());
  node.result_count = static_cast<uint32_t>(results.size());
  for (const ir::TypeId type : results) {
    values_.push_back({type, id, ValueId(values_.size())});
  }
  has_scopes_ |= node.scope.valid();
  nests_ |= !node.bodies.empty() && node.kind != OpKind::kFusion && node.kind != OpKind::kAsyncStart;
  nodes_.push_back(std::move(node));
  order_.push_back(id);
  changed_ = true;
  return id;
}

NodeId Dataflow::Add(NodeInit init) {
  Node node;
  node.name = source_->InternName(init.name);
  node.kind = ir::KindOf(init.name);
  node.operands = std::move(init.operands);
  node.attributes = std::move(init.attributes);
  node.origin = init.origin;
  return Add(std::move(node), init.results);
}

Node Dataflow::Copy(NodeId id) const {
  const Node& node = nodes_[id.index()];
  Node copy;
  copy.kind = node.kind;
  copy.name = node.name;
  copy.operands = node.operands;
  copy.capture_count = node.capture_count;
  copy.captured = node.captured.items();
  copy.origin = node.origin;
  copy.scope = node.scope;
  copy.attributes = node.attributes;
  return copy;
}

// What replaces a node is called as that was, with the new nodes that it reads: as XLA's ReplaceInstruction hands on
// op_name where the new instruction has none (hlo_computation.cc).
void Dataflow::PassScope(ValueId from, ValueId to) {
  const NodeId old = producer(from);
  if (!old.valid() || !node(old).scope.valid()) return;
  const ir::NameId scope = node(old).scope;
  std::vector<NodeId> work = {producer(to)};
  while (!work.empty()) {
    const NodeId id = work.back();
    work.pop_back();
    if (!id.valid() || id.index() < old.index() || node(id).scope.valid()) continue;
    node(id).scope = scope;
    for (const ValueId operand : node(id).operands) work.push_back(producer(operand));
  }
}

ValueId Dataflow::ResolveAlias(ValueId id) {
  ValueId root = id;
  while (values_[root.index()].alias != root) root = values_[root.index()].alias;
  while (values_[id.index()].alias != root) {
    const ValueId next = values_[id.index()].alias;
    values_[id.index()].alias = root;
    id = next;
  }
  return root;
}

namespace {

// What Normalise knows about a node.
enum State : uint8_t { kNeeded = 1, kPassed = 2, kPlaced = 4 };

}  // namespace

// From the last node to the first, as memory lies; nodes that an earlier one needs are visited when that is met. False
// where there are such.
bool Dataflow::MarkNeeded(std::vector<uint8_t>& state) {
  bool ordered = true;
  std::vector<NodeId> late;
  const auto need = [&](ValueId value) {
    const NodeId id = producer(value);
    if (!id.valid()) return;
    uint8_t& known = state[id.index()];
    ordered = ordered && (known & kPassed) == 0;
    if (known == kPassed) late.push_back(id);
    known |= kNeeded;
  };
  const auto visit = [&](NodeId id) {
    for (ValueId& operand : node(id).operands) {
      operand = Resolve(operand);
      need(operand);
    }
  };
  for (const ValueId out : outputs) need(out);
  for (size_t i = order_.size(); i-- > 0;) {
    const NodeId id = order_[i];
    uint8_t& known = state[id.index()];
    known |= kPassed;
    if ((known & kNeeded) == 0 && !node(id).dead && HasSideEffect(*this, node(id))) known |= kNeeded;
    if ((known & kNeeded) != 0) visit(id);
    while (!late.empty()) {
      const NodeId next = late.back();
      late.pop_back();
      visit(next);
    }
  }
  return ordered;
}

void Dataflow::Normalise() {
  if (!changed_) return;
  changed_ = false;
  for (ValueId& out : outputs) out = Resolve(out);
  std::vector<uint8_t> state(nodes_.size(), 0);
  if (MarkNeeded(state)) {
    std::erase_if(order_, [&](NodeId id) { return (state[id.index()] & kNeeded) == 0; });
    return;
  }
  std::vector<NodeId> sorted;
  sorted.reserve(order_.size());
  std::vector<std::pair<NodeId, size_t>> stack;
  const auto enter = [&](NodeId id) {
    if (!id.valid() || (state[id.index()] & (kNeeded | kPlaced)) != kNeeded) return;
    state[id.index()] |= kPlaced;
    stack.emplace_back(id, 0);
  };
  const auto is_ready = [&](ValueId operand) {
    const NodeId by = producer(operand);
    return !by.valid() || (state[by.index()] & kPlaced) != 0;
  };
  for (const NodeId start : order_) {
    const auto& operands = node(start).operands;
    if (state[start.index()] == (kNeeded | kPassed) && std::all_of(operands.begin(), operands.end(), is_ready)) {
      state[start.index()] |= kPlaced;
      sorted.push_back(start);
      continue;
    }
    enter(start);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (next == node(id).operands.size()) {
        sorted.push_back(id);
        stack.pop_back();
      } else {
        enter(producer(node(id).operands[next++]));
      }
    }
  }
  order_ = std::move(sorted);
}

void Dataflow::Compact() {
  Normalise();
  if (nodes_.size() < 2 * order_.size()) return;
  std::vector<ValueId> moved(values_.size());
  std::vector<Value> values;
  const auto move_value = [&](size_t from, NodeId by) {
    moved[from] = ValueId(values.size());
    values.push_back({values_[from].type, by, moved[from]});
  };
  for (ValueId& parameter : parameters) {
    move_value(parameter.index(), NodeId());
    parameter = moved[parameter.index()];
  }
  std::vector<Node> nodes;
  nodes.reserve(2 * order_.size());  // as many as there may be before the next time
  for (NodeId& id : order_) {
    Node& node = nodes.emplace_back(std::move(nodes_[id.index()]));
    id = NodeId(nodes.size() - 1);
    for (ValueId& operand : node.operands) operand = moved[operand.index()];
    const size_t first = node.first_result.index();
    node.first_result = ValueId(values.size());
    for (uint32_t r = 0; r < node.result_count; ++r) move_value(first + r, id);
  }
  for (ValueId& out : outputs) out = moved[out.index()];
  nodes_ = std::move(nodes);
  values_ = std::move(values);
}

UserTable Dataflow::Users() const {
  UserTable table;
  table.begin_.assign(values_.size() + 1, 0);
  std::vector<NodeId> last(values_.size());
  std::vector<std::pair<uint32_t, NodeId>> reads;
  reads.reserve(2 * order_.size());
  for (const NodeId id : order_) {
    for (const ValueId operand : node(id).operands) {
      if (last[operand.index()] == id) continue;
      last[operand.index()] = id;
      ++table.begin_[operand.index() + 1];
      reads.emplace_back(operand.value, id);
    }
  }
  std::partial_sum(table.begin_.begin(), table.begin_.end(), table.begin_.begin());
  std::vector<uint32_t> next(table.begin_.begin(), table.begin_.end() - 1);
  table.users_.resize(reads.size());
  for (const auto& [value, id] : reads) table.users_[next[value]++] = id;
  return table;
}

bool IsOrdered(const Dataflow& flow) {
  std::vector<char> done(flow.node_count(), 0);
  const auto ready = [&](ValueId value) { return !flow.producer(value).valid() || done[flow.producer(value).index()]; };
  for (const NodeId id : flow.order()) {
    const auto& operands = flow.node(id).operands;
    if (!std::all_of(operands.begin(), operands.end(), ready)) return false;
    done[id.index()] = 1;
  }
  return std::all_of(flow.outputs.begin(), flow.outputs.end(), ready);
}

bool HasSideEffect(const Dataflow& flow, const Node& node) {
  if (node.kind == OpKind::kCustomCall) {
    const auto* flag = flow.attribute(node, "has_side_effect");
    return flag != nullptr && flag->find("true") != std::string_view::npos;
  }
  switch (ir::Traits(node.kind).sort) {
    case OpSort::kTransfer:
    case OpSort::kUnknown:
    case OpSort::kAsync:
      return true;
    case OpSort::kControl:
    case OpSort::kCall:
      return std::any_of(node.bodies.begin(), node.bodies.end(),
                         [](const auto& body) {
                           return std::any_of(body->order().begin(), body->order().end(),
                                              [&](NodeId id) { return HasSideEffect(*body, body->node(id)); });
                         }) ||
             node.bodies.empty();
    default:
      return false;
  }
}

ir::Attribute MakeAttribute(ir::Module& source, std::string_view name, std::string text) {
  return {source.InternName(name), source.Keep(std::move(text))};
}

void SetAttribute(ir::Module& source, Node& node, std::string_view name, const std::string& text) {
  for (ir::Attribute& attribute : node.attributes) {
    if (source.name(attribute.name) == name) attribute = MakeAttribute(source, name, text);
  }
}

ir::TypeId TensorLike(ir::Module& source, ir::TypeId like, std::vector<int64_t> dims) {
  ir::Type type = source.types()[like];
  type.dims = std::move(dims);
  type.encoding.clear();
  return source.types().Intern(std::move(type));
}

}  // namespace hespas::optimise
