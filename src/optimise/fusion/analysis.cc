#include "optimise/fusion/analysis.h"

#include <algorithm>

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

// Of the analysis itself, which XLA does not have: shared work below broadcasts would be counted many times, a large
// source below a broadcast is taken to be materialized. Fitted: by looking at the LLaMA programs of
// tests/data/optimise.
constexpr double kInstructionLimit = 400;           // per element
constexpr int64_t kLargeSource = int64_t{1} << 20;  // bytes

class Analyser {
 public:
  Analyser(const Dataflow& flow, const CompilerPolicy& policy, std::vector<char> materialized_before)
      : flow_(flow),
        policy_(policy),
        out_{.flow = flow,
             .users = flow.Users(),
             .classes = std::vector<FusionClass>(flow.node_count()),
             .materialized_before = std::move(materialized_before),
             .epilogue = std::vector<Epilogue>(flow.node_count(), Epilogue::kNone),
             .instructions = {},
             .sources = {},
             .behind_transpose = std::vector<char>(flow.value_count(), 0)} {}

  FusionAnalysis Run() {
    for (const NodeId id : flow_.order()) out_.classes[id.index()] = ClassOf(flow_, flow_.node(id), policy_);
    for (const NodeId id : flow_.order()) FindTransposes(id);
    if (policy_.WeighsRecomputation()) {
      out_.instructions.resize(flow_.value_count(), 0.0);
      out_.sources.resize(flow_.value_count());
      for (const NodeId id : flow_.order()) Summarise(id);
    }
    for (const NodeId id : flow_.order()) {
      if (out_.ClassOf(id) == FusionClass::kReduce) FollowEpilogue(id);
    }
    return std::move(out_);
  }

 private:
  void FindTransposes(NodeId id) {
    const Node& node = flow_.node(id);
    if (node.result_count == 0 || out_.ClassOf(id) == FusionClass::kUnfusible) return;
    const auto is_behind = [&](ValueId operand) {
      return !out_.IsMaterializedSource(operand) && out_.behind_transpose[operand.index()];
    };
    out_.behind_transpose[node.first_result.index()] =
        policy_.ReadsAcross(flow_, node) || std::any_of(node.operands.begin(), node.operands.end(), is_behind);
  }

  // What computing a node from memory reads and issues, were nothing between materialized.
  void Summarise(NodeId id) {
    const Node& node = flow_.node(id);
    if (node.result_count == 0) return;
    const FusionClass kind = out_.ClassOf(id);
    const ValueId out = node.first_result;
    if (kind == FusionClass::kUnfusible) return;
    const auto elements = static_cast<double>(WorkElements(flow_, id));
    Sources& mine = out_.sources[out.index()];
    double issue = InstructionWeight(node.kind) * elements;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId operand = node.operands[i];
      if (node.kind == OpKind::kDynamicUpdateSlice && i == 0) continue;
      int64_t limit = INT64_MAX;
      if (ir::Traits(node.kind).sort == OpSort::kSlice || node.kind == OpKind::kGather) limit = flow_.ByteSize(out);
      const bool stays = IsBroadcast(node) && flow_.ByteSize(operand) > kLargeSource;
      const auto size = static_cast<double>(std::max<int64_t>(1, flow_.type(operand).element_count()));
      const bool once = kind == FusionClass::kBitcast || node.kind == OpKind::kConcatenate || node.kind == OpKind::kPad;
      if (out_.IsMaterializedSource(operand) || stays) {
        const int64_t bytes = std::min(limit, flow_.ByteSize(operand));
        mine.Add({operand, bytes});
        continue;
      }
      const Sources& theirs = out_.sources[operand.index()];
      for (size_t s = 0; s < theirs.count; ++s)
        mine.Add({theirs.items[s].value, std::min(limit, theirs.items[s].bytes)});
      issue += out_.instructions[operand.index()] * (once ? 1.0 : std::max(1.0, elements / size));
    }
    out_.instructions[out.index()] = std::min(issue, kInstructionLimit * elements);
  }

  // A reduction's result runs on through single consumers of the same size that read nothing else but constants.
  void FollowEpilogue(NodeId reduce) {
    if (flow_.node(reduce).result_count != 1) {
      out_.epilogue[reduce.index()] = Epilogue::kEnd;
      return;
    }
    NodeId end = reduce;
    NodeId at = reduce;
    const int64_t bytes = flow_.ByteSize(flow_.result(reduce));
    const bool after_dot = IsContraction(flow_.node(reduce));
    for (;;) {
      const ValueId out = flow_.result(at);
      const auto& users = out_.users[out.index()];
      if (users.size() != 1 || out_.IsReturned(out)) break;
      const NodeId next = users[0];
      const FusionClass kind = out_.ClassOf(next);
      const bool continues = (kind == FusionClass::kElement || kind == FusionClass::kBitcast) &&
                             flow_.node(next).result_count == 1 && out_.Elements(next) == out_.Elements(at) &&
                             (after_dot || ReadsOnly(next, out));
      if (!continues || out_.epilogue[next.index()] != Epilogue::kNone) break;
      if (!policy_.ContinuesEpilogue(out_, next, out, after_dot)) break;
      at = next;
      // A wider copy of the result is left to its consumers.
      if (kind == FusionClass::kElement && flow_.ByteSize(flow_.result(at)) <= bytes) end = at;
    }
    for (at = reduce; at != end; at = out_.users[flow_.result(at).index()][0])
      out_.epilogue[at.index()] = Epilogue::kInterior;
    out_.epilogue[end.index()] = Epilogue::kEnd;
  }

  bool ReadsOnly(NodeId id, ValueId value) const {
    const auto& operands = flow_.node(id).operands;
    return std::all_of(operands.begin(), operands.end(),
                       [&](ValueId o) { return o == value || out_.IsConstantLike(o); });
  }

  const Dataflow& flow_;
  const CompilerPolicy& policy_;
  FusionAnalysis out_;
};

}  // namespace

void Sources::Add(const Source& source) {
  for (size_t i = 0; i < count; ++i) {
    if (items[i].value != source.value) continue;
    items[i].bytes = std::max(items[i].bytes, source.bytes);
    return;
  }
  if (count < items.size()) {
    items[count++] = source;
    return;
  }
  auto smallest = std::min_element(items.begin(), items.end(), [](auto& a, auto& b) { return a.bytes < b.bytes; });
  if (smallest->bytes < source.bytes) *smallest = source;
}

double Sources::bytes() const {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += static_cast<double>(items[i].bytes);
  return sum;
}

bool FusionAnalysis::IsMaterializedSource(ValueId value) const {
  const NodeId producer = flow.producer(value);
  return !producer.valid() || ClassOf(producer) == FusionClass::kUnfusible ||
         ClassOf(producer) == FusionClass::kReduce ||
         (!materialized_before.empty() && materialized_before[producer.index()]);
}

bool FusionAnalysis::IsConstantLike(ValueId value) const {
  const NodeId producer = flow.producer(value);
  return producer.valid() && ClassOf(producer) == FusionClass::kCheap;
}

bool FusionAnalysis::IsReturned(ValueId value) const {
  return std::find(flow.outputs.begin(), flow.outputs.end(), value) != flow.outputs.end();
}

FusionAnalysis Analyse(const Dataflow& flow, const CompilerPolicy& policy, std::vector<char> materialized_before) {
  return Analyser(flow, policy, std::move(materialized_before)).Run();
}

}  // namespace hespas::optimise
