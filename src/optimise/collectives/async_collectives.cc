// Collectives become pairs: a start, after which others may run, and a done, from which the result is there. What XLA's
// flags keep in the stream of the computation is marked instead.
#include <fmt/format.h>

#include <algorithm>

#include "ir/facts/execution/asynchronous.h"
#include "ir/facts/library_call.h"
#include "ir/type_table.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// !mhlo.async_bundle<tuple<operands>, result>
ir::TypeId BundleOf(ir::TypeTable& types, std::vector<ir::TypeId> operands, std::vector<ir::TypeId> results) {
  const auto tuple = [&](std::vector<ir::TypeId> members) {
    ir::Type type;
    type.kind = ir::TypeKind::kTuple;
    type.nested = std::move(members);
    return types.Intern(std::move(type));
  };
  ir::Type bundle;
  bundle.kind = ir::TypeKind::kAsyncBundle;
  bundle.nested = {tuple(std::move(operands)), results.size() == 1 ? results[0] : tuple(std::move(results))};
  return types.Intern(std::move(bundle));
}

void Divide(Dataflow& flow, NodeId id, PassContext& context) {
  auto body = std::make_unique<Dataflow>(flow.source());
  Node inner = flow.Copy(id);
  std::vector<ir::TypeId> operands;
  for (ValueId& operand : inner.operands) {
    operands.push_back(flow.type_id(operand));
    operand = body->AddParameter(operands.back());
  }
  std::vector<ir::TypeId> results;
  for (uint32_t r = 0; r < flow.node(id).result_count; ++r) results.push_back(flow.type_id(flow.result(id, r)));
  const NodeId made = body->Add(std::move(inner), results);
  for (uint32_t r = 0; r < results.size(); ++r) body->outputs.push_back(body->result(made, r));

  Node start;
  start.kind = OpKind::kAsyncStart;
  start.name = flow.source().InternName("mhlo.async_start");
  start.operands = flow.node(id).operands;
  start.origin = flow.node(id).origin;
  start.scope = flow.node(id).scope;
  std::string symbol;
  do {
    symbol = fmt::format("async_{}", context.started++);
  } while (flow.source().FindSymbol(symbol).valid());
  start.attributes = {MakeAttribute(flow.source(), "called_computation", "@" + symbol),
                      MakeAttribute(flow.source(), "execution_thread", "\"main\"")};
  start.bodies.push_back(std::move(body));
  const std::vector<ir::TypeId> bundle{BundleOf(flow.source().types(), std::move(operands), results)};
  const NodeId started = flow.Add(std::move(start), bundle);
  const NodeId done = flow.Add({.name = "mhlo.async_done",
                                .operands = {flow.result(started)},
                                .results = results,
                                .origin = flow.node(started).origin});
  for (uint32_t r = 0; r < results.size(); ++r) flow.Replace(flow.result(id, r), flow.result(done, r));
}

// JAX's ragged all-to-all is a call, of which no pair is made.
OpKind CollectiveKind(const Dataflow& flow, const Node& node) {
  if (node.kind != OpKind::kCustomCall) return node.kind;
  return ir::IsRaggedAllToAll(flow.attribute(node, "call_target_name")) ? OpKind::kRaggedAllToAll : node.kind;
}

}  // namespace

void SplitCollectives(Dataflow& flow, PassContext& context) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    Node& node = flow.node(id);
    if (node.capture_count != 0 || node.result_count == 0) continue;
    const OpKind kind = CollectiveKind(flow, node);
    const auto& kept = context.flags.synchronous;
    if (ir::IsCollective(kind) && std::find(kept.begin(), kept.end(), kind) != kept.end()) {
      node.attributes.push_back(MakeAttribute(flow.source(), ir::kSynchronous, "unit"));
    } else if (ir::IsCollective(node.kind)) {
      Divide(flow, id, context);
    }
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
