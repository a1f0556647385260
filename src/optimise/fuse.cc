// Puts each planned kernel into an mhlo.fusion.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "optimise/kernels.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// The inside of one fusion while its ops are copied in.
struct Inside {
  Dataflow body;
  std::unordered_map<WireId, WireId> wires;  // outer to inner
  std::vector<WireId> operands;              // outer wires behind the parameters

  explicit Inside(ir::Module& source) : body(source) {}

  WireId Read(const Dataflow& outer, WireId wire) {
    const auto [found, is_new] = wires.try_emplace(wire);
    if (is_new) {
      found->second = body.AddParameter(outer.type_id(wire));
      operands.push_back(wire);
    }
    return found->second;
  }

  void Copy(const Dataflow& outer, NodeId id) {
    const Node& node = outer.node(id);
    Node copy = outer.Copy(id);
    for (WireId& operand : copy.operands) operand = Read(outer, operand);
    std::vector<ir::TypeId> types;
    for (uint32_t r = 0; r < node.result_count; ++r) types.push_back(outer.type_id(outer.result(id, r)));
    const NodeId made = body.Add(std::move(copy), types);
    for (uint32_t r = 0; r < node.result_count; ++r) wires[outer.result(id, r)] = body.result(made, r);
  }
};

std::string_view KindOfFusion(const Dataflow& flow, const KernelPlan& plan, const std::vector<NodeId>& members) {
  for (const NodeId id : members) {
    if (ir::Traits(flow.node(id).kind).sort == ir::OpSort::kContraction) return "kOutput";
  }
  for (const NodeId id : members) {
    if (flow.node(id).kind == OpKind::kTranspose || plan.classes[id.index()] == FusionClass::kReduce) return "kInput";
  }
  return "kLoop";
}

}  // namespace

void FormKernel(Dataflow& flow, std::span<const NodeId> roots, std::span<const NodeId> members, std::string_view kind) {
  auto inside = std::make_unique<Inside>(flow.source());
  for (const NodeId id : members) inside->Copy(flow, id);
  std::vector<ir::TypeId> types;
  std::vector<WireId> results;
  for (const NodeId root : roots) {
    for (uint32_t r = 0; r < flow.node(root).result_count; ++r) {
      results.push_back(flow.result(root, r));
      types.push_back(flow.type_id(results.back()));
      inside->body.outputs.push_back(inside->wires.at(results.back()));
    }
  }
  Node fusion;
  fusion.kind = OpKind::kFusion;
  fusion.name = flow.source().InternName("mhlo.fusion");
  fusion.operands = std::move(inside->operands);
  fusion.attributes = {MakeAttribute(flow.source(), "fusion_kind", fmt::format("#mhlo<fusion_kind {}>", kind))};
  fusion.origin = flow.node(roots.back()).origin;
  fusion.bodies.push_back(std::make_unique<Dataflow>(std::move(inside->body)));
  const NodeId made = flow.Add(std::move(fusion), types);
  for (size_t i = 0; i < results.size(); ++i) flow.Replace(results[i], flow.result(made, i));
}

namespace {

// For what the plan decided nothing about.
std::string_view ReasonOf(const Node& node, FusionClass kind) {
  if (!node.bodies.empty()) return "control flow: its bodies have kernels of their own";
  switch (kind) {
    case FusionClass::kView:
      return "a view of its operand: no work";
    case FusionClass::kCheap:
      return "made in each kernel that reads it, rather than read from memory";
    case FusionClass::kBarrier:
      break;
    default:
      return "computed where it is read";
  }
  switch (ir::Traits(node.kind).sort) {
    case ir::OpSort::kCollective:
    case ir::OpSort::kAsync:
    case ir::OpSort::kTransfer:
      return "communication: no kernel; its operands and results are in memory";
    case ir::OpSort::kConstant:
      return "a table in memory";
    default:
      return "runs on its own, as a library call or kernel that takes nothing else in: operands and results are in "
             "memory";
  }
}

void Explain(const Dataflow& flow, const KernelPlan& plan, std::vector<Explanation>& out) {
  std::unordered_map<NodeId, std::string> kernels;
  Members members(flow, plan);
  for (uint32_t kernel = 0; kernel < plan.roots.size(); ++kernel) {
    if (plan.roots[kernel].empty()) continue;
    for (const NodeId id : members.Of(kernel)) {
      std::string& text = kernels[id];
      text += fmt::format("{}kernel {}", text.empty() ? "" : ", ", kernel);
    }
  }
  for (const NodeId id : flow.order()) {
    const auto found = kernels.find(id);
    const std::string& reason = plan.reasons[id.index()];
    out.push_back({.op = std::string(flow.source().name(flow.node(id).name)),
                   .kernel = found == kernels.end() ? "none" : found->second,
                   .reason = reason.empty() ? std::string(ReasonOf(flow.node(id), plan.classes[id.index()])) : reason,
                   .origin = flow.node(id).origin});
  }
}

void FormAll(Dataflow& flow, const KernelPlan& plan) {
  Members members(flow, plan);
  for (uint32_t kernel = 0; kernel < plan.roots.size(); ++kernel) {
    if (plan.roots[kernel].empty()) continue;
    const std::vector<NodeId>& inside = members.Of(kernel);
    FormKernel(flow, plan.roots[kernel], inside, KindOfFusion(flow, plan, inside));
  }
  flow.Normalise();
}

}  // namespace

void Fuse(Dataflow& flow, PassContext& context) {
  const bool cpu = context.target == Target::kAny;
  KernelPlan plan = cpu ? PlanCpuKernels(flow, context.explanations != nullptr) : PlanKernels(flow, context);
  if (!cpu) JoinKernels(flow, context, plan);
  if (context.explanations != nullptr) Explain(flow, plan, *context.explanations);
  FormAll(flow, plan);
}

void WrapKernels(Dataflow& flow, PassContext& context) {
  PassContext alone = context;
  alone.wrap_only = true;
  alone.explanations = nullptr;
  FormAll(flow, PlanKernels(flow, alone));
}

}  // namespace hespas::optimise
