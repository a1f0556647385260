// Copies that keep what the caller gives away until nobody reads it any more (XLA's CopyInsertion, for aliases of
// parameters and results).
//
// - Before there is an order, a parameter keeps its buffer's place only where each of its consumers stands before the
//   result's kernel by what it waits for; otherwise the parameter is copied.
// - The kernel itself may read it where it writes over it element by element; otherwise the result is copied.
// - Behind the schedule, copies go whose consumers run before. A kernel that now stores copies cannot write over what
// it
//   reads and gets a copy of that.
#include "optimise/passes/donated_buffers.h"

#include <algorithm>

#include "ir/attributes/attribute.h"
#include "optimise/dataflow/build.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

struct Pair {
  size_t parameter;
  size_t result;
  NodeId producer;  // the kernel of the result
};

class DonatedBuffers {
 public:
  explicit DonatedBuffers(Dataflow& flow) : flow_(flow) {
    FindOrigins();
    const std::vector<int64_t> taken = TakenOver(flow.source(), flow.parameters.size());
    for (size_t p = 0; p < taken.size(); ++p) {
      if (taken[p] < 0 || static_cast<size_t>(taken[p]) >= flow.outputs.size()) continue;
      const auto result = static_cast<size_t>(taken[p]);
      const NodeId producer = ProducerOf(flow.outputs[result]);
      if (producer.valid() && MakesABuffer(flow.node(producer))) pairs_.push_back({p, result, producer});
    }
  }

  void Copy() {
    for (size_t first = 0; first < pairs_.size(); first += kBatch) {
      const std::span<const Pair> batch(&pairs_[first], std::min(kBatch, pairs_.size() - first));
      FindAncestors(batch);
      for (size_t i = 0; i < batch.size(); ++i) Decide(batch[i], i);
    }
    Apply();
  }

  void LookAgain(const std::vector<NodeId>& order) {
    place_.assign(flow_.node_count(), 0);
    for (size_t at = 0; at < order.size(); ++at) place_[order[at].index()] = at;
    for (const Pair& pair : pairs_) LookAgain(pair);
    flow_.NoteChange();
    flow_.Normalise();
  }

 private:
  static constexpr size_t kBatch = 64;  // bits of a word

  static bool MakesABuffer(const Node& node) {
    return node.kind != OpKind::kConstant && node.kind != OpKind::kWhile && node.kind != OpKind::kCopy &&
           node.kind != OpKind::kOptimizationBarrier;
  }

  // Of each value, the one whose buffer it is in; of each parameter, who reads it.
  void FindOrigins() {
    origin_.resize(flow_.value_count());
    for (size_t i = 0; i < origin_.size(); ++i) origin_[i] = ValueId(i);
    consumers_.resize(flow_.value_count());
    for (const NodeId id : flow_.order()) {
      const Node& node = flow_.node(id);
      const bool barrier = node.kind == OpKind::kOptimizationBarrier;
      for (uint32_t r = 0; r < node.result_count; ++r) {
        if (IsView(node.kind) || barrier)
          origin_[flow_.result(id, r).index()] = OriginOf(node.operands[barrier ? r : 0]);
      }
      if (IsView(node.kind) || barrier) continue;
      for (const ValueId operand : node.operands) {
        const ValueId origin = OriginOf(operand);
        std::vector<NodeId>& consumers = consumers_[origin.index()];
        if (consumers.empty() || consumers.back() != id) consumers.push_back(id);
      }
    }
    returned_.resize(flow_.value_count(), 0);
    for (const ValueId out : flow_.outputs) returned_[OriginOf(out).index()] = 1;
  }

  // Copies that were made since are their own.
  ValueId OriginOf(ValueId value) const { return value.index() < origin_.size() ? origin_[value.index()] : value; }
  NodeId ProducerOf(ValueId value) const { return flow_.producer(OriginOf(value)); }
  const std::vector<NodeId>& ConsumersOf(const Pair& pair) const {
    return consumers_[flow_.parameters[pair.parameter].index()];
  }

  // What the producers of a batch wait for: a bit for each pair.
  void FindAncestors(std::span<const Pair> batch) {
    const auto clear = [&](size_t i) {
      const std::vector<NodeId>& consumers = ConsumersOf(batch[i]);
      return std::all_of(consumers.begin(), consumers.end(), [&](NodeId id) { return id == batch[i].producer; });
    };
    waits_for_.assign(flow_.node_count(), 0);
    bool any = false;
    for (size_t i = 0; i < batch.size(); ++i) {
      if (clear(i)) continue;
      waits_for_[batch[i].producer.index()] |= uint64_t{1} << i;
      any = true;
    }
    if (!any) return;
    const std::vector<NodeId>& order = flow_.order();
    for (size_t at = order.size(); at-- > 0;) {
      const uint64_t mask = waits_for_[order[at].index()];
      if (mask == 0) continue;
      for (const ValueId operand : flow_.node(order[at]).operands) {
        if (const NodeId before = flow_.producer(operand); before.valid()) waits_for_[before.index()] |= mask;
      }
    }
  }

  // Whether the result may be written over the value wherever its kernel reads that.
  bool WritesOver(const Pair& pair, ValueId value) const {
    const Node& kernel = flow_.node(pair.producer);
    const size_t result = OriginOf(flow_.outputs[pair.result]).index() - kernel.first_result.index();
    for (size_t k = 0; k < kernel.operands.size(); ++k) {
      if (OriginOf(kernel.operands[k]) == value && !SharesBuffer(flow_, kernel, k, result)) return false;
    }
    return true;
  }

  void Decide(const Pair& pair, size_t bit) {
    const std::vector<NodeId>& consumers = ConsumersOf(pair);
    const auto before = [&](NodeId id) { return id == pair.producer || (waits_for_[id.index()] >> bit & 1) != 0; };
    const bool all = std::all_of(consumers.begin(), consumers.end(), before);
    if (all && returned_[flow_.parameters[pair.parameter].index()] == 0) {
      const bool reads = std::find(consumers.begin(), consumers.end(), pair.producer) != consumers.end();
      if (reads && !WritesOver(pair, flow_.parameters[pair.parameter])) copied_results_.push_back(pair.result);
      return;
    }
    copied_parameters_.push_back(pair.parameter);
    if (std::none_of(consumers.begin(), consumers.end(), before)) copied_results_.push_back(pair.result);
  }

  ValueId CopyOf(ValueId value) {
    return flow_.result(flow_.Add({.name = "mhlo.copy", .operands = {value}, .results = {flow_.type_id(value)}}));
  }

  void Apply() {
    if (copied_parameters_.empty() && copied_results_.empty()) return;
    const std::vector<NodeId> order = flow_.order();
    std::vector<ValueId> copy(flow_.value_count());
    for (const size_t p : copied_parameters_) {
      const ValueId made = CopyOf(flow_.parameters[p]);
      copy[flow_.parameters[p].index()] = made;
    }
    for (const NodeId id : order) {
      for (ValueId& operand : flow_.node(id).operands) {
        if (operand.index() < copy.size() && copy[operand.index()].valid()) operand = copy[operand.index()];
      }
    }
    for (const size_t result : copied_results_) {
      const ValueId out = flow_.outputs[result];
      flow_.outputs[result] = ReshapeTo(flow_, CopyOf(OriginOf(out)), flow_.type_id(out));
    }
    flow_.NoteChange();
    flow_.Normalise();
  }

  // The copy of a parameter that kernels read.
  NodeId CopyMade(const Pair& pair) const {
    for (const NodeId consumer : ConsumersOf(pair)) {
      const Node& node = flow_.node(consumer);
      if (node.kind != OpKind::kCopy) continue;
      const std::vector<NodeId>& consumers = consumers_[node.first_result.index()];
      const auto is_kernel = [&](NodeId id) { return MakesABuffer(flow_.node(id)); };
      if (!consumers.empty() && std::all_of(consumers.begin(), consumers.end(), is_kernel)) return consumer;
    }
    return {};
  }

  bool RunsBefore(const std::vector<NodeId>& consumers, const Pair& pair) const {
    return std::all_of(consumers.begin(), consumers.end(), [&](NodeId id) {
      return id == pair.producer || place_[id.index()] < place_[pair.producer.index()];
    });
  }

  // In this order: a copy that nobody needs goes, and a kernel that may not write over the parameter reads a copy.
  void LookAgain(const Pair& pair) {
    const ValueId parameter = flow_.parameters[pair.parameter];
    if (const NodeId copy = CopyMade(pair); copy.valid()) {
      const ValueId copied = flow_.result(copy);
      if (RunsBefore(consumers_[copied.index()], pair) && WritesOver(pair, copied)) flow_.Replace(copied, parameter);
    } else if (!WritesOver(pair, parameter)) {
      for (ValueId& operand : flow_.node(pair.producer).operands) {
        if (OriginOf(operand) == parameter) operand = CopyOf(operand);
      }
    }
  }

  Dataflow& flow_;
  std::vector<ValueId> origin_;                 // by value
  std::vector<std::vector<NodeId>> consumers_;  // by value
  std::vector<char> returned_;                  // by value
  std::vector<Pair> pairs_;
  std::vector<uint64_t> waits_for_;  // by node: pairs of the batch
  std::vector<size_t> place_;        // by node
  std::vector<size_t> copied_parameters_;
  std::vector<size_t> copied_results_;
};

}  // namespace

std::vector<int64_t> TakenOver(const ir::Module& module, size_t parameters) {
  std::vector<int64_t> taken(parameters, kKept);
  const std::string_view* text = module.attribute(module.main(), "arg_attrs");
  if (text == nullptr) return taken;
  const auto items = ir::ListItems(*text);
  const auto has = [](std::string_view item, std::string_view name) {
    return item.find(name) != std::string_view::npos;
  };
  for (size_t i = 0; i < std::min(parameters, items.size()); ++i) {
    if (!has(items[i], "tf.aliasing_output") && !has(items[i], "jax.buffer_donor")) continue;
    const auto entries = ir::Entries(items[i]);
    const auto alias = ir::FindEntry(entries, "tf.aliasing_output");
    if (alias) taken[i] = ir::AsInteger(*alias).value_or(kKept);
    if (ir::FindEntry(entries, "jax.buffer_donor")) taken[i] = kAnyResult;
  }
  return taken;
}

void CopyDonated(Dataflow& flow) { DonatedBuffers(flow).Copy(); }

void CopyInOrder(Dataflow& flow, const std::vector<NodeId>& order) { DonatedBuffers(flow).LookAgain(order); }

}  // namespace hespas::optimise
