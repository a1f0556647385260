// Puts each planned kernel into an mhlo.fusion.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "optimise/explain_kernels.h"
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
  KernelPlan plan = PlanKernels(flow, context);
  JoinKernels(flow, context, plan);
  if (context.explanations != nullptr) ExplainKernels(flow, plan, *context.explanations);
  FormAll(flow, plan);
}

void WrapKernels(Dataflow& flow, PassContext& context) {
  PassContext alone = context;
  alone.wrap_only = true;
  alone.explanations = nullptr;
  FormAll(flow, PlanKernels(flow, alone));
}

}  // namespace hespas::optimise
