#include "optimise/fusion/kernel_graph.h"

#include <algorithm>

#include "optimise/dataflow/build.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Units that a search for cycles visits, beyond which kernels stay apart: far, as long as all searches together have
// not looked at a few hundred for each unit, so that time grows with the program only.
constexpr size_t kSearchLimit = 4096;
constexpr size_t kShortSearch = 512;
constexpr size_t kLooksPerUnit = 256;
constexpr double kCostly = 4;      // instructions an element: more than additions and multiplications
constexpr size_t kReach = 16384;   // units between two kernels that may be fused
constexpr size_t kRootLimit = 12;  // results of one kernel
// Elements in a thread block's memory (XLA's SharedMemoryUsage).
constexpr int64_t kRowTile = 32;
constexpr int64_t kColumnTile = 4 * 32 * 33;

}  // namespace

NodeId KernelGraph::Kernel::SliceOf(ValueId value) const {
  NodeId found;
  for (const auto& [source, slice] : sliced) {
    if (source != value) continue;
    if (found.valid()) return {};
    found = slice;
  }
  return found;
}

KernelGraph::KernelGraph(const Dataflow& flow, const PassContext& context, KernelPlan& plan)
    : flow_(flow),
      context_(context),
      plan_(plan),
      kernels_(plan.roots.size()),
      position_(flow.node_count(), 0),
      members_(flow, plan),
      value_seen_(flow.value_count(), 0) {
  for (size_t i = 0; i < flow.order().size(); ++i) position_[flow.order()[i].index()] = i;
  for (uint32_t k = 0; k < kernels_.size(); ++k) Describe(k);
  merges_ = static_cast<uint32_t>(kernels_.size());
  LayOut();
}

void KernelGraph::Describe(uint32_t kernel) {
  Kernel& mine = kernels_[kernel];
  const NodeId root = plan_.roots[kernel][0];
  mine.slices = true;
  size_t ops = 0;
  const auto stamp = static_cast<uint32_t>(kernel + 1);
  for (const NodeId id : members_.Of(kernel)) {
    const Node& node = flow_.node(id);
    DescribeMember(mine, root, id);
    ops += plan_.classes[id.index()] != FusionClass::kBitcast && node.kind != OpKind::kConstant ? 1 : 0;
    for (size_t i = 0; i < node.operands.size(); ++i) {
      const ValueId operand = node.operands[i];
      const bool updated = IsReadFromMemory(flow_, node, i);
      if (value_seen_[operand.index()] == stamp || !(updated || IsInput(operand, kernel))) continue;
      value_seen_[operand.index()] = stamp;
      mine.inputs.push_back(operand);
      if (node.kind == OpKind::kSlice) mine.sliced.emplace_back(operand, id);
    }
  }
  if (plan_.classes[root.index()] == FusionClass::kCheap) mine.fusible = false;
  mine.alone = ops < 2;
  if (mine.dots) FindDotInputs(kernel);
  if (!flow_.dots_take_producers && mine.transposes) {
    mine.tiled_transpose = HeroTranspose(flow_, root, [&](ValueId value) { return !IsInput(value, kernel); });
    mine.ends_in_transpose = mine.tiled_transpose.has_value();
  }
  // Both come from one code generator, which makes nothing else.
  const bool row_norm =
      !flow_.dots_take_producers && mine.reduces && flow_.type(flow_.result(root)).element_count() == mine.elements;
  if (row_norm) mine.fusible = false;
}

void KernelGraph::DescribeMember(Kernel& kernel, NodeId root, NodeId id) {
  const Node& node = flow_.node(id);
  const FusionClass kind = plan_.classes[id.index()];
  const int64_t work = WorkElements(flow_, id);
  if (kind == FusionClass::kReduce || id == root) kernel.elements = std::max(kernel.elements, work);
  if (IsDot(id)) {
    kernel.dots = true;
  } else if (kind == FusionClass::kReduce) {
    kernel.reduces = true;
    kernel.hero = id;
    const bool rows = ReducesRows(flow_, node);
    const int64_t results = flow_.type(node.first_result).element_count();
    const int64_t element = std::max<int64_t>(1, ir::ElementBits(flow_.type(node.first_result).element) / 8);
    kernel.shared_bytes += (rows ? kRowTile : kColumnTile) * element;
    ++kernel.reductions;
    kernel.rows = kernel.rows || (rows && results > 1);
    if (!rows) kernel.columns = results;
  }
  const double weight = InstructionWeight(node.kind);
  kernel.costly = kernel.costly || weight > kCostly;
  kernel.instructions += weight * static_cast<double>(work);
  if (node.kind == OpKind::kTranspose && EndsIn(root, id)) {
    kernel.ends_in_transpose = true;
    kernel.hero = id;
  }
  kernel.transposes = kernel.transposes || node.kind == OpKind::kTranspose;
  kernel.slices = kernel.slices && (kind == FusionClass::kBitcast || node.kind == OpKind::kSlice);
  const bool moves = kind == FusionClass::kReduce && node.kind == OpKind::kReshape;
  const bool updates = ir::Traits(node.kind).sort == ir::OpSort::kScatter || node.kind == OpKind::kDynamicUpdateSlice;
  const bool concatenates = node.kind == OpKind::kConcatenate && EndsIn(root, id);
  if (moves || updates || concatenates) kernel.fusible = false;
}

// What a kernel reads for its dot's operands, rather than for what follows the dot.
void KernelGraph::FindDotInputs(uint32_t kernel) {
  std::unordered_set<NodeId> feeds;
  const std::vector<NodeId>& members = members_.Of(kernel);
  for (size_t i = members.size(); i-- > 0;) {
    if (!IsDot(members[i]) && !feeds.contains(members[i])) continue;
    for (const ValueId operand : flow_.node(members[i]).operands) {
      if (IsInput(operand, kernel)) kernels_[kernel].dot_inputs.insert(operand);
      if (flow_.producer(operand).valid()) feeds.insert(flow_.producer(operand));
    }
  }
}

// Whether a node's result is the root's, up to elementwise changes of it alone.
bool KernelGraph::EndsIn(NodeId root, NodeId id) const {
  for (int step = 0; step < 8 && root != id; ++step) {
    const Node& node = flow_.node(root);
    if (node.operands.size() != 1 || !flow_.producer(node.operands[0]).valid()) return false;
    root = flow_.producer(node.operands[0]);
  }
  return root == id;
}

bool KernelGraph::IsInput(ValueId value, uint32_t kernel) const {
  const NodeId producer = flow_.producer(value);
  if (!producer.valid()) return true;
  if (plan_.materialized[producer.index()]) return plan_.kernel[producer.index()] != kernel;
  return plan_.classes[producer.index()] == FusionClass::kUnfusible;
}

bool KernelGraph::Reads(uint32_t consumer, uint32_t writer) const {
  const auto& inputs = kernels_[consumer].inputs;
  return std::any_of(inputs.begin(), inputs.end(), [&](ValueId value) { return KernelOf(value) == writer; });
}

void KernelGraph::DropInnerRoots() {
  std::vector<char> outside(flow_.node_count(), 0);
  for (const ValueId out : flow_.outputs) {
    if (flow_.producer(out).valid()) outside[flow_.producer(out).index()] = 1;
  }
  for (size_t i = flow_.order().size(); i-- > 0;) {
    const NodeId id = flow_.order()[i];
    const FusionClass kind = plan_.classes[id.index()];
    for (const ValueId operand : flow_.node(id).operands) {
      const NodeId producer = flow_.producer(operand);
      if (!producer.valid()) continue;
      const bool free = kind == FusionClass::kUnfusible || (kind == FusionClass::kBitcast && outside[id.index()]);
      if (free) outside[producer.index()] = 1;
    }
  }
  for (uint32_t k = 0; k < kernels_.size(); ++k) {
    for (const ValueId value : kernels_[k].inputs) {
      if (flow_.producer(value).valid() && KernelOf(value) != k) outside[flow_.producer(value).index()] = 1;
    }
  }
  for (auto& roots : plan_.roots) {
    if (roots.size() < 2) continue;
    std::vector<NodeId> kept;
    for (const NodeId root : roots) {
      if (outside[root.index()]) {
        kept.push_back(root);
      } else {
        plan_.materialized[root.index()] = 0;
      }
    }
    roots = std::move(kept);
  }
}

std::vector<KernelGraph::Shared> KernelGraph::SharedValues() const {
  std::vector<Shared> shared;
  std::vector<size_t> at(flow_.value_count(), SIZE_MAX);
  for (uint32_t k = 0; k < kernels_.size(); ++k) {
    if (plan_.roots[k].empty()) continue;
    for (const ValueId value : kernels_[k].inputs) {
      if (flow_.type(value).element_count() == 1 || kernels_[k].dot_inputs.contains(value)) continue;
      if (at[value.index()] == SIZE_MAX) {
        at[value.index()] = shared.size();
        shared.push_back({value, {}});
      }
      shared[at[value.index()]].consumers.push_back(k);
    }
  }
  const auto place = [&](const Shared& value) {
    return flow_.producer(value.value).valid() ? position_[flow_.producer(value.value).index()] + 1 : 0;
  };
  std::stable_sort(shared.begin(), shared.end(), [&](const Shared& a, const Shared& b) { return place(a) > place(b); });
  return shared;
}

void KernelGraph::SortConsumers(std::vector<uint32_t>& consumers) const {
  const auto place = [&](uint32_t kernel) { return units_.place(Now(kernel)); };
  std::sort(consumers.begin(), consumers.end(), [&](uint32_t a, uint32_t b) { return place(a) < place(b); });
}

bool KernelGraph::MayFuse(uint32_t a, uint32_t b) const {
  const Kernel& x = kernels_[a];
  const Kernel& y = kernels_[b];
  if (a == b || !x.fusible || !y.fusible || x.elements != y.elements || x.slices != y.slices) return false;
  if ((x.ends_in_transpose && y.reduces) || (x.reduces && y.ends_in_transpose)) return false;
  return plan_.roots[a].size() + plan_.roots[b].size() <= kRootLimit;
}

uint32_t KernelGraph::TryMerge(uint32_t a, uint32_t b) {
  if (units_.place(b) < units_.place(a)) std::swap(a, b);
  if (units_.place(b) - units_.place(a) > kReach * UnitOrder::kSpacing) return KernelPlan::kNone;
  if (!FindNeeded(a, b)) return KernelPlan::kNone;
  MoveUp(a, b);
  Merge(a, b);
  return a;
}

// The units - kernels, and barriers on their own - stand in an order in which each comes after what it needs.
void KernelGraph::LayOut() {
  const size_t count = plan_.roots.size() + flow_.node_count();
  units_ = UnitOrder(count);
  for (const NodeId id : flow_.order()) {
    if (IsUnit(id)) units_.Append(UnitOf(id));
  }
  needed_.assign(count, 0);
}

bool KernelGraph::IsUnit(NodeId id) const {
  return plan_.materialized[id.index()] != 0 || plan_.classes[id.index()] == FusionClass::kUnfusible;
}

// Kernels come first, then nodes.
uint32_t KernelGraph::UnitOf(NodeId id) const {
  return plan_.materialized[id.index()] ? plan_.kernel[id.index()]
                                        : static_cast<uint32_t>(plan_.roots.size() + id.index());
}

// Marks the units after `a` that `b` needs; false where `b` needs `a` by way of one of them, or the search grows
// large.
bool KernelGraph::FindNeeded(uint32_t a, uint32_t b) {
  const uint64_t floor = units_.place(a);
  const size_t limit = looks_ < kLooksPerUnit * needed_.size() ? kSearchLimit : kShortSearch;
  ++search_;
  found_.clear();
  work_list_.clear();
  bool cycle = false;
  const auto need = [&](ValueId value) {
    const NodeId id = flow_.producer(value);
    if (!id.valid()) return;
    if (!IsUnit(id)) return work_list_.push_back(id);
    const uint32_t unit = UnitOf(id);
    cycle = cycle || unit == a;
    if (needed_[unit] == search_ || units_.place(unit) < floor) return;
    needed_[unit] = search_;
    found_.push_back(unit);
    work_list_.push_back(id);
  };
  for (const ValueId value : kernels_[b].inputs) {
    if (KernelOf(value) != a) {
      need(value);
    } else if (flow_.type(value).element_count() != kernels_[a].elements || !IsElementwise(flow_.producer(value))) {
      return false;  // a reduction's result exists only when its kernel ends
    } else if (kernels_[b].dot_inputs.contains(value)) {
      return false;
    }
  }
  while (!work_list_.empty() && !cycle && found_.size() <= limit) {
    const NodeId id = work_list_.back();
    work_list_.pop_back();
    const bool materialized = plan_.materialized[id.index()] != 0;
    for (const ValueId value : materialized ? kernels_[plan_.kernel[id.index()]].inputs : flow_.node(id).operands)
      need(value);
  }
  looks_ += found_.size();
  return !cycle && found_.size() <= limit;
}

// What `b` needs moves in front of `a`, so that both can stand at one place.
void KernelGraph::MoveUp(uint32_t a, uint32_t b) {
  std::sort(found_.begin(), found_.end(), [&](uint32_t x, uint32_t y) { return units_.place(x) < units_.place(y); });
  units_.MoveBefore(found_, a);
  units_.Remove(b);
}

void KernelGraph::Merge(uint32_t a, uint32_t b) {
  for (const NodeId root : plan_.roots[b]) {
    plan_.kernel[root.index()] = a;
    plan_.roots[a].push_back(root);
  }
  plan_.roots[b].clear();
  std::sort(plan_.roots[a].begin(), plan_.roots[a].end(),
            [&](NodeId x, NodeId y) { return position_[x.index()] < position_[y.index()]; });
  Kernel& to = kernels_[a];
  Kernel& from = kernels_[b];
  from.merged_into = a;
  to.alone = false;
  std::vector<ValueId> inputs;
  ++merges_;
  for (const Kernel* kernel : {&to, &from}) {
    for (const ValueId value : kernel->inputs) {
      if (KernelOf(value) == a || value_seen_[value.index()] == merges_) continue;
      value_seen_[value.index()] = merges_;
      inputs.push_back(value);
    }
  }
  to.inputs = std::move(inputs);
  from.inputs.clear();
  to.reduces = to.reduces || from.reduces;
  to.dots = to.dots || from.dots;
  to.dot_inputs.merge(from.dot_inputs);
  to.rows = to.rows || from.rows;
  to.columns = std::max(to.columns, from.columns);
  to.ends_in_transpose = to.ends_in_transpose || from.ends_in_transpose;
  to.transposes = to.transposes || from.transposes;
  to.sliced.insert(to.sliced.end(), from.sliced.begin(), from.sliced.end());
  if (!to.hero.valid()) to.hero = from.hero;
  if (!to.tiled_transpose) to.tiled_transpose = from.tiled_transpose;
  to.shared_bytes += from.shared_bytes;
  to.reductions += from.reductions;
}

}  // namespace hespas::optimise
