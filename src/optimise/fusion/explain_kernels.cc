#include "optimise/fusion/explain_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/line_index.h"

namespace hespas::optimise {
namespace {

constexpr size_t kMostNeighbours = 3;  // named for each op

// For what the plan decided nothing about.
std::string_view ReasonOf(const Node& node, FusionClass kind) {
  if (node.kind == ir::OpKind::kFusion)
    return "a matmul's kernel from an earlier pass: operands and results are in memory";
  if (!node.bodies.empty()) return "control flow: its bodies have kernels of their own";
  switch (kind) {
    case FusionClass::kBitcast:
      return "a bitcast of its operand: no work";
    case FusionClass::kCheap:
      return "created in each kernel that uses it, not read from memory";
    case FusionClass::kUnfusible:
      break;
    default:
      return "duplicated into its consumers";
  }
  switch (ir::Traits(node.kind).sort) {
    case ir::OpSort::kCollective:
    case ir::OpSort::kAsync:
    case ir::OpSort::kTransfer:
      return "communication: no kernel; its operands and results are in memory";
    case ir::OpSort::kConstant:
      return "a table in memory";
    case ir::OpSort::kFree:
      return node.kind == ir::OpKind::kOptimizationBarrier ? "an optimization barrier: no work, and no fusion across it"
                                                           : "no work of its own";
    case ir::OpSort::kContraction:
    case ir::OpSort::kCustomCall:
      return "a library call, which fuses nothing: operands and results are in memory";
    default:
      return "an unfusible op with a kernel of its own: operands and results are in memory";
  }
}

class Explainer {
 public:
  Explainer(const Dataflow& flow, const KernelPlan& plan)
      : flow_(flow), plan_(plan), lines_(flow.source().source()), kernels_(flow.node_count()), users_(flow.Users()) {
    Members members(flow, plan);
    for (uint32_t kernel = 0; kernel < plan.roots.size(); ++kernel) {
      if (plan.roots[kernel].empty()) continue;
      for (const NodeId id : members.Of(kernel)) kernels_[id.index()].push_back(kernel);
    }
    returned_.assign(flow.value_count(), false);
    for (const ValueId out : flow.outputs) returned_[out.index()] = true;
  }

  Explanation Of(NodeId id) const {
    const auto& kernels = kernels_[id.index()];
    std::string reason = Reason(id);
    if (!IsView(id)) reason += Neighbours(id);
    return {.op = std::string(flow_.source().name(flow_.node(id).name)),
            .kernel = kernels.empty() ? "none" : fmt::format("kernel {}", fmt::join(kernels, ", kernel ")),
            .reason = std::move(reason),
            .origin = flow_.node(id).origin};
  }

 private:
  std::string Reason(NodeId id) const {
    const std::string& reason = plan_.reasons[id.index()];
    if (reason.empty()) return std::string(ReasonOf(flow_.node(id), plan_.classes[id.index()]));
    const bool shared = kernels_[id.index()].size() == 1 && reason.find("in each consumer") != std::string::npos;
    return shared && plan_.materialized[id.index()] == 0 ? "all its consumers are in this kernel" : reason;
  }

  // Whether every kernel that `id` runs in computes `other` as well.
  bool IsWith(NodeId other, NodeId id) const {
    const auto& all = kernels_[other.index()];
    const auto& mine = kernels_[id.index()];
    return !mine.empty() && std::includes(all.begin(), all.end(), mine.begin(), mine.end());
  }

  // "stablehlo.add (line 12, kernel 3)"
  std::string Name(NodeId id) const {
    const Node& node = flow_.node(id);
    std::string where;
    if (node.origin.valid()) where = fmt::format("line {}", lines_.Line(flow_.source().op(node.origin).source));
    const auto& kernels = kernels_[id.index()];
    if (!kernels.empty()) {
      where +=
          fmt::format("{}kernel {}{}", where.empty() ? "" : ", ", kernels[0], kernels.size() > 1 ? " and others" : "");
    }
    return fmt::format("{}{}", flow_.source().name(node.name), where.empty() ? "" : " (" + where + ")");
  }

  static std::string List(const std::vector<std::string>& names) {
    const size_t shown = std::min(names.size(), kMostNeighbours);
    const std::string more = names.size() > shown ? fmt::format(" and {} more", names.size() - shown) : "";
    return fmt::format("{}{}", fmt::join(names.begin(), names.begin() + static_cast<ptrdiff_t>(shown), ", "), more);
  }

  // No work of its own: its neighbours are those of its operand.
  bool IsView(NodeId id) const {
    return plan_.classes[id.index()] == FusionClass::kBitcast && kernels_[id.index()].empty();
  }

  std::string Neighbours(NodeId id) const {
    const std::vector<std::string> behind = ConsumersElsewhere(id);
    const std::vector<std::string> before = ProducersElsewhere(id);
    return (behind.empty() ? "" : "; materialized for " + List(behind)) +
           (before.empty() ? "" : "; reads from memory " + List(before));
  }

  // Consumers that are not in the kernel of `id`.
  std::vector<std::string> ConsumersElsewhere(NodeId id) const {
    std::vector<std::string> names;
    std::vector<NodeId> work{id};
    while (!work.empty()) {
      const NodeId at = work.back();
      work.pop_back();
      for (uint32_t r = 0; r < flow_.node(at).result_count; ++r) {
        const ValueId value = flow_.result(at, r);
        if (returned_[value.index()]) names.emplace_back("the caller");
        for (const NodeId user : users_[value.index()]) {
          if (IsView(user)) {
            work.push_back(user);
          } else if (!IsWith(id, user)) {
            names.push_back(Name(user));
          }
        }
      }
    }
    return names;
  }

  // Operands that other kernels make, and why this one does not.
  std::vector<std::string> ProducersElsewhere(NodeId id) const {
    std::vector<std::string> names;
    std::vector<NodeId> seen;
    for (const ValueId operand : flow_.node(id).operands) {
      NodeId producer = flow_.producer(operand);
      while (producer.valid() && IsView(producer)) producer = flow_.producer(flow_.node(producer).operands[0]);
      if (!producer.valid() || IsWith(producer, id) || std::find(seen.begin(), seen.end(), producer) != seen.end())
        continue;
      seen.push_back(producer);
      names.push_back(fmt::format("{}: {}", Name(producer), Reason(producer)));
    }
    return names;
  }

  const Dataflow& flow_;
  const KernelPlan& plan_;
  LineIndex lines_;
  std::vector<std::vector<uint32_t>> kernels_;  // by node, ascending
  UserTable users_;
  std::vector<bool> returned_;  // by value
};

}  // namespace

void ExplainKernels(const Dataflow& flow, const KernelPlan& plan, std::vector<Explanation>& out) {
  const Explainer explainer(flow, plan);
  for (const NodeId id : flow.order()) out.push_back(explainer.Of(id));
}

}  // namespace hespas::optimise
