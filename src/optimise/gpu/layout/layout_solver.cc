#include "optimise/gpu/layout/layout_solver.h"

#include <algorithm>

#include "optimise/passes/canonical_dots.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Stands for the results of the region among constraints.
constexpr uint32_t kResults = UINT32_MAX;

// XLA relies on requests to come to rest; so do we, but not beyond so many for each value.
constexpr size_t kMostRequests = 64;

}  // namespace

LayoutSolver::LayoutSolver(const Dataflow& flow) : flow_(flow) {}

bool LayoutSolver::Solve() {
  for (size_t i = 0; i < flow_.value_count(); ++i) {
    if (RankOf(ValueId(i)) > Layout::kHighestRank) return false;
  }
  FindPostOrder();
  FindBuffers();
  ConstrainOps();
  Propagate();
  // What nothing constrains gets the default, one after the other.
  for (const NodeId id : post_order_) {
    for (uint32_t r = 0; r < flow_.node(id).result_count; ++r) {
      const ValueId value = flow_.result(id, r);
      if (constraints_[BufferOf(value)].is_set) continue;
      SetBuffer(BufferOf(value), {.layout = Layout::Default(RankOf(value)), .mandatory = false});
      Propagate();
    }
  }
  return true;
}

// Operands first, from the results on (HloComputation::MakeInstructionPostOrder).
void LayoutSolver::FindPostOrder() {
  std::vector<char> state(flow_.node_count(), 0);
  std::vector<std::pair<NodeId, size_t>> stack;
  const auto visit = [&](NodeId root) {
    if (!root.valid() || state[root.index()] != 0) return;
    state[root.index()] = 1;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      const Node& node = flow_.node(id);
      if (next == node.operands.size()) {
        post_order_.push_back(id);
        stack.pop_back();
        continue;
      }
      const NodeId before = flow_.producer(node.operands[next++]);
      if (!before.valid() || state[before.index()] != 0) continue;
      state[before.index()] = 1;
      stack.emplace_back(before, 0);
    }
  };
  for (const ValueId out : flow_.outputs) visit(flow_.producer(out));
  for (const NodeId id : flow_.order()) visit(id);
}

void LayoutSolver::FindBuffers() {
  buffer_.resize(flow_.value_count());
  for (size_t i = 0; i < buffer_.size(); ++i) buffer_[i] = i;
  rules_.assign(flow_.node_count(), LayoutRule::kFixed);
  first_operand_.assign(flow_.node_count(), 0);
  uses_.resize(buffer_.size());
  size_t next = buffer_.size();
  for (const NodeId id : flow_.order()) {
    const Node& node = flow_.node(id);
    rules_[id.index()] = LayoutRuleOf(flow_, node);
    first_operand_[id.index()] = next;
    next += node.operands.size();
    for (uint32_t i = 0; i < node.operands.size(); ++i) {
      operands_.push_back({id, i});
      const size_t buffer = BufferOf(node.operands[i]);
      if (rules_[id.index()] == LayoutRule::kAlias) {
        buffer_[flow_.result(id, i).index()] = buffer;
      } else {
        uses_[buffer].push_back({id, i});
      }
    }
  }
  constraints_.resize(next);
}

// From the end of the program to its start, so that what the first op asks for is followed first
// (GpuLayoutAssignment::AddBackendConstraints). Results and parameters of the region come after all ops.
void LayoutSolver::ConstrainOps() {
  for (const ValueId value : flow_.parameters) SetBuffer(BufferOf(value), {.layout = Layout::Default(RankOf(value))});
  added_.push_back(kResults);
  for (size_t i = post_order_.size(); i-- > 0;) {
    const NodeId id = post_order_[i];
    if (rules_[id.index()] == LayoutRule::kFixed) {
      ConstrainFixed(id);
    } else if (flow_.node(id).kind == OpKind::kDotGeneral) {
      ConstrainDot(id);
    } else if (flow_.node(id).kind == OpKind::kTranspose) {
      ConstrainTranspose(id);
    }
  }
}

void LayoutSolver::ConstrainFixed(NodeId id) {
  const Node& node = flow_.node(id);
  for (size_t i = 0; i < node.operands.size(); ++i)
    SetOperand(id, i, {.layout = Layout::Default(RankOf(node.operands[i]))});
  for (uint32_t r = 0; r < node.result_count; ++r)
    SetBuffer(BufferOf(flow_.result(id, r)), {.layout = Layout::Default(RankOf(flow_.result(id, r)))});
}

// Batches, and more than one dimension of a role, bind a matmul's operand and result (AddDotBackendConstraints).
void LayoutSolver::ConstrainDot(NodeId id) {
  const Node& node = flow_.node(id);
  const auto dims = CanonicalDimensions(flow_, node);
  if (!dims) return ConstrainFixed(id);
  ConstrainDotOperand(id, 0, dims->lhs_batching, dims->lhs_contracting);
  ConstrainDotOperand(id, 1, dims->rhs_batching, dims->rhs_contracting);
  const size_t roles = dims->lhs_batching.size() + dims->lhs_contracting.size() + 1;
  if (!dims->lhs_batching.empty() || RankOf(node.operands[0]) > roles || RankOf(node.operands[1]) > roles)
    ConstrainDotResult(id, dims->lhs_batching.size());
}

void LayoutSolver::ConstrainDotOperand(NodeId id, size_t operand, const Dimensions& batch,
                                       const Dimensions& contracted) {
  const ValueId value = flow_.node(id).operands[operand];
  const Dimensions free = FreeDimensions(RankOf(value), batch, contracted);
  if (batch.empty() && contracted.size() <= 1 && free.size() <= 1) return;
  Layout layout = ExistingLayout(value);
  if (!IsMatrix(layout, batch, contracted, free)) layout = Layout::Default(RankOf(value));
  if (!IsMatrix(layout, batch, contracted, free)) {
    Dimensions order = batch;
    order.insert(order.end(), contracted.begin(), contracted.end());
    order.insert(order.end(), free.begin(), free.end());
    layout = Layout::Of(order);
  }
  SetOperand(id, operand, {.layout = layout});
}

// As a consumer has asked for it, where the matmul can do so (SetDotLayout).
void LayoutSolver::ConstrainDotResult(NodeId id, size_t batch) {
  const ValueId result = flow_.result(id);
  Layout layout = Layout::Default(RankOf(result));
  for (const Use use : uses_[BufferOf(result)]) {
    const Constraint& asked = constraints_[KeyOf(use.id, use.operand)];
    if (!asked.is_set || !DotCanLeave(flow_, flow_.node(id), batch, asked.layout)) continue;
    layout = asked.layout;
    break;
  }
  SetBuffer(BufferOf(result), {.layout = layout});
}

// The transpose of a matmul's result moves nothing, where the matmul can leave it so.
void LayoutSolver::ConstrainTranspose(NodeId id) {
  const Node& node = flow_.node(id);
  const Node* dot = flow_.ProducerNode(node.operands[0]);
  if (dot == nullptr || dot->kind != OpKind::kDotGeneral || uses_[BufferOf(node.operands[0])].size() > 1) return;
  const auto permutation = IntegersOf(flow_, node, "permutation");
  const auto dims = CanonicalDimensions(flow_, *dot);
  if (!permutation || !dims) return;
  const Layout layout = Layout::Of(*permutation);
  if (DotCanLeave(flow_, *dot, dims->lhs_batching.size(), layout)) SetOperand(id, 0, {.layout = layout});
}

namespace {

// The operand whose layout an elementwise op's result is born with (shape_inference.cc).
size_t ShapingOperand(const Node& node) { return node.kind == OpKind::kSelect || node.kind == OpKind::kClamp ? 1 : 0; }

}  // namespace

// What a called function is given is born in the default layout; what it returns keeps its own.
bool LayoutSolver::IsPassedIn(const Node& node, const Node& producer) const {
  const ir::Module& source = flow_.source();
  if (!node.origin.valid() || !producer.origin.valid()) return false;
  const ir::BlockId block = source.op(node.origin).block;
  return block != source.op(producer.origin).block && block != source.body(source.main());
}

// The layout with which a value was born: with it a transpose moves nothing, and elementwise ops keep their operand's.
Layout LayoutSolver::ExistingLayout(ValueId value) const {
  const size_t rank = RankOf(value);
  std::vector<const Node*> transposes;  // from the value up
  for (const Node* node = flow_.ProducerNode(value); node != nullptr;) {
    const bool elementwise = ir::Traits(node->kind).sort == ir::OpSort::kElementwise;
    if (!elementwise && node->kind != OpKind::kTranspose) break;
    if (!elementwise) transposes.push_back(node);
    const size_t shaping = ShapingOperand(*node);
    if (shaping >= node->operands.size() || RankOf(node->operands[shaping]) != rank) break;
    const Node* before = flow_.ProducerNode(node->operands[shaping]);
    if (before == nullptr || IsPassedIn(*node, *before)) break;
    node = before;
  }
  Layout layout = Layout::Default(rank);
  for (size_t i = transposes.size(); i-- > 0;)
    layout = ThroughTranspose(flow_, *transposes[i], layout).value_or(Layout::Default(rank));
  return layout;
}

// Each constraint is followed as far as it gets before the next one (PropagateConstraints).
void LayoutSolver::Propagate() {
  const auto take_added = [&] {
    for (const uint32_t key : added_) {
      if (key == kResults || constraints_[key].depth_first) {
        work_.push_front(key);
      } else {
        work_.push_back(key);
      }
    }
    added_.clear();
  };
  take_added();
  while (!work_.empty() && requests_++ < kMostRequests * constraints_.size()) {
    const uint32_t key = work_.front();
    work_.pop_front();
    if (key == kResults) {
      for (const ValueId out : flow_.outputs)
        SetBuffer(BufferOf(out), {.layout = Layout::Default(RankOf(out)), .mandatory = false});
    } else if (key < buffer_.size()) {
      PropagateBuffer(key);
    } else {
      PropagateOperand(operands_[key - buffer_.size()], constraints_[key]);
    }
    take_added();
  }
}

// PropagateBufferConstraint.
void LayoutSolver::PropagateBuffer(size_t buffer) {
  const Constraint constraint = constraints_[buffer];
  const NodeId id = flow_.producer(ValueId(buffer));
  if (id.valid() && constraint.layout.rank() > 1) {
    const Node& node = flow_.node(id);
    const LayoutRule rule = rules_[id.index()];
    for (size_t i = 0; i < node.operands.size() && rule != LayoutRule::kFixed; ++i) {
      const size_t rank = RankOf(node.operands[i]);
      if (rank <= 1) continue;
      if (rule == LayoutRule::kSame) {
        if (rank == constraint.layout.rank()) SetOperand(id, i, {.layout = constraint.layout});
        continue;
      }
      const auto layout = OperandFromResult(flow_, node, constraint.layout);
      if (!layout) continue;
      const bool mandatory = node.kind == OpKind::kBroadcastInDim;
      SetOperand(id, i, {.layout = *layout, .mandatory = mandatory, .depth_first = IsFollowedAtOnce(flow_, node)});
    }
  }
  for (const Use use : uses_[buffer])
    SetOperand(use.id, use.operand, {.layout = constraint.layout, .mandatory = false, .priority = constraint.priority});
}

// PropagateOperandConstraint.
void LayoutSolver::PropagateOperand(Use use, const Constraint& constraint) {
  const Node& node = flow_.node(use.id);
  const Request request{.layout = constraint.layout, .priority = constraint.priority};
  if (request.layout.rank() <= 1) return;
  SetBuffer(BufferOf(node.operands[use.operand]),
            {.layout = request.layout, .mandatory = false, .priority = request.priority});
  const LayoutRule rule = rules_[use.id.index()];
  if (rule == LayoutRule::kFixed) return;
  if (rule == LayoutRule::kSame) return PropagateToSiblings(use, request);
  if (node.result_count != 1 || RankOf(node.first_result) <= 1) return;
  const auto layout = ResultFromOperand(flow_, node, request.layout);
  if (!layout) return;
  SetBuffer(BufferOf(node.first_result), {.layout = *layout,
                                          .mandatory = node.kind == OpKind::kTranspose,
                                          .depth_first = IsFollowedAtOnce(flow_, node),
                                          .priority = request.priority});
}

// The other operands and the result lie alike; of a concatenation the largest operand decides.
void LayoutSolver::PropagateToSiblings(Use use, const Request& request) {
  const Node& node = flow_.node(use.id);
  if (node.kind == OpKind::kConcatenate) {
    const int64_t size = flow_.type(node.operands[use.operand]).element_count();
    if (std::any_of(node.operands.begin(), node.operands.end(),
                    [&](ValueId other) { return flow_.type(other).element_count() > size; })) {
      return;
    }
  }
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (node.operands[i] != node.operands[use.operand] && RankOf(node.operands[i]) == request.layout.rank())
      SetOperand(use.id, i, request);
  }
  if (RankOf(node.first_result) == request.layout.rank()) SetBuffer(BufferOf(node.first_result), request);
}

// BufferLayoutConstraint::UpdateLayout: an equal layout can become firmer, another one needs to be mandatory or to
// outweigh the first.
void LayoutSolver::SetBuffer(size_t buffer, const Request& request) {
  Constraint& constraint = constraints_[buffer];
  bool changed = !constraint.is_set;
  if (constraint.is_set && constraint.layout == request.layout) {
    changed = (request.mandatory && !constraint.mandatory) || (request.depth_first && !constraint.depth_first) ||
              request.priority > constraint.priority;
    constraint.mandatory |= request.mandatory;
    constraint.depth_first |= request.depth_first;
    constraint.priority = std::max(constraint.priority, request.priority);
  } else if (!constraint.is_set || request.mandatory || request.priority > constraint.priority) {
    constraint = {request.layout, request.priority, true, request.mandatory, request.depth_first};
    changed = true;
  }
  if (changed) added_.push_back(static_cast<uint32_t>(buffer));
}

// OperandLayoutConstraint::UpdateLayout: only what is mandatory changes a layout. Small operands of updates in place
// wait (LayoutAssignment::SetOperandLayout).
void LayoutSolver::SetOperand(NodeId id, size_t operand, Request request) {
  if (request.layout.rank() == 0) return;
  const Node& node = flow_.node(id);
  if (!request.mandatory && ((node.kind == OpKind::kDynamicUpdateSlice && operand > 0) || ReshapesPiece(flow_, node))) {
    request.depth_first = false;
    --request.priority;
  }
  const size_t key = KeyOf(id, operand);
  Constraint& constraint = constraints_[key];
  if (constraint.is_set &&
      (constraint.layout == request.layout || !request.mandatory || constraint.priority > request.priority)) {
    return;
  }
  constraint = {request.layout, request.priority, true, request.mandatory, request.depth_first};
  added_.push_back(static_cast<uint32_t>(key));
}

bool LayoutSolver::AreAllDefault() const {
  return std::all_of(constraints_.begin(), constraints_.end(),
                     [](const Constraint& constraint) { return constraint.layout.IsDefault(); });
}

const Layout& LayoutSolver::OfOperand(NodeId id, size_t operand) const {
  const Constraint& constraint = constraints_[KeyOf(id, operand)];
  return constraint.is_set ? constraint.layout : Of(flow_.node(id).operands[operand]);
}

}  // namespace hespas::optimise
