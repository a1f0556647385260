// Multi-output fusion: kernels that read the same data, or of which one reads what the other stores, become one.
#include <algorithm>
#include <unordered_set>

#include "optimise/build.h"
#include "optimise/decisions.h"
#include "optimise/kernels.h"
#include "optimise/unit_order.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr size_t kSearchLimit = 512;     // kernels looked at to exclude a cycle; beyond it they stay apart
constexpr size_t kReach = 4096;          // units between two kernels that may be joined
constexpr size_t kSiblings = 6;          // readers of a value that are looked at together
constexpr int64_t kSmallSource = 16384;  // bytes
constexpr size_t kRootLimit = 12;        // results of one kernel
constexpr double kFollowLimit = 25;      // instructions an element that may follow a TPU's dot in its kernel

class Joiner {
 public:
  Joiner(const Dataflow& flow, const PassContext& context, KernelPlan& plan)
      : flow_(flow),
        context_(context),
        plan_(plan),
        position_(flow.node_count(), 0),
        readers_(flow.wire_count()),
        work_(flow.node_count()),
        members_(flow, plan),
        wire_seen_(flow.wire_count(), 0) {
    for (size_t i = 0; i < flow.order().size(); ++i) position_[flow.order()[i].index()] = i;
    const size_t count = plan.roots.size();
    inputs_.resize(count);
    elements_.resize(count);
    joinable_.resize(count);
    reduces_.assign(count, 0);
    turns_.assign(count, 0);
    slices_.assign(count, 0);
    columns_.assign(count, 0);
    batched_.assign(count, 0);
    costly_.assign(count, 0);
    dots_.assign(count, 0);
    rows_.assign(count, 0);
    dot_inputs_.resize(count);
    joined_into_.assign(count, KernelPlan::kNone);
    for (uint32_t k = 0; k < count; ++k) {
      Describe(k);
      for (const WireId wire : inputs_[k]) readers_[wire.index()].push_back(k);
    }
    joins_ = static_cast<uint32_t>(count);
    LayOut();
  }

  void Run() {
    if (flow_.dots_take_producers) {
      RunOnTpu();
    } else {
      // Where floats are normalised, converts of a value stand behind its other readers.
      if (context_.bf16_capability < 90) JoinWithReaders(Readers::kTurning);
      JoinWithReaders(Readers::kAll);
      JoinSiblings(false);
      JoinSiblings(true);
    }
    DropInnerRoots();
  }

 private:
  struct Work {
    double bytes = 0;  // read
    double instructions = 0;
  };

  enum class Readers : uint8_t { kAll, kTurning, kReducingRows };

  // Reductions of rows join the dots that they read before those of columns do, with which they cannot share a kernel;
  // what was in the way of a reader may be in the same kernel in the end.
  void RunOnTpu() {
    JoinWithReaders(Readers::kReducingRows);
    JoinWithReaders(Readers::kAll);
    JoinSiblings(false);
    JoinWithReaders(Readers::kAll);
  }

  void Describe(uint32_t kernel) {
    const NodeId root = plan_.roots[kernel][0];
    elements_[kernel] = 0;
    joinable_[kernel] = 1;
    const auto stamp = static_cast<uint32_t>(kernel + 1);
    bool has_concatenate = false;
    bool only_slices = true;
    for (const NodeId id : members_.Of(kernel)) {
      const Node& node = flow_.node(id);
      const FusionClass kind = plan_.classes[id.index()];
      if (kind == FusionClass::kReduce || id == root)
        elements_[kernel] = std::max(elements_[kernel], WorkElements(flow_, id));
      if (IsDot(id)) {
        dots_[kernel] = 1;
      } else if (kind == FusionClass::kReduce) {
        reduces_[kernel] = 1;
        rows_[kernel] |= ReducesRows(flow_, node) && flow_.type(node.first_result).element_count() > 1;
        if (!ReducesRows(flow_, node)) {
          const auto& dims = flow_.type(node.first_result).dims;
          columns_[kernel] = flow_.type(node.first_result).element_count();
          batched_[kernel] = std::count_if(dims.begin(), dims.end(), [](int64_t d) { return d > 1; }) > 1;
        }
      }
      if (InstructionWeight(node.kind) > 4) costly_[kernel] = 1;
      work_[root.index()].instructions += InstructionWeight(node.kind) * static_cast<double>(WorkElements(flow_, id));
      if (node.kind == OpKind::kTranspose && EndsIn(root, id)) turns_[kernel] = 1;
      only_slices = only_slices && (kind == FusionClass::kView || node.kind == OpKind::kSlice);
      const bool moves = kind == FusionClass::kReduce && node.kind == OpKind::kReshape;
      if (moves || ir::Traits(node.kind).sort == ir::OpSort::kScatter || node.kind == OpKind::kDynamicUpdateSlice)
        joinable_[kernel] = 0;
      if (plan_.classes[root.index()] == FusionClass::kCheap) joinable_[kernel] = 0;
      has_concatenate = has_concatenate || (node.kind == OpKind::kConcatenate && EndsIn(root, id));
      for (const WireId operand : node.operands) {
        const bool updated = IsReadFromMemory(flow_, node, static_cast<size_t>(&operand - node.operands.data()));
        if (wire_seen_[operand.index()] == stamp || !(updated || IsInput(operand, kernel))) continue;
        wire_seen_[operand.index()] = stamp;
        inputs_[kernel].push_back(operand);
        work_[root.index()].bytes += static_cast<double>(flow_.ByteSize(operand));
      }
    }
    slices_[kernel] = only_slices;
    if (dots_[kernel]) FindDotInputs(kernel);
    const bool row_norm = !flow_.dots_take_producers && reduces_[kernel] &&
                          flow_.type(flow_.result(root)).element_count() == elements_[kernel];
    if (has_concatenate || row_norm) joinable_[kernel] = 0;
  }

  // What a kernel reads for its dot's operands, rather than for what follows the dot.
  void FindDotInputs(uint32_t kernel) {
    std::unordered_set<NodeId> feeds;
    const std::vector<NodeId>& members = members_.Of(kernel);
    for (size_t i = members.size(); i-- > 0;) {
      if (!IsDot(members[i]) && !feeds.contains(members[i])) continue;
      for (const WireId operand : flow_.node(members[i]).operands) {
        if (IsInput(operand, kernel)) dot_inputs_[kernel].insert(operand);
        if (flow_.maker(operand).valid()) feeds.insert(flow_.maker(operand));
      }
    }
  }

  // Whether a node's result is the root's, up to elementwise changes of it alone.
  bool EndsIn(NodeId root, NodeId id) const {
    for (int step = 0; step < 8 && root != id; ++step) {
      const Node& node = flow_.node(root);
      if (node.operands.size() != 1 || !flow_.maker(node.operands[0]).valid()) return false;
      root = flow_.maker(node.operands[0]);
    }
    return root == id;
  }

  bool IsInput(WireId wire, uint32_t kernel) const {
    const NodeId maker = flow_.maker(wire);
    if (!maker.valid()) return true;
    if (plan_.stored[maker.index()]) return plan_.kernel[maker.index()] != kernel;
    return plan_.classes[maker.index()] == FusionClass::kBarrier;
  }

  uint32_t KernelOf(WireId wire) const {
    const NodeId maker = flow_.maker(wire);
    return maker.valid() ? plan_.kernel[maker.index()] : KernelPlan::kNone;
  }

  // A stored result with a reader of the same size: the reader can store it along the way.
  void JoinWithReaders(Readers which) {
    for (const NodeId id : flow_.order()) {
      if (!plan_.stored[id.index()]) continue;
      uint32_t reader = plan_.kernel[id.index()];
      if (which == Readers::kTurning && !turns_[reader]) continue;
      if (which == Readers::kReducingRows && !rows_[reader]) continue;
      for (const WireId wire : std::vector<WireId>(inputs_[reader])) {
        reader = Now(reader);
        const uint32_t writer = KernelOf(wire);
        if (writer == KernelPlan::kNone || !IsElementwise(flow_.maker(wire)) || writer == reader) continue;
        if (IsSmall(wire) && flow_.type(wire).element_count() != 1) continue;
        if (dot_inputs_[reader].contains(wire)) continue;
        if (PaysToJoin(wire, reader)) TryJoin(writer, reader);
      }
    }
  }

  // XLA counts a producer's work once for each result of the kernel that reads it: where several readers would share
  // one kernel, work that takes longer than the value's way through memory stays in a kernel of its own.
  bool PaysToJoin(WireId wire, uint32_t reader) {
    if (flow_.dots_take_producers) return true;
    const Work& work = work_[flow_.maker(wire).index()];
    const auto bytes = static_cast<double>(flow_.ByteSize(wire));
    const auto& readers = readers_[wire.index()];
    const auto pays = [&](size_t uses) {
      Question question{QuestionKind::kJoin, {work.bytes, work.instructions, bytes, static_cast<double>(uses)}};
      if (context_.decisions == nullptr) return Answer(question, context_.gpu, *context_.cost);
      return context_.decisions->Ask(std::move(question), context_.gpu, *context_.cost);
    };
    if (pays(std::min(readers.size(), kSiblings))) return true;
    size_t uses = 1;
    for (size_t i = 0; i < std::min(readers.size(), kSiblings); ++i) {
      const uint32_t k = Now(readers[i]);
      if (k != reader && MayShare(k, reader) && !pays(++uses)) return false;
    }
    return true;
  }

  // Whether two kernels are siblings that would become one.
  bool MayShare(uint32_t a, uint32_t b) {
    if (!joinable_[a] || elements_[a] != elements_[b] || slices_[a] != slices_[b]) return false;
    if (columns_[a] != columns_[b]) return false;
    return units_.place(a) < units_.place(b) ? FindNeeded(a, b) : FindNeeded(b, a);
  }

  // Results that come one by one while the kernel runs; a dot's do, too, where a kernel may go on with them.
  bool IsElementwise(NodeId id) const { return plan_.classes[id.index()] == FusionClass::kElement || IsDot(id); }

  bool IsDot(NodeId id) const { return ir::Traits(flow_.node(id).kind).sort == ir::OpSort::kContraction; }

  // Readers of large data first; what reads the same vector joins where it is left over. Sharing a scalar saves
  // nothing.
  void JoinSiblings(bool small) {
    std::vector<std::vector<uint32_t>> readers(flow_.wire_count());
    std::vector<WireId> sources;
    for (uint32_t k = 0; k < inputs_.size(); ++k) {
      if (plan_.roots[k].empty()) continue;
      for (const WireId wire : inputs_[k]) {
        if (IsSmall(wire) != small || flow_.type(wire).element_count() == 1 || dot_inputs_[k].contains(wire)) continue;
        if (readers[wire.index()].empty()) sources.push_back(wire);
        readers[wire.index()].push_back(k);
      }
    }
    // From the end of the program to its start, as XLA goes over producers; a parameter stands before its first reader.
    std::stable_sort(sources.begin(), sources.end(), [&](WireId a, WireId b) { return PlaceOf(a) > PlaceOf(b); });
    for (const WireId wire : sources) {
      auto& list = readers[wire.index()];
      std::sort(list.begin(), list.end(), [&](uint32_t a, uint32_t b) { return Head(a) < Head(b); });
      if (flow_.dots_take_producers) std::reverse(list.begin(), list.end());
      for (size_t i = 0; i + 1 < list.size(); ++i) {
        for (size_t j = i + 1; j < std::min(list.size(), i + kSiblings); ++j) {
          const uint32_t a = Now(list[i]);
          const uint32_t b = Now(list[j]);
          if (!small || (!Reads(a, b) && !Reads(b, a))) TryJoin(a, b);
        }
      }
    }
  }

  size_t PlaceOf(WireId wire) const {
    const NodeId maker = flow_.maker(wire);
    return maker.valid() ? position_[maker.index()] + 1 : 0;
  }
  // A vector that is worth less than a kernel's launch; a TPU launches none.
  bool IsSmall(WireId wire) const { return flow_.ByteSize(wire) <= kSmallSource && !flow_.dots_take_producers; }

  bool Reads(uint32_t reader, uint32_t writer) const {
    return std::any_of(inputs_[reader].begin(), inputs_[reader].end(),
                       [&](WireId wire) { return KernelOf(wire) == writer; });
  }

  // A value that only its own kernel reads need not be stored.
  void DropInnerRoots() {
    std::vector<char> outside(flow_.node_count(), 0);
    for (const WireId out : flow_.outputs) {
      if (flow_.maker(out).valid()) outside[flow_.maker(out).index()] = 1;
    }
    for (size_t i = flow_.order().size(); i-- > 0;) {
      const NodeId id = flow_.order()[i];
      const FusionClass kind = plan_.classes[id.index()];
      for (const WireId operand : flow_.node(id).operands) {
        const NodeId maker = flow_.maker(operand);
        if (!maker.valid()) continue;
        const bool free = kind == FusionClass::kBarrier || (kind == FusionClass::kView && outside[id.index()]);
        if (free) outside[maker.index()] = 1;
      }
    }
    for (uint32_t k = 0; k < inputs_.size(); ++k) {
      for (const WireId wire : inputs_[k]) {
        if (flow_.maker(wire).valid() && KernelOf(wire) != k) outside[flow_.maker(wire).index()] = 1;
      }
    }
    for (auto& roots : plan_.roots) {
      if (roots.size() < 2) continue;
      std::vector<NodeId> kept;
      for (const NodeId root : roots) {
        if (outside[root.index()]) {
          kept.push_back(root);
        } else {
          plan_.stored[root.index()] = 0;
        }
      }
      roots = std::move(kept);
    }
  }

  uint64_t Head(uint32_t kernel) const { return units_.place(Now(kernel)); }

  uint32_t Now(uint32_t kernel) const {
    while (plan_.roots[kernel].empty()) kernel = joined_into_[kernel];
    return kernel;
  }

  void TryJoin(uint32_t a, uint32_t b) {
    if (a == b || !joinable_[a] || !joinable_[b] || elements_[a] != elements_[b]) return;
    if (dots_[a] && dots_[b]) return;
    if (flow_.dots_take_producers ? !AgreeOnTpu(a, b) : !ColumnsAgree(a, b)) return;
    if (slices_[a] != slices_[b] || (turns_[a] && reduces_[b]) || (reduces_[a] && turns_[b])) return;
    if (plan_.roots[a].size() + plan_.roots[b].size() > kRootLimit) return;
    if (units_.place(b) < units_.place(a)) std::swap(a, b);
    if (units_.place(b) - units_.place(a) > kReach * UnitOrder::kSpacing) return;
    if (!FindNeeded(a, b)) return;
    MoveUp(a, b);
    Join(a, b);
  }

  // A TPU's kernel reduces rows or columns, rows only where it holds a dot or nothing else; a dot goes on with little
  // work.
  bool AgreeOnTpu(uint32_t a, uint32_t b) const {
    if ((rows_[a] && columns_[b] > 0) || (rows_[b] && columns_[a] > 0)) return false;
    if (!dots_[a] && !dots_[b]) return rows_[a] == rows_[b];
    const Work& follows = work_[plan_.roots[dots_[a] ? b : a][0].index()];
    return follows.instructions <= kFollowLimit * static_cast<double>(elements_[a]);
  }

  // Column reductions go together where little is computed for them, and with nothing else - but for batches of them
  // that join the kernel whose result they read, where no other reader comes first.
  bool ColumnsAgree(uint32_t a, uint32_t b) const {
    const bool one = (columns_[a] == 0) != (columns_[b] == 0);
    const uint32_t reducing = columns_[a] > 0 ? a : b;
    if (context_.bf16_capability >= 90 && one && batched_[reducing] && (Reads(a, b) || Reads(b, a))) return true;
    return columns_[a] == columns_[b] && (columns_[a] == 0 || (!costly_[a] && !costly_[b]));
  }

  // The units - kernels, and barriers on their own - stand in an order in which each comes after what it needs.
  void LayOut() {
    const size_t count = plan_.roots.size() + flow_.node_count();
    units_ = UnitOrder(count);
    for (const NodeId id : flow_.order()) {
      if (IsUnit(id)) units_.Append(UnitOf(id));
    }
    needed_.assign(count, 0);
  }

  bool IsUnit(NodeId id) const {
    return plan_.stored[id.index()] != 0 || plan_.classes[id.index()] == FusionClass::kBarrier;
  }
  // Kernels come first, then nodes.
  uint32_t UnitOf(NodeId id) const {
    return plan_.stored[id.index()] ? plan_.kernel[id.index()] : static_cast<uint32_t>(plan_.roots.size() + id.index());
  }

  // Marks the units after `a` that `b` needs; false where `b` needs `a` by way of one of them, or the search grows
  // large.
  bool FindNeeded(uint32_t a, uint32_t b) {
    const uint64_t floor = units_.place(a);
    ++search_;
    found_.clear();
    work_list_.clear();
    bool circle = false;
    const auto need = [&](WireId wire) {
      const NodeId id = flow_.maker(wire);
      if (!id.valid()) return;
      if (!IsUnit(id)) return work_list_.push_back(id);
      const uint32_t unit = UnitOf(id);
      circle = circle || unit == a;
      if (needed_[unit] == search_ || units_.place(unit) < floor) return;
      needed_[unit] = search_;
      found_.push_back(unit);
      work_list_.push_back(id);
    };
    for (const WireId wire : inputs_[b]) {
      if (KernelOf(wire) != a) {
        need(wire);
      } else if (flow_.type(wire).element_count() != elements_[a] || !IsElementwise(flow_.maker(wire))) {
        return false;  // a reduction's result exists only when its kernel ends
      } else if (dot_inputs_[b].contains(wire)) {
        return false;
      }
    }
    while (!work_list_.empty() && !circle && found_.size() <= kSearchLimit) {
      const NodeId id = work_list_.back();
      work_list_.pop_back();
      for (const WireId wire : plan_.stored[id.index()] ? inputs_[plan_.kernel[id.index()]] : flow_.node(id).operands)
        need(wire);
    }
    return !circle && found_.size() <= kSearchLimit;
  }

  // What `b` needs moves in front of `a`, so that both can stand at one place.
  void MoveUp(uint32_t a, uint32_t b) {
    std::sort(found_.begin(), found_.end(), [&](uint32_t x, uint32_t y) { return units_.place(x) < units_.place(y); });
    units_.MoveBefore(found_, a);
    units_.Remove(b);
  }

  void Join(uint32_t a, uint32_t b) {
    for (const NodeId root : plan_.roots[b]) {
      plan_.kernel[root.index()] = a;
      plan_.roots[a].push_back(root);
    }
    plan_.roots[b].clear();
    joined_into_[b] = a;
    std::sort(plan_.roots[a].begin(), plan_.roots[a].end(),
              [&](NodeId x, NodeId y) { return position_[x.index()] < position_[y.index()]; });
    std::vector<WireId> inputs;
    ++joins_;
    for (const uint32_t k : {a, b}) {
      for (const WireId wire : inputs_[k]) {
        if (KernelOf(wire) == a || wire_seen_[wire.index()] == joins_) continue;
        wire_seen_[wire.index()] = joins_;
        inputs.push_back(wire);
      }
    }
    inputs_[a] = std::move(inputs);
    inputs_[b].clear();
    reduces_[a] = reduces_[a] || reduces_[b];
    dots_[a] = dots_[a] || dots_[b];
    dot_inputs_[a].merge(dot_inputs_[b]);
    rows_[a] |= rows_[b];
    columns_[a] = std::max(columns_[a], columns_[b]);
    turns_[a] = turns_[a] || turns_[b];
  }

  const Dataflow& flow_;
  const PassContext& context_;
  KernelPlan& plan_;
  std::vector<size_t> position_;
  std::vector<std::vector<uint32_t>> readers_;  // by wire: kernels that read it, before any was joined
  std::vector<std::vector<WireId>> inputs_;     // by kernel: stored values it reads
  std::vector<Work> work_;                      // by root: what computing it alone takes
  Members members_;
  std::vector<uint32_t> wire_seen_;  // by wire: the kernel, later the join, that last came by
  uint32_t joins_ = 0;
  std::vector<int64_t> elements_;
  std::vector<char> joinable_;
  std::vector<char> reduces_;
  std::vector<char> turns_;       // ends in a transpose
  std::vector<int64_t> columns_;  // results of its column reductions
  std::vector<char> batched_;     // which are of several matrices
  std::vector<char> dots_;
  std::vector<char> rows_;  // reduces rows, to more than one value
  std::vector<std::unordered_set<WireId>> dot_inputs_;
  std::vector<char> costly_;  // computes more than sums and products
  std::vector<char> slices_;  // does nothing but slice
  std::vector<uint32_t> joined_into_;
  UnitOrder units_;
  std::vector<uint32_t> needed_;  // by unit: the search that last came by
  std::vector<uint32_t> found_;   // by the last search
  uint32_t search_ = 0;
  std::vector<NodeId> work_list_;
};

}  // namespace

bool Members::Belongs(NodeId id, uint32_t kernel) const {
  const FusionClass kind = plan_.classes[id.index()];
  if (kind == FusionClass::kBarrier) return false;
  return kind == FusionClass::kCheap || !plan_.stored[id.index()] || plan_.kernel[id.index()] == kernel;
}

const std::vector<NodeId>& Members::Of(uint32_t kernel) {
  ++call_;
  found_.clear();
  const auto enter = [&](NodeId id) {
    if (seen_[id.index()] == call_) return;
    seen_[id.index()] = call_;
    stack_.emplace_back(id, 0);
  };
  for (const NodeId root : plan_.roots[kernel]) {
    enter(root);
    while (!stack_.empty()) {
      auto& [id, next] = stack_.back();
      const auto& operands = flow_.node(id).operands;
      if (next == operands.size()) {
        found_.push_back(id);
        stack_.pop_back();
        continue;
      }
      const bool outside = IsReadFromMemory(flow_, flow_.node(id), next);
      const NodeId maker = flow_.maker(operands[next++]);
      if (maker.valid() && !outside && Belongs(maker, kernel)) enter(maker);
    }
  }
  return found_;
}

void JoinKernels(const Dataflow& flow, const PassContext& context, KernelPlan& plan) {
  Joiner(flow, context, plan).Run();
}

}  // namespace hespas::optimise
