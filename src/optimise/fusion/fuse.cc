// Puts each planned kernel into an mhlo.fusion.
#include <fmt/format.h>

#include <algorithm>

#include "optimise/fusion/explain_kernels.h"
#include "optimise/fusion/kernels.h"
#include "optimise/fusion/policy.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr const char* kTritonConfig = R"("{\22fusion_backend_config\22:{\22kind\22:\22__triton\22}}")";

bool KeepsRows(const KernelPlan& plan, const std::vector<NodeId>& members) {
  return std::any_of(members.begin(), members.end(), [&](NodeId id) { return plan.RoleOf(id) == RowRole::kEnd; });
}

std::string_view KindOfFusion(const Dataflow& flow, const KernelPlan& plan, const std::vector<NodeId>& members) {
  if (KeepsRows(plan, members)) return "kCustom";
  for (const NodeId id : members) {
    if (ir::Traits(flow.node(id).kind).sort == ir::OpSort::kContraction) return "kOutput";
  }
  for (const NodeId id : members) {
    if (flow.node(id).kind == OpKind::kTranspose || plan.classes[id.index()] == FusionClass::kReduce) return "kInput";
  }
  return "kLoop";
}

}  // namespace

NodeId KernelFormer::Form(std::span<const NodeId> roots, std::span<const NodeId> members, std::string_view kind) {
  inside_.resize(flow_.value_count());
  auto body = std::make_unique<Dataflow>(flow_.source());
  body->Reserve(members.size());
  Node fusion;
  for (const NodeId id : members) Copy(id, *body, fusion.operands);
  std::vector<ir::TypeId> types;
  std::vector<ValueId> results;
  for (const NodeId root : roots) {
    for (uint32_t r = 0; r < flow_.node(root).result_count; ++r) {
      results.push_back(flow_.result(root, r));
      types.push_back(flow_.type_id(results.back()));
      body->outputs.push_back(inside_[results.back().index()]);
    }
  }
  for (const ValueId value : entered_) inside_[value.index()] = ValueId();
  entered_.clear();
  fusion.kind = OpKind::kFusion;
  fusion.name = flow_.source().InternName("mhlo.fusion");
  fusion.attributes = {MakeAttribute(flow_.source(), "fusion_kind", fmt::format("#mhlo<fusion_kind {}>", kind))};
  // The only custom kernels that are made here are Triton's.
  if (kind == "kCustom") fusion.attributes.push_back(MakeAttribute(flow_.source(), "backend_config", kTritonConfig));
  fusion.origin = flow_.node(roots.back()).origin;
  fusion.scope = flow_.node(roots.back()).scope;
  fusion.bodies.push_back(std::move(body));
  const NodeId made = flow_.Add(std::move(fusion), types);
  for (size_t i = 0; i < results.size(); ++i) flow_.Replace(results[i], flow_.result(made, i));
  return made;
}

void KernelFormer::Copy(NodeId id, Dataflow& body, ValueList& operands) {
  const Node& node = flow_.node(id);
  Node copy = flow_.Copy(id);
  for (ValueId& operand : copy.operands) {
    if (!inside_[operand.index()].valid()) {
      Enter(operand, body.AddParameter(flow_.type_id(operand)));
      operands.push_back(operand);
    }
    operand = inside_[operand.index()];
  }
  types_.clear();
  for (uint32_t r = 0; r < node.result_count; ++r) types_.push_back(flow_.type_id(flow_.result(id, r)));
  const NodeId made = body.Add(std::move(copy), types_);
  for (uint32_t r = 0; r < node.result_count; ++r) Enter(flow_.result(id, r), body.result(made, r));
}

void KernelFormer::Enter(ValueId value, ValueId inner) {
  inside_[value.index()] = inner;
  entered_.push_back(value);
}

namespace {

// `numbered`: each fusion keeps the number that explanations give its kernel.
void FormAll(Dataflow& flow, const KernelPlan& plan, bool numbered) {
  Members members(flow, plan);
  KernelFormer former(flow);
  for (uint32_t kernel = 0; kernel < plan.roots.size(); ++kernel) {
    if (plan.roots[kernel].empty()) continue;
    const std::vector<NodeId>& inside = members.Of(kernel);
    const NodeId made = former.Form(plan.roots[kernel], inside, KindOfFusion(flow, plan, inside));
    if (numbered) {
      flow.node(made).attributes.push_back(
          MakeAttribute(flow.source(), kKernelNumber, fmt::format("{} : i64", kernel)));
    }
  }
  flow.Normalise();
}

}  // namespace

void Fuse(Dataflow& flow, PassContext& context) {
  KernelPlan plan = PlanKernels(flow, context);
  context.policy->FuseMultiOutput(flow, context, plan);
  if (context.explanations != nullptr) ExplainKernels(flow, plan, *context.explanations);
  FormAll(flow, plan, context.explanations != nullptr);
}

void WrapKernels(Dataflow& flow, PassContext& context) {
  PassContext alone = context;
  alone.wrap_only = true;
  alone.explanations = nullptr;
  FormAll(flow, PlanKernels(flow, alone), false);
}

}  // namespace hespas::optimise
