// Matmuls as Triton kernels: each absorbs the producers of its operands, and what follows it alone, where that moves no
// more memory (XLA's GemmFusion, with --xla_gpu_triton_gemm_any).
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_set>

#include "base/line_index.h"
#include "optimise/fusion/kernels.h"
#include "optimise/gpu/rules.h"
#include "optimise/gpu/triton/matmul_order.h"
#include "optimise/gpu/triton/triton_rules.h"
#include "optimise/passes/canonical_dots.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

enum Label : uint32_t { kSummed, kLeft, kRight, kBatch };

// What each dimension of an operand is to the matmul.
std::vector<uint32_t> LabelsOf(size_t rank, uint32_t own, const Dimensions& summed, const Dimensions& batch) {
  std::vector<uint32_t> labels(rank, own);
  for (const int64_t dimension : summed) labels[static_cast<size_t>(dimension)] = kSummed;
  for (size_t i = 0; i < batch.size(); ++i) labels[static_cast<size_t>(batch[i])] = static_cast<uint32_t>(kBatch + i);
  return labels;
}

// The result's dimensions: batches, then what is left of each operand.
std::vector<uint32_t> ResultLabels(const std::vector<uint32_t>& left, const std::vector<uint32_t>& right,
                                   size_t batches) {
  std::vector<uint32_t> labels(batches);
  for (size_t i = 0; i < batches; ++i) labels[i] = static_cast<uint32_t>(kBatch + i);
  labels.insert(labels.end(), static_cast<size_t>(std::count(left.begin(), left.end(), kLeft)), kLeft);
  labels.insert(labels.end(), static_cast<size_t>(std::count(right.begin(), right.end(), kRight)), kRight);
  return labels;
}

class Former {
 public:
  Former(Dataflow& flow, PassContext& context)
      : flow_(flow),
        context_(context),
        rules_(flow),
        budget_(gpu_rules::kCopiesPerNode * flow.node_count() + gpu_rules::kMostMembers),
        place_(flow.node_count(), 0),
        taken_(flow.node_count(), 0) {
    for (size_t i = 0; i < flow.order().size(); ++i) place_[flow.order()[i].index()] = i;
    if (context.explanations != nullptr) lines_.emplace(flow.source().source());
  }

  void Run() {
    KernelFormer former(flow_);
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      if (flow_.node(id).kind == OpKind::kDotGeneral) Form(id, former);
    }
    flow_.Normalise();
  }

 private:
  void Form(NodeId dot, KernelFormer& former) {
    const Node& node = flow_.node(dot);
    const auto dims = CanonicalDimensions(flow_, node);
    // Several batch dimensions, and more than the default precision, are left to cuBLAS.
    if (!dims || dims->lhs_batching.size() > 1 || !rules_.IsMatmul(node)) return;
    if (!PrecisionAttributes(flow_, node).empty()) return;
    const auto& operands = node.operands;
    members_.clear();
    const auto left = LabelsOf(flow_.type(operands[0]).dims.size(), kLeft, dims->lhs_contracting, dims->lhs_batching);
    const auto right = LabelsOf(flow_.type(operands[1]).dims.size(), kRight, dims->rhs_contracting, dims->rhs_batching);
    const auto made = ResultLabels(left, right, dims->lhs_batching.size());
    const Dimensions result = flow_.type(node.first_result).dims;
    if (made.size() != result.size()) return;
    Divisible divisible;
    if (dims->lhs_batching.empty()) divisible.label = kLeft;
    FuseProducers(operands[0], left, kLeft, divisible);
    Divisible whole;
    FuseProducers(operands[1], right, kRight, whole);
    members_.push_back(dot);
    if (divisible.major == 0) divisible.label.reset();  // the result's rows are divided as the operand's are
    const NodeId root = FuseConsumers(dot, OrderOf(result, made), divisible);
    std::sort(members_.begin(), members_.end(),
              [&](NodeId a, NodeId b) { return place_[a.index()] < place_[b.index()]; });
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
    budget_ -= std::min(budget_, members_.size());
    if (context_.explanations != nullptr) Explain(dot);
    former.Form({&root, 1}, members_, "kCustom");
  }

  // Breadth first from an operand; what would need more inputs than a kernel has waits for others to need fewer.
  void FuseProducers(ValueId operand, const std::vector<uint32_t>& labels, uint32_t beside, Divisible& divisible) {
    struct Open {
      ValueId value;
      MatmulOrder order;
    };
    std::deque<Open> open{{operand, OrderOf(flow_.type(operand).dims, labels)}};
    std::unordered_set<ValueId> seen{operand};
    size_t inputs = 1;
    size_t room = std::min(gpu_rules::kMostMembers, budget_);
    for (size_t waiting = 0; open.size() > waiting && room > 0;) {
      Open next = std::move(open.front());
      open.pop_front();
      const NodeId producer = flow_.producer(next.value);
      const size_t more = producer.valid() ? flow_.node(producer).operands.size() : 1;
      if (inputs + more > gpu_rules::kInputsOfOperand + 1) {
        open.push_back(std::move(next));
        ++waiting;
        continue;
      }
      waiting = 0;
      const auto orders = OrdersBefore(next.value, next.order, beside, divisible);
      if (!orders) continue;
      members_.push_back(producer);
      --room;
      --inputs;
      const auto& operands = flow_.node(producer).operands;
      for (size_t i = 0; i < operands.size(); ++i) {
        if (!seen.insert(operands[i]).second) continue;
        ++inputs;
        open.push_back({operands[i], (*orders)[i]});
      }
    }
  }

  // The orders of what a value's producer reads; nothing where the producer stays outside.
  std::optional<std::vector<MatmulOrder>> OrdersBefore(ValueId value, const MatmulOrder& order, uint32_t beside,
                                                       Divisible& divisible) const {
    const NodeId id = flow_.producer(value);
    if (!id.valid() || taken_[id.index()] || !rules_.IsComputed(flow_.node(id)) || rules_.IsConcatenated(value)) {
      return std::nullopt;
    }
    const Node& node = flow_.node(id);
    if (rules_.IsSplat(value)) return std::vector<MatmulOrder>{};
    auto orders = OrdersOfOperands(flow_, node, order, beside);
    Divisible divided = divisible;
    if (!orders || !std::all_of(orders->begin(), orders->end(), [&](auto& o) { return CanTile(o, divided); })) {
      return std::nullopt;
    }
    if (!rules_.PaysBefore(node)) return std::nullopt;
    divisible = divided;
    return orders;
  }

  // The last op of the kernel.
  NodeId FuseConsumers(NodeId dot, MatmulOrder order, Divisible& divisible) {
    NodeId last = dot;
    for (;;) {
      taken_[last.index()] = 1;
      const ValueId value = flow_.result(last);
      const NodeId next = rules_.OnlyConsumer(value);
      if (!next.valid()) return last;
      const Node& node = flow_.node(next);
      if (!rules_.IsComputed(node) || !rules_.PaysBehind(node, value)) return last;
      auto after = OrderOfResult(flow_, node, order);
      if (!after || !CanTile(*after, divisible)) return last;
      for (const ValueId operand : node.operands) {
        if (operand != value) FuseBroadcast(operand);
      }
      members_.push_back(next);
      order = std::move(*after);
      last = next;
    }
  }

  // What broadcasts a number or a parameter, and the number itself where it is a constant.
  void FuseBroadcast(ValueId operand) {
    const NodeId producer = flow_.producer(operand);
    if (!producer.valid()) return;
    members_.push_back(producer);
    for (const ValueId input : flow_.node(producer).operands) {
      if (rules_.IsSplat(input)) members_.push_back(flow_.producer(input));
    }
  }

  void Explain(NodeId dot) const {
    const ir::Module& source = flow_.source();
    const ir::OpId origin = flow_.node(dot).origin;
    const std::string name =
        origin.valid() ? fmt::format("matmul of line {}", lines_->Line(source.op(origin).source)) : "a matmul";
    for (const NodeId id : members_) {
      context_.explanations->push_back(
          {.op = std::string(source.name(flow_.node(id).name)),
           .kernel = name,
           .reason = id == dot ? "a matmul: a Triton kernel" : "the Triton matmul computes it and moves no more bytes",
           .origin = flow_.node(id).origin});
    }
  }

  Dataflow& flow_;
  PassContext& context_;
  TritonRules rules_;
  size_t budget_;                   // ops that kernels may still take in
  std::optional<LineIndex> lines_;  // where explanations are wanted
  std::vector<size_t> place_;       // by node: in the order of the region
  std::vector<char> taken_;         // by node: a matmul, or what follows it in its kernel
  std::vector<NodeId> members_;
};

}  // namespace

void FormTritonMatmuls(Dataflow& flow, PassContext& context) { Former(flow, context).Run(); }

}  // namespace hespas::optimise
