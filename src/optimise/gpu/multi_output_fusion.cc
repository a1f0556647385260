// Source: xla/service/gpu, transforms/multi_output_fusion.cc, gpu_fusible.cc and model/gpu_performance_model.cc.
#include "optimise/gpu/multi_output_fusion.h"

#include <algorithm>
#include <optional>

#include "optimise/dataflow/build.h"
#include "optimise/fusion/kernel_graph.h"
#include "optimise/gpu/decisions.h"
#include "optimise/gpu/kernel_use.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

class GpuMultiOutputFusion : public KernelGraph {
 public:
  GpuMultiOutputFusion(const Dataflow& flow, const PassContext& context, KernelPlan& plan)
      : KernelGraph(flow, context, plan),
        counter_(flow, context, plan),
        consumers_(flow.value_count()),
        others_(flow.value_count(), 0),
        first_seen_(kernels_.size()) {
    for (const ValueId out : flow.outputs) others_[out.index()] = 1;
    for (size_t i = flow.order().size(); i-- > 0;) {
      const NodeId id = flow.order()[i];
      const bool bitcast = plan.classes[id.index()] == FusionClass::kBitcast;
      const bool others =
          plan.classes[id.index()] == FusionClass::kUnfusible || (bitcast && others_[flow.result(id).index()]);
      if (!others) continue;
      for (const ValueId operand : flow.node(id).operands) others_[operand.index()] = 1;
    }
    for (uint32_t k = 0; k < kernels_.size(); ++k) {
      for (const ValueId value : kernels_[k].inputs) consumers_[value.index()].push_back(k);
    }
  }

  // From the end of the program to its start: consumers of one value are merged, then its producer is fused into them.
  // Parameters come last.
  void Run() {
    std::vector<Shared> shared = SharedValues();
    auto next = shared.begin();
    for (size_t i = flow_.order().size(); i-- > 0;) {
      const NodeId id = flow_.order()[i];
      for (; next != shared.end() && flow_.producer(next->value) == id; ++next) FuseSiblings(*next, false);
      FuseIntoConsumer(id);
    }
    for (; next != shared.end(); ++next) FuseSiblings(*next, false);
    for (Shared& value : shared) FuseSiblings(value, true);
    DropInnerRoots();
  }

 private:
  // A materialized result with a consumer of the same size: the consumer can store it along the way.
  void FuseIntoConsumer(NodeId id) {
    if (!plan_.materialized[id.index()] || !IsElementwise(id)) return;
    const ValueId value = flow_.result(id);
    std::vector<uint32_t> consumers;
    for (const uint32_t k : consumers_[value.index()]) consumers.push_back(Now(k));
    std::sort(consumers.begin(), consumers.end());
    consumers.erase(std::unique(consumers.begin(), consumers.end()), consumers.end());
    const uint32_t producer = plan_.kernel[id.index()];
    if (HasOneUser(value, consumers)) return;
    SortByPriority(consumers);
    // Converts of a value stand after its other consumers.
    std::stable_partition(consumers.begin(), consumers.end(),
                          [&](uint32_t consumer) { return kernels_[consumer].ends_in_transpose(); });
    for (uint32_t consumer : consumers) {
      if (consumer == producer || !MayFuse(consumer, producer) || !FitInBlock(consumer, producer) ||
          !ColumnsAgree(consumer, producer, true))
        continue;
      if (PaysToFuse(producer, consumer, value) && MergeAs(consumer, producer)) return;
    }
  }

  // XLA does not look at a value of one user, unless that has several results.
  bool HasOneUser(ValueId value, const std::vector<uint32_t>& consumers) const {
    if (others_[value.index()] || consumers.size() > 1) return false;
    return consumers.empty() || plan_.roots[consumers[0]].size() == 1;
  }

  // Consumers of large data first; what reads the same vector fuses where it is left over. XLA does not look at the
  // consumers of a Triton matmul, whose kernel is made by now.
  void FuseSiblings(Shared& shared, bool small) {
    auto& [value, consumers] = shared;
    const Node* parent = flow_.ProducerNode(value);
    if (parent != nullptr && parent->kind == ir::OpKind::kFusion) return;
    if (consumers.size() < 2 || IsSmall(value) != small) return;
    SortByPriority(consumers);
    for (size_t i = 0; i + 1 < consumers.size(); ++i) {
      for (size_t j = i + 1; j < std::min(consumers.size(), i + fusion_rules::kSiblings); ++j) {
        const uint32_t a = Now(consumers[i]);
        const uint32_t b = Now(consumers[j]);
        if (kernels_[a].is_single_op()) break;
        if (a == b || Reads(a, b) || Reads(b, a)) continue;
        if (MayFuse(a, b) && FitInBlock(a, b) && TransposesAgree(a, b) && ColumnsAgree(a, b, false) &&
            !ReadApart(a, b, value))
          TryMerge(a, b);
      }
    }
  }

  // XLA's FusionPriority: kernels of several results, then others, then single ops.
  void SortByPriority(std::vector<uint32_t>& consumers) const {
    SortConsumers(consumers);
    const auto priority = [&](uint32_t kernel) {
      const uint32_t now = Now(kernel);
      return plan_.roots[now].size() > 1 ? 2 : kernels_[now].is_single_op() ? 0 : 1;
    };
    std::stable_sort(consumers.begin(), consumers.end(),
                     [&](uint32_t a, uint32_t b) { return priority(a) > priority(b); });
  }

  // A vector that is worth less than a kernel's launch.
  bool IsSmall(ValueId value) const { return flow_.ByteSize(value) <= gpu_rules::kSmallSource; }

  // XLA's FusionFitsInBudget.
  bool FitInBlock(uint32_t a, uint32_t b) const {
    const Kernel& x = kernels_[a];
    const Kernel& y = kernels_[b];
    return x.shared_bytes + y.shared_bytes <= gpu_rules::kSharedBytes &&
           x.reductions + y.reductions <= gpu_rules::kReductionLimit;
  }

  bool TransposesAgree(uint32_t a, uint32_t b) const {
    const auto& x = kernels_[a].tiled_transpose;
    const auto& y = kernels_[b].tiled_transpose;
    return !x || !y || *x == *y;
  }

  // Column reductions go together where little is computed for them; with anything else only where one reads what the
  // other stores.
  bool ColumnsAgree(uint32_t a, uint32_t b, bool reads) const {
    const Kernel& x = kernels_[a];
    const Kernel& y = kernels_[b];
    if ((x.columns == 0) != (y.columns == 0)) return reads;
    return x.columns == y.columns && (x.columns == 0 || (!x.is_costly() && !y.is_costly()));
  }

  // Whether each reads its own slice of a value, and no element is in both.
  bool ReadApart(uint32_t a, uint32_t b, ValueId value) const {
    const NodeId x = kernels_[a].SliceOf(value);
    const NodeId y = kernels_[b].SliceOf(value);
    if (!x.valid() || !y.valid() || flow_.ByteSize(value) < gpu_rules::kSmallSlice) return false;
    const auto starts_x = IntegersOf(flow_, flow_.node(x), "start_indices");
    const auto limits_x = IntegersOf(flow_, flow_.node(x), "limit_indices");
    const auto starts_y = IntegersOf(flow_, flow_.node(y), "start_indices");
    const auto limits_y = IntegersOf(flow_, flow_.node(y), "limit_indices");
    if (!starts_x || !limits_x || !starts_y || !limits_y) return false;
    for (size_t d = 0; d < std::min(limits_x->size(), limits_y->size()); ++d) {
      if ((*starts_x)[d] >= (*limits_y)[d] || (*starts_y)[d] >= (*limits_x)[d]) return true;
    }
    return false;
  }

  // XLA looks up a kernel's time under its name, where it finds what the kernel took when it was first asked about:
  // what was merged into it since does not count.
  const KernelUse& FirstSeen(uint32_t kernel) {
    if (!first_seen_[kernel]) first_seen_[kernel] = counter_.Count(kernel);
    return *first_seen_[kernel];
  }

  // The producer's work counts once for each root of the consumer in which its result is used.
  bool PaysToFuse(uint32_t producer, uint32_t consumer, ValueId value) {
    const KernelUse made = counter_.Count(producer);
    const KernelUse& before = FirstSeen(consumer);
    const KernelUse now = counter_.Count(consumer);
    const KernelUse::Read* through = now.Of(value);
    if (through == nullptr) return false;
    const bool tiled = made.is_tiled || now.is_tiled;
    const bool across = (made.reads_across || now.reads_across) && !tiled;
    FusionWork work;
    work.producer = made.WorkWith(work.reads);
    const KernelWork first = before.WorkWith(work.reads);
    const size_t apart = work.reads.size();
    now.ReadWith(made, *through, [&](const KernelUse::Read& read, double times) {
      if (KernelOf(read.value) != producer || made.Of(read.value) != nullptr) {
        work.reads.push_back({read.size, read.size * times, KernelUse::Rate(read, across)});
      }
    });
    work.consumers.push_back({.before = first,
                              .times = through->times,
                              .blocks_fused = now.BlocksWith(made, *through),
                              .reads_fused = work.reads.size() - apart});
    if (context_.decisions == nullptr) return PaysToJoin(work, context_.gpu);
    return context_.decisions->AskToJoin(work, context_.gpu);
  }

  // Merges `other` into `kernel`, which keeps its name; the number under which it goes on is put into `kernel`.
  bool MergeAs(uint32_t& kernel, uint32_t other) {
    const uint32_t whole = TryMerge(kernel, other);
    if (whole == KernelPlan::kNone) return false;
    if (whole != kernel) first_seen_[whole] = std::move(first_seen_[kernel]);
    kernel = whole;
    return true;
  }

  KernelCounter counter_;
  std::vector<std::vector<uint32_t>> consumers_;      // by value: kernels that read it, before any was fused
  std::vector<char> others_;                          // by value: has users that are no kernels
  std::vector<std::optional<KernelUse>> first_seen_;  // by kernel
};

}  // namespace

void FuseMultiOutputOnGpu(const Dataflow& flow, const PassContext& context, KernelPlan& plan) {
  GpuMultiOutputFusion(flow, context, plan).Run();
}

}  // namespace hespas::optimise
