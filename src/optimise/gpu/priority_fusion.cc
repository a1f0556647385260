#include "optimise/gpu/priority_fusion.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "optimise/gpu/benefit_queue.h"
#include "optimise/gpu/decisions.h"
#include "optimise/gpu/kernel_use.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// The cost model: kernels as they are now, and what duplicating a value would change.
class FusionCosts {
 public:
  FusionCosts(const Dataflow& flow, const PassContext& context, const KernelPlan& plan)
      : flow_(flow),
        plan_(plan),
        users_(flow.Users()),
        counter_(flow, context, plan, true),
        uses_(plan.roots.size()),
        seen_(flow.node_count(), 0) {}

  const KernelUse& Use(uint32_t kernel) {
    if (!uses_[kernel]) uses_[kernel] = counter_.Count(kernel);
    return *uses_[kernel];
  }

  // The kernels that hold a consumer of a value; valid until the next call.
  const std::vector<uint32_t>& ConsumersOf(NodeId value) {
    consumers_.clear();
    search_work_.assign(1, value);
    ++search_;
    while (!search_work_.empty()) {
      const NodeId at = search_work_.back();
      search_work_.pop_back();
      for (const NodeId user : users_[flow_.result(at).index()]) {
        if (seen_[user.index()] == search_ || plan_.classes[user.index()] == FusionClass::kUnfusible) continue;
        seen_[user.index()] = search_;
        if (plan_.materialized[user.index()]) {
          consumers_.push_back(plan_.kernel[user.index()]);
        } else if (flow_.node(user).result_count == 1) {
          search_work_.push_back(user);
        }
      }
    }
    std::sort(consumers_.begin(), consumers_.end());
    return consumers_;
  }

  // Valid until it is asked for again.
  const FusionWork& WorkOf(NodeId id, const std::vector<uint32_t>& consumers) {
    const ValueId value = flow_.result(id);
    const KernelUse& made = Use(plan_.kernel[id.index()]);
    work_.consumers.clear();
    work_.reads.clear();
    work_.producer = made.WorkWith(work_.reads);
    for (const uint32_t kernel : consumers) {
      const KernelUse& consumer = Use(kernel);
      const KernelUse::Read* through = consumer.Of(value);
      if (through == nullptr) continue;
      const KernelWork before = consumer.WorkWith(work_.reads);
      const size_t apart = work_.reads.size();
      const bool across = (made.reads_across || consumer.reads_across) && !IsTiled(consumer, made, kernel, id);
      consumer.ReadWith(made, *through, [&](const KernelUse::Read& read, double times) {
        work_.reads.push_back({read.size, read.size * times, KernelUse::Rate(read, across)});
      });
      work_.consumers.push_back({.before = before,
                                 .calls = CallsOf(plan_.roots[kernel][0], value),
                                 .times = through->times,
                                 .blocks_fused = consumer.BlocksWith(made, *through),
                                 .reads_fused = work_.reads.size() - apart});
    }
    AddDeadConverts(id, made);
    return work_;
  }

  void Forget(uint32_t kernel) { uses_[kernel].reset(); }

  std::span<const NodeId> UsersOf(NodeId id) const { return users_[flow_.result(id).index()]; }

 private:
  // Whether a transpose is walked in tiles where the consumer's kernel computes the value itself.
  bool IsTiled(const KernelUse& consumer, const KernelUse& made, uint32_t kernel, NodeId value) {
    return !consumer.reduces && !made.reduces && counter_.IsTiledWith(kernel, value);
  }

  // Float normalisation widens what a 16-bit broadcast reads, and XLA leaves the broadcast and its convert behind
  // without users. They count as a consumer until dead code goes, after fusion.
  void AddDeadConverts(NodeId id, const KernelUse& made) {
    for (const NodeId user : users_[flow_.result(id).index()]) {
      if (plan_.classes[user.index()] == FusionClass::kBitcast) {
        for (const NodeId next : users_[flow_.result(user).index()]) AddDeadConvert(next, made);
      } else {
        AddDeadConvert(user, made);
      }
    }
  }

  // An op of 16 bits in the program that is computed in 32.
  bool WasWidened(const Node& node) const {
    const ir::Module& source = flow_.source();
    if (!node.origin.valid() || source.op(node.origin).result_count != 1) return false;
    const auto bits = [](const ir::Type& type) { return ir::ElementBits(type.element); };
    return source.kind(node.origin) == node.kind && bits(source.type(source.result(node.origin))) == 16 &&
           bits(flow_.type(node.first_result)) == 32;
  }

  bool LeavesConvert(const Node& broadcast) const {
    if (!IsBroadcast(broadcast)) return false;
    const auto& consumers = users_[broadcast.first_result.index()];
    return std::any_of(consumers.begin(), consumers.end(), [&](NodeId user) { return WasWidened(flow_.node(user)); });
  }

  void AddDeadConvert(NodeId broadcast, const KernelUse& made) {
    const Node& node = flow_.node(broadcast);
    if (!LeavesConvert(node)) return;
    const auto elements = static_cast<double>(flow_.type(node.first_result).element_count());
    const double narrow = static_cast<double>(flow_.ByteSize(node.operands[0])) / 2;
    const double times = elements / static_cast<double>(flow_.type(node.operands[0]).element_count());
    const double asked = made.reduces ? 1 : times;  // whole rows
    const double blocks = std::ceil(elements / gpu_rules::kElementsOfBlock);
    work_.reads.push_back({narrow, narrow * times, 1});
    for (const KernelUse::Read& read : made.reads) {
      work_.reads.push_back({read.size, read.size * read.times * asked, made.Rate(read)});
    }
    work_.consumers.push_back({.before = {.operations = elements * gpu_rules::kDefaultClocks,
                                          .written = static_cast<double>(flow_.ByteSize(node.first_result)),
                                          .blocks = blocks,
                                          .reads = 1},
                               .times = asked,
                               .blocks_fused = std::max(blocks, made.blocks),
                               .reads_fused = made.reads.size()});
  }

  // A value transposed for several cuBLAS and cuDNN calls: with one batch dimension XLA transposes it for one call and
  // counts the others as consumers, too.
  double CallsOf(NodeId root, ValueId value) const {
    const Node& node = flow_.node(root);
    const auto& dims = flow_.type(value).dims;
    const auto wide = std::count_if(dims.begin(), dims.end(), [](int64_t d) { return d > 1; });
    if (node.kind != OpKind::kTranspose || node.operands[0] != value || wide > 3) return 1;
    const auto is = [&](NodeId id, FusionClass kind) { return plan_.classes[id.index()] == kind; };
    double calls = 0;
    for (const NodeId user : users_[node.first_result.index()]) {
      calls += is(user, FusionClass::kUnfusible);
      if (!is(user, FusionClass::kBitcast)) continue;
      for (const NodeId consumer : users_[flow_.result(user).index()]) calls += is(consumer, FusionClass::kUnfusible);
    }
    return std::max(1.0, calls);
  }

  const Dataflow& flow_;
  const KernelPlan& plan_;
  UserTable users_;
  KernelCounter counter_;
  std::vector<std::optional<KernelUse>> uses_;  // by kernel
  std::vector<uint32_t> seen_;                  // by node: the search that last came by
  uint32_t search_ = 0;
  std::vector<uint32_t> consumers_;
  std::vector<NodeId> search_work_;
  FusionWork work_;
};

class PriorityFusion {
 public:
  PriorityFusion(const Dataflow& flow, const PassContext& context, KernelPlan& plan, std::span<const NodeId> open)
      : flow_(flow),
        gpu_(context.gpu),
        plan_(plan),
        costs_(flow, context, plan),
        decisions_(context.decisions),
        queue_(flow.node_count()),
        members_(flow, plan),
        open_(flow.node_count(), 0),
        consumer_count_(flow.node_count(), 0),
        noted_(flow.node_count(), 0) {
    keeps_rows_.assign(plan.roots.size(), 0);
    for (size_t kernel = 0; kernel < plan.roots.size(); ++kernel) {
      keeps_rows_[kernel] = !plan.roots[kernel].empty() && plan.RoleOf(plan.roots[kernel][0]) == RowRole::kEnd ? 1 : 0;
    }
    reduces_.assign(plan.roots.size(), 0);
    for (const NodeId id : open) {
      open_[id.index()] = 1;
      reduces_[plan.kernel[id.index()]] = Reduces(plan.kernel[id.index()]) ? 1 : 0;
    }
    TakeInViews();
    QueueBroadcasts();
    for (const NodeId id : open) Evaluate(id);
  }

  std::vector<char> Run() {
    std::vector<char> duplicated(flow_.node_count(), 0);
    while (!queue_.done()) {
      if (queue_.empty()) {
        for (const NodeId id : queue_.TakeOutdated()) Refresh(id);
        continue;
      }
      const NodeId id = queue_.Pop();
      if (id.valid() && plan_.classes[id.index()] == FusionClass::kCheap) TakeInto(id);
      if (!id.valid() || !open_[id.index()] || Refresh(id)) continue;
      duplicated[id.index()] = 1;
      Dissolve(id);
    }
    return duplicated;
  }

 private:
  // Bitcasts are the first that XLA takes in, from the end of the program to its start.
  void TakeInViews() {
    for (size_t i = flow_.order().size(); i-- > 0;) {
      const NodeId id = flow_.order()[i];
      if (plan_.classes[id.index()] == FusionClass::kBitcast) TakeInto(id);
    }
  }

  // What is repeated anyway takes its turn as in XLA: a kernel less, a write less, and reads that a cache answers.
  void QueueBroadcasts() {
    constexpr double kCached = 1 / (gpu_rules::kL2Speedup * gpu_rules::kL1Speedup);
    for (const NodeId id : flow_.order()) {
      if (plan_.classes[id.index()] != FusionClass::kCheap || !IsBroadcast(flow_.node(id))) continue;
      const auto bytes = static_cast<double>(flow_.ByteSize(flow_.result(id)));
      const auto users = static_cast<double>(costs_.UsersOf(id).size());
      queue_.Set(id, gpu_rules::kLaunch + bytes * (1 + users * (1 - kCached)) / gpu_.bytes_per_second);
    }
  }

  // The kernels that an op's users end take in the op, those at the end of the program first.
  void TakeInto(NodeId id) {
    const std::span<const NodeId> users = costs_.UsersOf(id);
    for (size_t i = users.size(); i-- > 0;) {
      if (plan_.materialized[users[i].index()]) queue_.TakeIn(users[i]);
    }
  }

  void Evaluate(NodeId id) {
    const std::vector<uint32_t>& consumers = costs_.ConsumersOf(id);
    consumer_count_[id.index()] = consumers.size();
    if (consumers.size() > gpu_rules::kConsumerLimit || !CanTile(id, consumers)) return queue_.Set(id, -1);
    const FusionWork& work = costs_.WorkOf(id, consumers);
    const double benefit = FusionBenefit(work, gpu_);
    queue_.Set(id, benefit);
    if (decisions_ != nullptr) noted_[id.index()] = decisions_->Note(work, benefit);
  }

  // Where rows are kept whole, on either side, one Triton kernel has to come out.
  bool CanTile(NodeId id, const std::vector<uint32_t>& consumers) {
    const uint32_t own = plan_.kernel[id.index()];
    const bool reduces = reduces_[own] != 0;
    if (reduces && !IsTiled(own)) return false;
    return std::all_of(consumers.begin(), consumers.end(), [&](uint32_t consumer) {
      if (keeps_rows_[own]) return IsTiled(consumer) && (keeps_rows_[consumer] || GoesAlongRows(consumer));
      return keeps_rows_[consumer] ? IsTiled(own) : !reduces;
    });
  }

  bool Reduces(uint32_t kernel) {
    const std::vector<NodeId>& members = members_.Of(kernel);
    return std::any_of(members.begin(), members.end(),
                       [&](NodeId member) { return plan_.classes[member.index()] == FusionClass::kReduce; });
  }

  bool IsTiled(uint32_t kernel) {
    const std::vector<NodeId>& members = members_.Of(kernel);
    return std::all_of(members.begin(), members.end(),
                       [&](NodeId member) { return plan_.policy->JoinsRows(flow_, flow_.node(member)); });
  }

  // A reduction ends the kernel, if any, and goes over rows.
  bool GoesAlongRows(uint32_t kernel) const {
    const NodeId root = plan_.roots[kernel][0];
    return plan_.classes[root.index()] != FusionClass::kReduce || flow_.node(root).kind == OpKind::kReduce;
  }

  // Re-evaluates what was put off; false where nothing was.
  bool Refresh(NodeId id) {
    if (!queue_.IsOutdated(id) || !open_[id.index()]) return false;
    Evaluate(id);
    return true;
  }

  void Reevaluate(NodeId id) {
    if (consumer_count_[id.index()] <= gpu_rules::kManyConsumers) return Evaluate(id);
    queue_.PutOff(id);
  }

  // Open values that its consumers' kernels produce or read, or that it reads itself.
  std::vector<NodeId> NeighboursOf(NodeId id, const std::vector<uint32_t>& consumers) {
    std::vector<NodeId> found;
    const auto add = [&](NodeId other) {
      if (other.valid() && other != id && open_[other.index()]) found.push_back(other);
    };
    const auto add_reads = [&](uint32_t kernel) {
      for (const auto& read : costs_.Use(kernel).reads) add(flow_.producer(read.value));
    };
    add_reads(plan_.kernel[id.index()]);
    for (const uint32_t consumer : consumers) {
      add(plan_.roots[consumer][0]);
      add_reads(consumer);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  // Another device decides alike where of two neighbouring values the same one goes first.
  void NoteOrder(NodeId first, NodeId second) {
    if (decisions_ == nullptr || queue_.benefit(second) < 0 || queue_.IsOutdated(second)) return;
    decisions_->NoteOrder(noted_[first.index()], noted_[second.index()], queue_.IsNewer(second, first));
  }

  void Dissolve(NodeId id) {
    const std::vector<uint32_t> consumers = costs_.ConsumersOf(id);
    const std::vector<NodeId> neighbours = NeighboursOf(id, consumers);
    for (const NodeId other : neighbours) NoteOrder(id, other);
    const uint32_t kernel = plan_.kernel[id.index()];
    plan_.materialized[id.index()] = 0;
    plan_.roots[kernel].clear();
    open_[id.index()] = 0;
    costs_.Forget(kernel);
    for (const uint32_t consumer : consumers) {
      costs_.Forget(consumer);
      queue_.TakeIn(plan_.roots[consumer][0]);
      keeps_rows_[consumer] |= keeps_rows_[kernel];
      reduces_[consumer] |= reduces_[kernel];
    }
    for (const NodeId other : neighbours) Reevaluate(other);
  }

  const Dataflow& flow_;
  const GpuFigures& gpu_;
  KernelPlan& plan_;
  FusionCosts costs_;
  Decisions* decisions_;  // null: not wanted
  BenefitQueue queue_;
  Members members_;
  std::vector<char> keeps_rows_;        // by kernel
  std::vector<char> reduces_;           // by kernel of an open value
  std::vector<char> open_;              // by node
  std::vector<size_t> consumer_count_;  // by node, when it was last evaluated
  std::vector<uint32_t> noted_;         // by node: its work in decisions_, when it was last evaluated
};

}  // namespace

std::vector<char> FuseByPriority(const Dataflow& flow, const PassContext& context, KernelPlan& plan,
                                 std::span<const NodeId> open) {
  return PriorityFusion(flow, context, plan, open).Run();
}

}  // namespace hespas::optimise
