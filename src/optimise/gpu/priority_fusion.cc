#include "optimise/gpu/priority_fusion.h"

#include <algorithm>
#include <optional>
#include <queue>
#include <tuple>

#include "optimise/gpu/decisions.h"
#include "optimise/gpu/kernel_use.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class PriorityFusion {
 public:
  PriorityFusion(const Dataflow& flow, const PassContext& context, KernelPlan& plan, std::span<const NodeId> open)
      : flow_(flow),
        context_(context),
        plan_(plan),
        users_(flow.Users()),
        counter_(flow, context, plan, true),
        uses_(plan.roots.size()),
        open_(flow.node_count(), 0),
        benefit_(flow.node_count(), 0),
        version_(flow.node_count(), 0),
        consumer_count_(flow.node_count(), 0),
        is_outdated_(flow.node_count(), 0),
        seen_(flow.node_count(), 0) {
    for (const NodeId id : open) open_[id.index()] = 1;
    for (const NodeId id : open) Evaluate(id);
  }

  std::vector<char> Run() {
    std::vector<char> duplicated(flow_.node_count(), 0);
    while (!queue_.empty() || !outdated_.empty()) {
      if (queue_.empty()) {
        const std::vector<NodeId> outdated = std::move(outdated_);
        outdated_.clear();
        for (const NodeId id : outdated) Refresh(id);
        continue;
      }
      const auto [benefit, node, version] = queue_.top();
      queue_.pop();
      if (version != version_[node] || !open_[node] || Refresh(NodeId(node))) continue;
      duplicated[node] = 1;
      Dissolve(NodeId(node));
    }
    return duplicated;
  }

 private:
  const KernelUse& Use(uint32_t kernel) {
    if (!uses_[kernel]) uses_[kernel] = counter_.Count(kernel);
    return *uses_[kernel];
  }

  // The kernels that hold a consumer of a value.
  std::vector<uint32_t> ConsumersOf(NodeId value) {
    std::vector<uint32_t> consumers;
    std::vector<NodeId> work{value};
    ++search_;
    while (!work.empty()) {
      const NodeId at = work.back();
      work.pop_back();
      for (const NodeId user : users_[flow_.result(at).index()]) {
        if (seen_[user.index()] == search_ || plan_.classes[user.index()] == FusionClass::kUnfusible) continue;
        seen_[user.index()] = search_;
        if (plan_.materialized[user.index()]) {
          consumers.push_back(plan_.kernel[user.index()]);
        } else if (flow_.node(user).result_count == 1) {
          work.push_back(user);
        }
      }
    }
    std::sort(consumers.begin(), consumers.end());
    return consumers;
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

  void AddFacts(NodeId id, const std::vector<uint32_t>& consumers, std::vector<double>& facts) {
    const ValueId value = flow_.result(id);
    const KernelUse& made = Use(plan_.kernel[id.index()]);
    facts.insert(facts.end(), {made.operations, made.written, made.blocks, static_cast<double>(made.reads.size())});
    for (const auto& read : made.reads) facts.insert(facts.end(), {read.size, read.size * read.times});
    for (const uint32_t kernel : consumers) {
      const KernelUse& consumer = Use(kernel);
      const KernelUse::Read* through = consumer.Of(value);
      if (through == nullptr) continue;
      const double blocks = consumer.reduces ? consumer.blocks : std::max(consumer.blocks, made.blocks);
      facts.insert(facts.end(), {CallsOf(plan_.roots[kernel][0], value), consumer.operations, consumer.written,
                                 consumer.blocks, through->times, blocks, static_cast<double>(consumer.reads.size())});
      for (const auto& read : consumer.reads) facts.insert(facts.end(), {read.size, read.size * read.times});
      const size_t count = facts.size();
      facts.push_back(0);
      consumer.ReadWith(made, *through, [&](const KernelUse::Read& read, double times) {
        facts.insert(facts.end(), {read.size, read.size * times});
      });
      const size_t values = (facts.size() - count - 1) / 2;
      facts[count] = static_cast<double>(values);
    }
  }

  void Evaluate(NodeId id) {
    ++version_[id.index()];
    const std::vector<uint32_t> consumers = ConsumersOf(id);
    consumer_count_[id.index()] = consumers.size();
    is_outdated_[id.index()] = 0;
    benefit_[id.index()] = -1;
    if (consumers.size() > gpu_rules::kConsumerLimit) return;
    facts_.clear();
    AddFacts(id, consumers, facts_);
    benefit_[id.index()] = FusionBenefit(facts_, context_.gpu);
    if (benefit_[id.index()] >= 0) queue_.emplace(benefit_[id.index()], id.value, version_[id.index()]);
    if (context_.decisions != nullptr) context_.decisions->Ask({QuestionKind::kDuplicate, facts_}, context_.gpu);
  }

  // Re-evaluates what was put off; false where nothing was.
  bool Refresh(NodeId id) {
    if (!is_outdated_[id.index()] || !open_[id.index()]) return false;
    Evaluate(id);
    return true;
  }

  void Reevaluate(NodeId id) {
    if (consumer_count_[id.index()] <= gpu_rules::kManyConsumers) return Evaluate(id);
    if (is_outdated_[id.index()]) return;
    is_outdated_[id.index()] = 1;
    outdated_.push_back(id);
  }

  // Open values that its consumers' kernels produce or read, or that it reads itself.
  std::vector<NodeId> NeighboursOf(NodeId id, const std::vector<uint32_t>& consumers) {
    std::vector<NodeId> found;
    const auto add = [&](NodeId other) {
      if (other.valid() && other != id && open_[other.index()]) found.push_back(other);
    };
    const auto add_reads = [&](uint32_t kernel) {
      for (const auto& read : Use(kernel).reads) add(flow_.producer(read.value));
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
    Question question{QuestionKind::kHigherPriority, {first < second ? 1.0 : 0.0, 0}};
    AddFacts(first, ConsumersOf(first), question.facts);
    question.facts[1] = static_cast<double>(question.facts.size() - 2);
    AddFacts(second, ConsumersOf(second), question.facts);
    context_.decisions->Ask(std::move(question), context_.gpu);
  }

  void Dissolve(NodeId id) {
    const std::vector<uint32_t> consumers = ConsumersOf(id);
    const std::vector<NodeId> neighbours = NeighboursOf(id, consumers);
    for (const NodeId other : neighbours) {
      if (context_.decisions != nullptr && benefit_[other.index()] >= 0) NoteOrder(id, other);
    }
    const uint32_t kernel = plan_.kernel[id.index()];
    plan_.materialized[id.index()] = 0;
    plan_.roots[kernel].clear();
    open_[id.index()] = 0;
    uses_[kernel].reset();
    for (const uint32_t consumer : consumers) uses_[consumer].reset();
    for (const NodeId other : neighbours) Reevaluate(other);
  }

  const Dataflow& flow_;
  const PassContext& context_;
  KernelPlan& plan_;
  UserTable users_;
  KernelCounter counter_;
  std::vector<std::optional<KernelUse>> uses_;  // by kernel
  std::vector<char> open_;                      // by node
  std::vector<double> benefit_;                 // by node: seconds
  std::vector<uint32_t> version_;               // by node: of its gain
  std::vector<size_t> consumer_count_;          // by node, when it was last looked at
  std::vector<char> is_outdated_;               // by node
  std::vector<NodeId> outdated_;
  std::vector<double> facts_;   // of the question at hand
  std::vector<uint32_t> seen_;  // by node: the search that last came by
  uint32_t search_ = 0;
  // gain, node and version of it; among equals the last of the program first, as in XLA
  std::priority_queue<std::tuple<double, uint32_t, uint32_t>> queue_;
};

}  // namespace

std::vector<char> FuseByPriority(const Dataflow& flow, const PassContext& context, KernelPlan& plan,
                                 std::span<const NodeId> open) {
  return PriorityFusion(flow, context, plan, open).Run();
}

}  // namespace hespas::optimise
