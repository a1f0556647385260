#include "optimise/fusion/kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "optimise/dataflow/build.h"
#include "optimise/gpu/priority_fusion.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr size_t kKernelLimit = 256;                // kernels into which one node may be duplicated
constexpr double kInstructionLimit = 400;           // per element, where shared work would be counted many times
constexpr int64_t kLargeSource = int64_t{1} << 20;  // below a broadcast this is taken to be materialized
constexpr int64_t kLargeTranspose = 65536;
constexpr double kDuplicationLimit = 25;  // instructions an element that a TPU's kernels recompute, each for itself
constexpr double kTie = 1.1;              // as much memory traffic: a TPU's kernels rather recompute
constexpr int64_t kRowNormRows = 16384;
constexpr int64_t kRowNormBytes = int64_t{64} << 20;

// What a chain of fused ops reads of one materialized value.
struct Source {
  ValueId value;
  int64_t bytes = 0;
};

// Where a chain of fused ops reads memory; the largest few sources.
struct Sources {
  std::array<Source, 6> items;
  size_t count = 0;

  void Add(const Source& source) {
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
  bool Has(ValueId value) const {
    return std::any_of(items.begin(), items.begin() + static_cast<ptrdiff_t>(count),
                       [&](const Source& item) { return item.value == value; });
  }
  double bytes() const {
    double sum = 0;
    for (size_t i = 0; i < count; ++i) sum += static_cast<double>(items[i].bytes);
    return sum;
  }
};

bool IsBroadcast(const Node& node) { return node.kind == OpKind::kBroadcastInDim || node.kind == OpKind::kBroadcast; }

class Planner {
 public:
  Planner(const Dataflow& flow, const PassContext& context)
      : flow_(flow),
        context_(context),
        users_(flow.Users()),
        classes_(flow.node_count()),
        ends_(flow.node_count(), 0),
        instructions_(flow.value_count(), 0.0),
        sources_(flow.value_count()),
        kernels_(flow.node_count()),
        memory_use_(flow.node_count(), 0),
        behind_transpose_(flow.value_count(), 0),
        feeds_concatenate_(flow.node_count(), 0),
        evaluations_(flow.node_count(), 0) {
    plan_.materialized.assign(flow.node_count(), 0);
    plan_.kernel.assign(flow.node_count(), KernelPlan::kNone);
    if (context.explanations != nullptr) plan_.reasons.resize(flow.node_count());
    for (const NodeId id : flow.order()) classes_[id.index()] = ClassOf(flow, flow.node(id));
  }

  // Decisions depend on what else is materialized, which later decisions settle. So a second round starts from the
  // first.
  KernelPlan Run() {
    Round();
    if (!context_.wrap_only) {
      materialized_before_ = plan_.materialized;
      if (context_.target == Target::kGpu) DecideOpen();
      Reset();
      Round();
    }
    plan_.classes = std::move(classes_);
    return std::move(plan_);
  }

 private:
  void DecideOpen() {
    plan_.classes = classes_;
    const std::vector<char> duplicated = FuseByPriority(flow_, context_, plan_, open_);
    for (const NodeId id : open_) {
      if (duplicated[id.index()]) materialized_before_[id.index()] = 0;
    }
  }

  void Reset() {
    std::fill(plan_.materialized.begin(), plan_.materialized.end(), 0);
    std::fill(plan_.kernel.begin(), plan_.kernel.end(), KernelPlan::kNone);
    plan_.roots.clear();
    for (auto& list : kernels_) list.clear();
    std::fill(memory_use_.begin(), memory_use_.end(), 0);
    std::fill(ends_.begin(), ends_.end(), 0);
    std::fill(sources_.begin(), sources_.end(), Sources{});
    std::fill(behind_transpose_.begin(), behind_transpose_.end(), 0);
  }

  void Round() {
    for (const ValueId out : flow_.outputs) {
      if (flow_.producer(out).valid()) memory_use_[flow_.producer(out).index()] = 1;
    }
    for (const NodeId id : flow_.order()) Summarise(id);
    for (const NodeId id : flow_.order()) {
      if (classes_[id.index()] == FusionClass::kReduce) FollowEpilogue(id);
    }
    for (size_t i = flow_.order().size(); i-- > 0;) Decide(flow_.order()[i]);
  }

  static constexpr char kInterior = 1;  // between a reduction and the end of its epilogue
  static constexpr char kEnd = 2;

  int64_t Elements(NodeId id) const { return flow_.type(flow_.result(id)).element_count(); }

  bool IsDot(NodeId id) const { return ir::Traits(flow_.node(id).kind).sort == OpSort::kContraction; }

  bool IsMaterializedSource(ValueId value) const {
    const NodeId producer = flow_.producer(value);
    return !producer.valid() || classes_[producer.index()] == FusionClass::kUnfusible ||
           classes_[producer.index()] == FusionClass::kReduce ||
           (!materialized_before_.empty() && materialized_before_[producer.index()]);
  }

  // What computing a node from memory reads and issues, were nothing between materialized.
  void Summarise(NodeId id) {
    const Node& node = flow_.node(id);
    if (node.result_count == 0) return;
    const FusionClass kind = classes_[id.index()];
    const ValueId out = node.first_result;
    if (kind == FusionClass::kUnfusible) return;
    const auto elements = static_cast<double>(WorkElements(flow_, id));
    Sources& mine = sources_[out.index()];
    double issue = InstructionWeight(node.kind) * elements;
    if (node.kind == OpKind::kTranspose && flow_.ByteSize(out) > kLargeTranspose) behind_transpose_[out.index()] = 1;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId operand = node.operands[i];
      if (!IsMaterializedSource(operand) && behind_transpose_[operand.index()] && !IsBroadcast(node))
        behind_transpose_[out.index()] = 1;
      if (node.kind == OpKind::kDynamicUpdateSlice && i == 0) continue;
      int64_t limit = INT64_MAX;
      if (ir::Traits(node.kind).sort == OpSort::kSlice || node.kind == OpKind::kGather) limit = flow_.ByteSize(out);
      const bool stays = IsBroadcast(node) && flow_.ByteSize(operand) > kLargeSource;
      const auto size = static_cast<double>(std::max<int64_t>(1, flow_.type(operand).element_count()));
      const bool once = kind == FusionClass::kBitcast || node.kind == OpKind::kConcatenate || node.kind == OpKind::kPad;
      if (IsMaterializedSource(operand) || stays) {
        const int64_t bytes = std::min(limit, flow_.ByteSize(operand));
        mine.Add({operand, bytes});
        continue;
      }
      const Sources& theirs = sources_[operand.index()];
      for (size_t s = 0; s < theirs.count; ++s)
        mine.Add({theirs.items[s].value, std::min(limit, theirs.items[s].bytes)});
      issue += instructions_[operand.index()] * (once ? 1.0 : std::max(1.0, elements / size));
    }
    instructions_[out.index()] = std::min(issue, kInstructionLimit * elements);
  }

  bool IsConstantLike(ValueId value) const {
    const NodeId producer = flow_.producer(value);
    return producer.valid() && classes_[producer.index()] == FusionClass::kCheap;
  }

  // A reduction's result runs on through single consumers of the same size that read nothing else but constants.
  void FollowEpilogue(NodeId reduce) {
    if (flow_.node(reduce).result_count != 1) {
      ends_[reduce.index()] = kEnd;
      return;
    }
    NodeId end = reduce;
    NodeId at = reduce;
    const int64_t bytes = flow_.ByteSize(flow_.result(reduce));
    after_dot_ = ir::Traits(flow_.node(reduce).kind).sort == OpSort::kContraction;
    for (;;) {
      const ValueId out = flow_.result(at);
      const auto& users = users_[out.index()];
      if (users.size() != 1 || (memory_use_[at.index()] && IsReturned(out))) break;
      const NodeId next = users[0];
      const FusionClass kind = classes_[next.index()];
      const bool continues = (kind == FusionClass::kElement || kind == FusionClass::kBitcast) &&
                             flow_.node(next).result_count == 1 && Elements(next) == Elements(at) &&
                             ReadsOnly(next, out);
      const bool transposes = flow_.node(next).kind == OpKind::kTranspose && !flow_.dots_take_producers;
      if (!continues || transposes || ends_[next.index()] != 0) break;
      if (flow_.dots_take_producers && !(after_dot_ ? ReadsMaterialized(next, out) : OnlyRounds(next))) break;
      at = next;
      // A wider copy of the result is left to its consumers.
      if (kind == FusionClass::kElement && flow_.ByteSize(flow_.result(at)) <= bytes) end = at;
    }
    for (at = reduce; at != end; at = users_[flow_.result(at).index()][0]) ends_[at.index()] = kInterior;
    ends_[end.index()] = kEnd;
  }

  // Another order or a narrower type of the same values.
  bool OnlyRounds(NodeId id) const {
    const Node& node = flow_.node(id);
    return ir::Traits(node.kind).sort == OpSort::kLayout || (node.kind == OpKind::kConvert && !Widens(node));
  }

  // Beside one value only what is in memory, or vectors broadcast over it.
  bool ReadsMaterialized(NodeId id, ValueId value) const {
    const auto& operands = flow_.node(id).operands;
    return std::all_of(operands.begin(), operands.end(), [&](ValueId o) {
      if (o == value || IsConstantLike(o) || IsMaterializedSource(o)) return true;
      while (flow_.producer(o).valid() && classes_[flow_.producer(o).index()] == FusionClass::kBitcast)
        o = flow_.node(flow_.producer(o)).operands[0];
      return IsMaterializedSource(o) || IsBroadcast(flow_.node(flow_.producer(o)));
    });
  }

  bool IsReturned(ValueId value) const {
    return std::find(flow_.outputs.begin(), flow_.outputs.end(), value) != flow_.outputs.end();
  }

  bool ReadsOnly(NodeId id, ValueId value) const {
    if (after_dot_) return true;
    const auto& operands = flow_.node(id).operands;
    return std::all_of(operands.begin(), operands.end(), [&](ValueId o) { return o == value || IsConstantLike(o); });
  }

  bool ReadsFromMemory(NodeId user, ValueId value) const {
    const auto& operands = flow_.node(user).operands;
    for (size_t i = 0; i < std::min<size_t>(operands.size(), 2); ++i) {
      if (operands[i] == value && IsReadFromMemory(flow_, flow_.node(user), i)) return true;
    }
    return false;
  }

  void CollectUses(NodeId id) {
    auto& mine = kernels_[id.index()];
    const Node& node = flow_.node(id);
    int64_t evaluations = Elements(id);
    for (uint32_t r = 0; r < node.result_count; ++r) {
      for (const NodeId user : users_[node.first_result.index() + r]) {
        const FusionClass kind = classes_[user.index()];
        if (kind == FusionClass::kUnfusible) {
          memory_use_[id.index()] = 1;
          continue;
        }
        if (kind == FusionClass::kBitcast && memory_use_[user.index()]) memory_use_[id.index()] = 1;
        if (ReadsFromMemory(user, flow_.result(id, r))) memory_use_[id.index()] = 1;
        feeds_concatenate_[id.index()] |= flow_.node(user).kind == OpKind::kConcatenate ||
                                          (kind == FusionClass::kBitcast && feeds_concatenate_[user.index()] != 0);
        if (kind == FusionClass::kReduce) {
          if (!IsDot(user)) evaluations = std::max(evaluations, WorkElements(flow_, user));
        } else if (flow_.node(user).kind != OpKind::kConcatenate && flow_.node(user).kind != OpKind::kPad) {
          evaluations = std::max(evaluations, evaluations_[user.index()]);
        }
        const auto& theirs = kernels_[user.index()];
        mine.insert(mine.end(), theirs.begin(), theirs.end());
      }
    }
    std::sort(mine.begin(), mine.end());
    mine.erase(std::unique(mine.begin(), mine.end()), mine.end());
    evaluations_[id.index()] = evaluations;
  }

  void Materialize(NodeId id, std::string_view reason) {
    plan_.materialized[id.index()] = 1;
    plan_.kernel[id.index()] = static_cast<uint32_t>(plan_.roots.size());
    plan_.roots.push_back({id});
    evaluations_[id.index()] = Elements(id);
    // A cheap node is materialized for those that read memory, and duplicated by everybody else.
    if (classes_[id.index()] != FusionClass::kCheap) kernels_[id.index()] = {plan_.kernel[id.index()]};
    Explain(id, reason);
  }

  void Explain(NodeId id, std::string_view reason) {
    if (!plan_.reasons.empty()) plan_.reasons[id.index()] = reason;
  }

  void Decide(NodeId id) {
    const FusionClass kind = classes_[id.index()];
    if (kind == FusionClass::kUnfusible || flow_.node(id).result_count == 0) return;
    CollectUses(id);
    if (kind == FusionClass::kBitcast) return;
    if (ends_[id.index()] == kInterior) return Explain(id, "part of a reduction's epilogue");
    const bool barrier = memory_use_[id.index()] != 0;
    if (context_.wrap_only && kind != FusionClass::kCheap) return Materialize(id, "stands alone");
    if (kind == FusionClass::kCheap) {
      if (barrier && flow_.node(id).kind != OpKind::kConstant)
        Materialize(id, "materialized: a consumer needs it in memory");
      return;
    }
    const size_t count = kernels_[id.index()].size();
    if (kind == FusionClass::kReduce || ends_[id.index()] == kEnd) {
      if (!barrier && count == 1 && !flow_.dots_take_producers && IsRowNorm(id))
        return Explain(id, "row statistics fused into the kernel that uses them");
      return Materialize(id, "materialized: a reduction's result is complete only when its kernel ends");
    }
    if (barrier) return Materialize(id, "materialized: a consumer needs it in memory, or it is returned");
    if (count == 0) return;
    if (flow_.dots_take_producers && FeedsBroadcast(id))
      return Materialize(id, "computed once, not for each element that it is broadcast to");
    if (count == 1 && evaluations_[id.index()] <= Elements(id) && !IsSlowConsumer(kernels_[id.index()][0]))
      return Explain(id, "fused into its only consumer");
    if (IsBroadcast(flow_.node(id))) return Explain(id, "duplicated: a broadcast reads less than it writes");
    if (Widens(flow_.node(id))) return Explain(id, "duplicated: a widening convert reads less than it writes");
    if (count > kKernelLimit) return Materialize(id, "materialized: too many consumers to duplicate it");
    if (count > 1 && behind_transpose_[flow_.result(id).index()] && !flow_.dots_take_producers)
      return Materialize(id, "materialized: it follows a transpose, which is slow to recompute");
    if (PaysToDuplicate(id))
      return Explain(id, "duplicated: cheaper to recompute in each consumer than to materialize");
    Materialize(id, "materialized: cheaper than to recompute in each consumer");
  }

  // On a TPU: read by a broadcast to more elements, or by a concatenation, which computes each part at full size (as
  // the larger of padded parts).
  bool FeedsBroadcast(NodeId id) const {
    const OpSort sort = ir::Traits(flow_.node(id).kind).sort;
    if (sort == OpSort::kLayout || sort == OpSort::kSlice || Elements(id) == 1) return false;
    return evaluations_[id.index()] > Elements(id) || feeds_concatenate_[id.index()] != 0;
  }

  bool Widens(const Node& node) const {
    return node.kind == OpKind::kConvert && flow_.ByteSize(node.first_result) > flow_.ByteSize(node.operands[0]);
  }

  // A reduction of so few results that its thread blocks cannot ask for all the memory's bandwidth.
  bool IsSlowConsumer(uint32_t kernel) const {
    return context_.target == Target::kGpu && ends_[plan_.roots[kernel][0].index()] == kEnd;
  }

  // Decided for all values together, between the two rounds.
  bool PaysToDuplicateOnGpu(NodeId id) {
    if (!materialized_before_.empty()) return !materialized_before_[id.index()];
    open_.push_back(id);
    return false;
  }

  // A TPU's kernels have no launch overhead: memory traffic counts, and little may be recomputed.
  bool PaysToDuplicateOnTpu(NodeId id) const {
    const ValueId out = flow_.result(id);
    if (instructions_[out.index()] > kDuplicationLimit * static_cast<double>(Elements(id))) return false;
    const auto k = static_cast<double>(kernels_[id.index()].size());
    return (k - 1) * sources_[out.index()].bytes() < kTie * (k + 1) * static_cast<double>(flow_.ByteSize(out));
  }

  // Whether computing a node in each of its consumers takes less time than storing it and loading it there.
  bool PaysToDuplicate(NodeId id) {
    return context_.target == Target::kGpu ? PaysToDuplicateOnGpu(id) : PaysToDuplicateOnTpu(id);
  }

  // A reduction of whole rows whose statistics only one kernel reads, which goes over the same rows (XLA's Triton
  // normalisation and softmax fusions).
  bool IsRowNorm(NodeId end) const {
    const NodeId root = plan_.roots[kernels_[end.index()][0]][0];
    NodeId reduce = end;
    while (classes_[reduce.index()] != FusionClass::kReduce) {
      const auto& operands = flow_.node(reduce).operands;
      const auto inner = std::find_if(operands.begin(), operands.end(), [&](ValueId o) { return !IsConstantLike(o); });
      if (inner == operands.end() || !flow_.producer(*inner).valid()) return false;
      reduce = flow_.producer(*inner);
    }
    const Node& node = flow_.node(reduce);
    if (node.kind != OpKind::kReduce || node.own_operand_count() != 2) return false;
    const auto dims = IntegersOf(flow_, node, "dimensions");
    const ir::Type& input = flow_.type(node.operands[0]);
    if (!dims || dims->size() != 1 || (*dims)[0] + 1 != static_cast<int64_t>(input.dims.size())) return false;
    return classes_[root.index()] == FusionClass::kElement && ends_[root.index()] == 0 &&
           Elements(root) == input.element_count() && Elements(reduce) <= kRowNormRows &&
           flow_.ByteSize(flow_.result(root)) <= kRowNormBytes && SharesSource(root, node.operands[0]);
  }

  bool SharesSource(NodeId root, ValueId input) const {
    const Sources& mine = sources_[flow_.result(root).index()];
    if (IsMaterializedSource(input)) return mine.Has(input);
    const Sources& theirs = sources_[input.index()];
    return theirs.count > 0 &&
           std::all_of(theirs.items.begin(), theirs.items.begin() + static_cast<ptrdiff_t>(theirs.count),
                       [&](const Source& item) { return mine.Has(item.value); });
  }

  const Dataflow& flow_;
  const PassContext& context_;
  UserTable users_;
  std::vector<FusionClass> classes_;
  std::vector<char> ends_;
  std::vector<double> instructions_;            // by value
  std::vector<Sources> sources_;                // by value
  std::vector<std::vector<uint32_t>> kernels_;  // by node: kernels that hold it
  std::vector<char> memory_use_;
  std::vector<char> behind_transpose_;   // by value: a transpose stands between memory and here
  std::vector<char> feeds_concatenate_;  // by node: a concatenation reads it
  std::vector<char> materialized_before_;
  std::vector<NodeId> open_;  // values that a GPU may compute in each consumer
  bool after_dot_ = false;    // the epilogue of a dot may read other data, too
  std::vector<int64_t> evaluations_;
  KernelPlan plan_;
};

}  // namespace

KernelPlan PlanKernels(const Dataflow& flow, const PassContext& context) { return Planner(flow, context).Run(); }

}  // namespace hespas::optimise
