#include "optimise/fusion/kernels.h"

#include <algorithm>
#include <span>
#include <unordered_set>
#include <utility>

#include "optimise/fusion/analysis.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Kernels into which one node may be duplicated: a bound on our own time. XLA has none.
constexpr size_t kKernelLimit = 256;

// One round of decisions, from the last op to the first.
class Planner {
 public:
  Planner(const PassContext& context, const FusionAnalysis& known, std::vector<RowRole> rows)
      : flow_(known.flow),
        context_(context),
        known_(known),
        kernels_(flow_.node_count()),
        memory_use_(flow_.node_count(), 0),
        feeds_concatenate_(flow_.node_count(), 0),
        evaluations_(flow_.node_count(), 0) {
    plan_.policy = context.policy;
    plan_.rows = std::move(rows);
    plan_.materialized.assign(flow_.node_count(), 0);
    plan_.kernel.assign(flow_.node_count(), KernelPlan::kNone);
    if (context.explanations != nullptr) plan_.reasons.resize(flow_.node_count());
  }

  KernelPlan Run() {
    for (const ValueId out : flow_.outputs) {
      if (flow_.producer(out).valid()) memory_use_[flow_.producer(out).index()] = 1;
    }
    for (size_t i = flow_.order().size(); i-- > 0;) Decide(flow_.order()[i]);
    plan_.classes = known_.classes;
    for (const NodeId id : shared_) plan_.classes[id.index()] = FusionClass::kElement;
    return std::move(plan_);
  }

  // Values whose duplication depends on all others.
  const std::vector<NodeId>& deferred() const { return deferred_; }

 private:
  // The kernels that hold a node, ascending; valid until the next are set.
  std::span<const uint32_t> KernelsOf(NodeId id) const {
    const auto [begin, count] = kernels_[id.index()];
    return {held_.data() + begin, count};
  }
  void SetKernels(NodeId id, std::span<const uint32_t> kernels) {
    kernels_[id.index()] = {static_cast<uint32_t>(held_.size()), static_cast<uint32_t>(kernels.size())};
    held_.insert(held_.end(), kernels.begin(), kernels.end());
  }

  bool ReadsFromMemory(NodeId user, ValueId value) const {
    const auto& operands = flow_.node(user).operands;
    for (size_t i = 0; i < std::min<size_t>(operands.size(), 2); ++i) {
      if (operands[i] == value && context_.policy->IsReadFromMemory(flow_, flow_.node(user), i)) return true;
    }
    return false;
  }

  void CollectUses(NodeId id) {
    found_.clear();
    const Node& node = flow_.node(id);
    int64_t evaluations = known_.Elements(id);
    for (uint32_t r = 0; r < node.result_count; ++r) {
      for (const NodeId user : known_.users[node.first_result.index() + r]) {
        const FusionClass kind = known_.ClassOf(user);
        if (kind == FusionClass::kUnfusible) {
          memory_use_[id.index()] = 1;
          continue;
        }
        if (kind == FusionClass::kBitcast && memory_use_[user.index()]) memory_use_[id.index()] = 1;
        if (ReadsFromMemory(user, flow_.result(id, r))) memory_use_[id.index()] = 1;
        feeds_concatenate_[id.index()] |= flow_.node(user).kind == OpKind::kConcatenate ||
                                          (kind == FusionClass::kBitcast && feeds_concatenate_[user.index()] != 0);
        if (kind == FusionClass::kReduce) {
          if (!IsContraction(flow_.node(user))) evaluations = std::max(evaluations, WorkElements(flow_, user));
        } else if (flow_.node(user).kind != OpKind::kConcatenate && flow_.node(user).kind != OpKind::kPad) {
          evaluations = std::max(evaluations, evaluations_[user.index()]);
        }
        const auto theirs = KernelsOf(user);
        found_.insert(found_.end(), theirs.begin(), theirs.end());
      }
    }
    std::sort(found_.begin(), found_.end());
    found_.erase(std::unique(found_.begin(), found_.end()), found_.end());
    SetKernels(id, found_);
    evaluations_[id.index()] = evaluations;
  }

  void Materialize(NodeId id, std::string_view reason) {
    plan_.materialized[id.index()] = 1;
    plan_.kernel[id.index()] = static_cast<uint32_t>(plan_.roots.size());
    if (plan_.RoleOf(id) == RowRole::kEnd) holds_rows_.insert(plan_.kernel[id.index()]);
    if (context_.policy->ReadsAcross(flow_, flow_.node(id))) reads_across_.insert(plan_.kernel[id.index()]);
    plan_.roots.push_back({id});
    evaluations_[id.index()] = known_.Elements(id);
    if (known_.ClassOf(id) != FusionClass::kCheap) SetKernels(id, {&plan_.kernel[id.index()], 1});
    Explain(id, reason);
  }

  void Explain(NodeId id, std::string_view reason) {
    if (!plan_.reasons.empty()) plan_.reasons[id.index()] = reason;
  }

  void Decide(NodeId id) {
    const FusionClass kind = known_.ClassOf(id);
    if (kind == FusionClass::kUnfusible || flow_.node(id).result_count == 0) return;
    CollectUses(id);
    if (kind == FusionClass::kBitcast) return;
    if (plan_.RoleOf(id) == RowRole::kInside) return Explain(id, "in a kernel that keeps whole rows");
    if (known_.epilogue[id.index()] == Epilogue::kInterior) return Explain(id, "part of a reduction's epilogue");
    if (context_.wrap_only && kind != FusionClass::kCheap) return Materialize(id, "is alone");
    if (kind == FusionClass::kCheap) return DecideCheap(id);
    if (kind == FusionClass::kReduce || known_.epilogue[id.index()] == Epilogue::kEnd) return DecideReduction(id);
    if (memory_use_[id.index()]) {
      return Materialize(id, "materialized: a consumer needs it in memory, or it is returned");
    }
    if (!KernelsOf(id).empty()) DecideElement(id);
  }

  // A cheap node is materialized for those that read memory. Everybody else duplicates it, unless the compiler fuses it
  // into all its consumers or none.
  void DecideCheap(NodeId id) {
    if (!memory_use_[id.index()] || flow_.node(id).kind == OpKind::kConstant) return;
    Materialize(id, "materialized: a consumer needs it in memory");
    if (!context_.policy->FusesIntoAllOrNone() || !IsBroadcast(flow_.node(id))) return;
    SetKernels(id, {&plan_.kernel[id.index()], 1});
    shared_.push_back(id);
  }

  // A kernel that keeps whole rows may go on with a row's sum; which one does depends on all others.
  void DecideReduction(NodeId id) {
    const bool may_join = !memory_use_[id.index()] && !plan_.rows.empty() && !KernelsOf(id).empty();
    if (may_join && !known_.materialized_before.empty() && !known_.materialized_before[id.index()]) return Join(id);
    if (may_join && known_.materialized_before.empty()) deferred_.push_back(id);
    Materialize(id, "materialized: a reduction's result is complete only when its kernel ends");
  }

  void DecideElement(NodeId id) {
    const CompilerPolicy& policy = *context_.policy;
    const auto kernels = KernelsOf(id);
    const size_t count = kernels.size();
    const Candidate candidate{.id = id,
                              .kernels = count,
                              .evaluations = evaluations_[id.index()],
                              .feeds_concatenate = feeds_concatenate_[id.index()] != 0};
    const std::string_view reason = policy.ReasonToMaterialize(known_, candidate);
    if (!reason.empty()) return Materialize(id, reason);
    const bool ends_rows = plan_.RoleOf(id) == RowRole::kEnd;
    if (!ends_rows && JoinsNot(id))
      return Materialize(id, "materialized: a kernel that keeps whole rows cannot tile it");
    if (ends_rows) {
      if (!known_.materialized_before.empty() && !known_.materialized_before[id.index()]) return Join(id);
      if (known_.materialized_before.empty()) deferred_.push_back(id);
      return Materialize(id, "materialized: the end of a kernel that keeps whole rows");
    }
    const bool across = known_.behind_transpose[flow_.result(id).index()] != 0 || ReadAcross(id);
    if (!across && count == 1 && candidate.evaluations <= known_.Elements(id) && !MayStoreNarrower(kernels[0]) &&
        !policy.IsSlowConsumer(known_, plan_.roots[kernels[0]][0])) {
      return Explain(id, "fused into its only consumer");
    }
    if (!across && IsBroadcast(flow_.node(id))) return Explain(id, "duplicated: a broadcast reads less than it writes");
    const Duplication decision = policy.DecideDuplication(known_, candidate);
    if (decision != Duplication::kDefer && Widens(flow_, flow_.node(id)))
      return Explain(id, "duplicated: a widening convert reads less than it writes");
    if (count > kKernelLimit) return Materialize(id, "materialized: too many consumers to duplicate it");
    switch (decision) {
      case Duplication::kDefer:
        if (!known_.materialized_before.empty()) {
          if (!known_.materialized_before[id.index()]) return ExplainDuplicate(id);
        } else {
          deferred_.push_back(id);
        }
        break;
      case Duplication::kDuplicate:
        return ExplainDuplicate(id);
      case Duplication::kMaterialize:
        break;
    }
    Materialize(id, "materialized: cheaper than to recompute in each consumer");
  }

  // Whether a kernel ends in a widening convert that its consumer may rather make itself.
  bool MayStoreNarrower(uint32_t kernel) const {
    const NodeId root = plan_.roots[kernel][0];
    return !memory_use_[root.index()] && Widens(flow_, flow_.node(root));
  }

  // Whether an op stays out of a kernel with whole rows that reads it.
  bool JoinsNot(NodeId id) const {
    const auto kernels = KernelsOf(id);
    if (context_.policy->JoinsRows(flow_, flow_.node(id))) return false;
    return std::any_of(kernels.begin(), kernels.end(), [&](uint32_t kernel) { return holds_rows_.contains(kernel); });
  }

  // Whether it would be read by single elements in a kernel that moves the innermost dimension.
  bool ReadAcross(NodeId id) const {
    const auto kernels = KernelsOf(id);
    return std::any_of(kernels.begin(), kernels.end(), [&](uint32_t kernel) { return reads_across_.contains(kernel); });
  }

  // Whole rows go on in the kernels that read them.
  void Join(NodeId id) {
    const auto kernels = KernelsOf(id);
    holds_rows_.insert(kernels.begin(), kernels.end());
    Explain(id, "fused into the kernel that goes on with its rows");
  }

  void ExplainDuplicate(NodeId id) {
    Explain(id, "duplicated: cheaper to recompute in each consumer than to materialize");
  }

  const Dataflow& flow_;
  const PassContext& context_;
  const FusionAnalysis& known_;
  std::vector<std::pair<uint32_t, uint32_t>>
      kernels_;  // by node: the kernels that hold it, as begin and count in held_
  std::vector<uint32_t> held_;
  std::vector<uint32_t> found_;          // of the node at hand
  std::vector<char> memory_use_;         // by node: a consumer needs it in memory
  std::vector<char> feeds_concatenate_;  // by node
  std::vector<int64_t> evaluations_;
  std::vector<NodeId> deferred_;
  std::vector<NodeId> shared_;                 // cheap, and read from memory by all
  std::unordered_set<uint32_t> holds_rows_;    // kernels
  std::unordered_set<uint32_t> reads_across_;  // kernels that end in a transpose
  KernelPlan plan_;
};

}  // namespace

// Decisions depend on what else is materialized, which later decisions settle. So a second round starts from the first.
KernelPlan PlanKernels(const Dataflow& flow, const PassContext& context) {
  const FusionAnalysis first = Analyse(flow, *context.policy, {});
  std::vector<RowRole> rows;
  if (!context.wrap_only && context.flags.triton_rows) rows = context.policy->RowsOf(flow, context.is_main);
  Planner planner(context, first, rows);
  KernelPlan plan = planner.Run();
  if (context.wrap_only) return plan;
  std::vector<char> materialized = plan.materialized;
  const std::vector<char> duplicated = context.policy->DecideDeferred(flow, context, plan, planner.deferred());
  for (const NodeId id : planner.deferred()) {
    if (duplicated[id.index()]) materialized[id.index()] = 0;
  }
  const FusionAnalysis second = Analyse(flow, *context.policy, std::move(materialized));
  return Planner(context, second, std::move(rows)).Run();
}

}  // namespace hespas::optimise
