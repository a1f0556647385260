// The order in which everything runs.
#include "optimise/schedule/schedule.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "optimise/dataflow/pass.h"
#include "optimise/fusion/policy.h"
#include "optimise/gpu/decisions.h"
#include "optimise/schedule/latency_hiding.h"
#include "optimise/schedule/memory_orders.h"
#include "optimise/schedule/schedule_costs.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

// Of orders whose peaks differ by scalars alone, which XLA pads, the first counts.
constexpr double kSamePeak = 1e-3;

bool IsView(const Node& node) {
  return node.kind == OpKind::kReshape || node.kind == OpKind::kBitcast || node.kind == OpKind::kOptimizationBarrier ||
         node.kind == OpKind::kGetTupleElement || node.kind == OpKind::kAsyncDone ||
         node.kind == OpKind::kAsyncUpdate || node.kind == OpKind::kWhile;
}

int64_t BytesOf(const Dataflow& flow, const Node& node, ValueId result) {
  const ir::Type& type = flow.type(result);
  const bool bundle = type.kind == ir::TypeKind::kAsyncBundle && type.nested.size() == 2;
  if (bundle) return ir::ByteSize(flow.source().types(), type.nested[1]);
  return node.kind == OpKind::kConstant ? 0 : flow.ByteSize(result);
}

Dag DagOf(const Dataflow& flow) {
  DagBuilder builder(flow.value_count());
  for (const NodeId id : flow.order()) {
    const Node& node = flow.node(id);
    for (const ValueId operand : node.operands) builder.Read(operand.value);
    for (uint32_t r = 0; r < node.result_count; ++r) {
      const ValueId result = flow.result(id, r);
      if (IsView(node) && !node.operands.empty()) {
        builder.MakeView(result.value, node.operands[node.operands.size() == 1 ? 0 : r].value);
      } else {
        builder.Make(result.value, BytesOf(flow, node, result));
      }
    }
    builder.EndOp(node.result_count == 1 && flow.type(flow.result(id)).element_count() == 1);
  }
  for (const ValueId out : flow.outputs) builder.Return(out.value);
  return builder.Take();
}

// Several results, or one and a library's workspace.
bool MakesTuple(const Node& node) { return node.result_count > 1 || node.kind == OpKind::kCustomCall; }

// Arguments and results, which lie in donated arguments.
double HeldThroughout(const Dataflow& flow) {
  const auto bytes = [&](const std::vector<ValueId>& values) {
    double sum = 0;
    for (const ValueId value : values) sum += static_cast<double>(flow.ByteSize(value));
    return sum;
  };
  return std::max(bytes(flow.parameters), bytes(flow.outputs));
}

std::vector<uint32_t> LeastMemory(const Dag& dag) {
  std::vector<uint32_t> best;
  int64_t lowest = std::numeric_limits<int64_t>::max();
  for (std::vector<uint32_t>& order : MemoryOrders(dag)) {
    const int64_t peak = PeakOf(dag, order);
    if (!best.empty() && static_cast<double>(peak) >= (1 - kSamePeak) * static_cast<double>(lowest)) continue;
    best = std::move(order);
    lowest = peak;
  }
  return best;
}

// Where collectives are pairs of start and done, computation comes between them.
std::vector<uint32_t> Hide(const Dataflow& flow, const Dag& dag, const std::vector<uint32_t>& order,
                           PassContext& context) {
  const double held = HeldThroughout(flow);
  HidingInput input{.dag = dag, .order = order};
  if (context.memory_limit) input.memory_limit = std::llround(RoomForTemporaries(context.gpu, held));
  for (const NodeId id : flow.order()) {
    const Node& node = flow.node(id);
    input.roles.push_back(RoleOf(node.kind));
    input.in_tuple.push_back(MakesTuple(node));
  }
  ScheduleCosts costs = CostsOf(flow, input.roles, context);
  input.costs = std::move(costs.costs);
  input.latencies = std::move(costs.latencies);
  input.least = costs.least;
  Hidden hidden = HideLatency(input);
  context.short_of_memory = context.short_of_memory || hidden.least_beyond != HidingInput::kNoLimit;
  if (context.decisions != nullptr && context.memory_limit) {
    for (const int64_t bytes : {hidden.most_within, hidden.least_beyond}) {
      context.decisions->Ask(MemoryQuestion{static_cast<double>(bytes), held}, context.gpu);
    }
  }
  return std::move(hidden.order);
}

bool HasAsyncPairs(const Dataflow& flow) {
  return std::any_of(flow.order().begin(), flow.order().end(),
                     [&](NodeId id) { return flow.node(id).kind == OpKind::kAsyncStart; });
}

std::vector<NodeId> NodesIn(const std::vector<uint32_t>& order, const Dataflow& flow) {
  std::vector<NodeId> nodes;
  nodes.reserve(order.size());
  for (const uint32_t i : order) nodes.push_back(flow.order()[i]);
  return nodes;
}

}  // namespace

std::vector<NodeId> ExpectedOrder(const Dataflow& flow) {
  return HasAsyncPairs(flow) ? flow.order() : NodesIn(LeastMemory(DagOf(flow)), flow);
}

void Schedule(Dataflow& flow, PassContext& context) {
  const std::vector<NodeId> before = flow.order();
  // Without such pairs the order of a GPU's program decides nothing but which collective comes first: the program's own
  // does.
  if (context.policy->HidesLatency() && !HasAsyncPairs(flow)) return;
  // Who sends and receives by hand, as pipelines do, has a schedule.
  const auto transfers = [&](NodeId id) { return ir::Traits(flow.node(id).kind).sort == OpSort::kTransfer; };
  if (std::any_of(before.begin(), before.end(), transfers)) return;
  const Dag dag = DagOf(flow);
  std::vector<uint32_t> order = LeastMemory(dag);
  if (context.policy->HidesLatency()) order = Hide(flow, dag, order, context);
  flow.SetOrder(NodesIn(order, flow));
}

}  // namespace hespas::optimise
