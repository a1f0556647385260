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

std::string_view KindOfFusion(const Dataflow& flow, const std::vector<NodeId>& members) {
  for (const NodeId id : members) {
    if (ir::Traits(flow.node(id).kind).sort == ir::OpSort::kContraction) return "kOutput";
  }
  for (const NodeId id : members) {
    if (flow.node(id).kind == OpKind::kTranspose || ClassOf(flow, flow.node(id)) == FusionClass::kReduce)
      return "kInput";
  }
  return "kLoop";
}

void Form(Dataflow& flow, const KernelPlan& plan, uint32_t kernel) {
  const std::vector<NodeId> members = MembersOf(flow, plan, kernel);
  auto inside = std::make_unique<Inside>(flow.source());
  for (const NodeId id : members) inside->Copy(flow, id);
  std::vector<ir::TypeId> types;
  std::vector<WireId> results;
  for (const NodeId root : plan.roots[kernel]) {
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
  fusion.attributes = {
      MakeAttribute(flow.source(), "fusion_kind", fmt::format("#mhlo<fusion_kind {}>", KindOfFusion(flow, members)))};
  fusion.origin = flow.node(plan.roots[kernel].back()).origin;
  fusion.bodies.push_back(std::make_unique<Dataflow>(std::move(inside->body)));
  const NodeId made = flow.Add(std::move(fusion), types);
  for (size_t i = 0; i < results.size(); ++i) flow.Replace(results[i], flow.result(made, i));
}

// Lines of byte offsets, found by bisection: explanations name every op of the program.
class LineNumbers {
 public:
  explicit LineNumbers(std::string_view text) {
    for (size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) ends_.push_back(at);
  }
  size_t operator()(size_t offset) const {
    return 1 + static_cast<size_t>(std::lower_bound(ends_.begin(), ends_.end(), offset) - ends_.begin());
  }

 private:
  std::vector<size_t> ends_;
};

std::string NameInReport(const Dataflow& flow, NodeId id, const LineNumbers& lines) {
  const Node& node = flow.node(id);
  const std::string_view name = flow.source().name(node.name);
  if (!node.origin.valid()) return std::string(name);
  return fmt::format("{} (line {})", name, lines(flow.source().op(node.origin).source));
}

void Explain(const Dataflow& flow, const KernelPlan& plan, std::vector<Explanation>& out) {
  const LineNumbers lines(flow.source().source());
  std::unordered_map<NodeId, std::string> kernels;
  for (uint32_t kernel = 0; kernel < plan.roots.size(); ++kernel) {
    if (plan.roots[kernel].empty()) continue;
    for (const NodeId id : MembersOf(flow, plan, kernel)) {
      std::string& text = kernels[id];
      text += fmt::format("{}kernel {}", text.empty() ? "" : ", ", kernel);
    }
  }
  for (const NodeId id : flow.order()) {
    const auto found = kernels.find(id);
    if (found == kernels.end() || plan.reasons[id.index()].empty()) continue;
    out.push_back({NameInReport(flow, id, lines), found->second, plan.reasons[id.index()]});
  }
}

}  // namespace

namespace {

void FormAll(Dataflow& flow, const KernelPlan& plan) {
  for (uint32_t kernel = 0; kernel < plan.roots.size(); ++kernel) {
    if (!plan.roots[kernel].empty()) Form(flow, plan, kernel);
  }
  flow.Normalise();
}

}  // namespace

void Fuse(Dataflow& flow, PassContext& context) {
  KernelPlan plan = PlanKernels(flow, context);
  JoinKernels(flow, plan);
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
