#include "optimise/gpu/kernel_use.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/units.h"
#include "optimise/dataflow/build.h"
#include "optimise/fusion/policy.h"
#include "optimise/gpu/kernel_time.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr size_t kUsual = 8;  // roots or reads of a kernel

double TimesOf(const std::vector<double>& root_times, uint64_t roots) {
  double sum = 0;
  for (; roots != 0; roots &= roots - 1) sum += root_times[static_cast<size_t>(std::countr_zero(roots))];
  return sum;
}

// How often an op that is not elementwise asks for a whole operand, to make its result once.
double TimesOfOperand(const Dataflow& flow, const Node& node, ValueId operand) {
  const auto size = static_cast<double>(std::max<int64_t>(1, flow.type(operand).element_count()));
  const auto made = static_cast<double>(flow.type(node.first_result).element_count());
  switch (ir::Traits(node.kind).sort) {
    case OpSort::kSlice:
    case OpSort::kGather:
      return made / size;
    default:
      return node.kind == OpKind::kBroadcastInDim || node.kind == OpKind::kBroadcast ? made / size : 1;
  }
}

// Elements of the innermost run of dimensions that a reduction reduces, or does not.
int64_t InnermostRun(const Dataflow& flow, const Node& reduce, bool reduces) {
  const auto reduced = IntegersOf(flow, reduce, "dimensions");
  const Dimensions& dims = flow.type(reduce.operands[0]).dims;
  int64_t elements = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    const bool in_run =
        (reduced && std::find(reduced->begin(), reduced->end(), static_cast<int64_t>(d)) != reduced->end()) == reduces;
    if (!in_run && dims[d] != 1) break;
    elements = internal::SaturatingMultiply(elements, dims[d]);
  }
  return elements;
}

// Thread blocks of a kernel that reduces rows.
double BlocksOfRows(const Dataflow& flow, const Node& reduce) {
  const auto results = static_cast<double>(flow.type(reduce.first_result).element_count());
  const int64_t row = InnermostRun(flow, reduce, true);
  const int64_t warps =
      (row + gpu_rules::kWarp * gpu_rules::kElementsOfThread - 1) / (gpu_rules::kWarp * gpu_rules::kElementsOfThread);
  const int64_t threads = std::clamp(warps * gpu_rules::kWarp, gpu_rules::kWarp, gpu_rules::kThreadsLimit);
  return std::ceil(results / static_cast<double>(std::max<int64_t>(1, gpu_rules::kThreadsOfBlock / threads)));
}

double Narrowest(std::span<const KernelUse::Read> reads, ValueId but) {
  double narrowest = gpu_rules::kWideElement;
  for (const KernelUse::Read& read : reads) {
    if (read.value != but) narrowest = std::min(narrowest, read.element);
  }
  return narrowest;
}

}  // namespace

double BlocksOfColumns(int64_t columns, double narrowest) {
  int64_t vector = 1;
  if (columns % 2 == 0 && columns >= gpu_rules::kColumnsOfThread * gpu_rules::kWarp)
    vector = gpu_rules::kColumnsOfThread;
  const bool is_wide = columns % 4 == 0 && columns >= gpu_rules::kNarrowColumnsOfThread * gpu_rules::kWarp;
  if (narrowest < gpu_rules::kWideElement && is_wide) vector = gpu_rules::kNarrowColumnsOfThread;
  return std::ceil(static_cast<double>(columns) / static_cast<double>(vector * gpu_rules::kWarp));
}

double KernelUse::BlocksWith(const KernelUse& made, const Read& through) const {
  if (!reduces) return std::max(blocks, made.blocks);
  if (columns == 0) return blocks;
  const double before = BlocksOfColumns(columns, Narrowest(reads, ValueId()));
  const double narrowest = std::min(Narrowest(reads, through.value), Narrowest(made.reads, ValueId()));
  return blocks / before * BlocksOfColumns(columns, narrowest);
}

const KernelUse::Read* KernelUse::Of(ValueId value) const {
  const auto found = std::find_if(reads.begin(), reads.end(), [&](const Read& read) { return read.value == value; });
  return found == reads.end() ? nullptr : &*found;
}

KernelWork KernelUse::WorkWith(std::vector<ReadTraffic>& list) const {
  for (const Read& read : reads) list.push_back({read.size, read.size * read.times, Rate(read)});
  return {.operations = operations, .written = written, .blocks = blocks, .reads = reads.size()};
}

// XLA's GetCoalescingUtilizationRate: of each transaction one element is used.
double KernelUse::Rate(const Read& read, bool across) {
  return across ? std::min(1.0, read.element / gpu_rules::kTransactionBytes) : 1;
}

double KernelUse::Common(const Read& a, const Read& b) const { return TimesOf(root_times, a.roots & b.roots); }

bool KernelCounter::IsInside(ValueId value, uint32_t kernel) const {
  const NodeId producer = flow_.producer(value);
  if (!producer.valid() || plan_.classes[producer.index()] == FusionClass::kUnfusible) return false;
  if (reads_constants_ && flow_.node(producer).kind == OpKind::kConstant) return false;
  if (plan_.classes[producer.index()] == FusionClass::kCheap || !plan_.materialized[producer.index()]) return true;
  return plan_.kernel[producer.index()] == kernel;
}

bool KernelCounter::IsTiledWith(uint32_t kernel, NodeId value) {
  const auto in_consumer = [&](ValueId read) { return IsInside(read, kernel); };
  const auto in_producer = [&](ValueId read) { return IsInside(read, plan_.kernel[value.index()]); };
  return tiled_.HeroOfBoth(plan_.roots[kernel][0], in_consumer, value, in_producer) != nullptr;
}

// Hands on to the operands of one op what is asked of its result.
void KernelCounter::Enter(KernelUse& use, const Node& node, uint64_t roots, uint32_t kernel) {
  const double times = TimesOf(use.root_times, roots);
  const bool elementwise = whole_rows_ || ir::Traits(node.kind).sort == OpSort::kElementwise;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const ValueId operand = node.operands[i];
    uint64_t passed = roots;
    if (!elementwise) {
      const size_t root = std::min(use.root_times.size(), gpu_rules::kUtilisationRoots);
      if (root == use.root_times.size()) use.root_times.push_back(0);
      use.root_times[root] += times * TimesOfOperand(flow_, node, operand);
      passed = uint64_t{1} << root;
    }
    uint64_t& known = roots_[operand.index()];
    const bool outside = plan_.policy->IsReadFromMemory(flow_, node, i) || !IsInside(operand, kernel);
    if (outside && known == 0) use.reads.push_back({.value = operand});
    known |= passed;
  }
}

KernelCounter::Facts KernelCounter::FactsOf(NodeId id) const {
  const Node& node = flow_.node(id);
  if (node.result_count == 0) return {};
  const bool reduces = ir::Traits(node.kind).sort == OpSort::kReduction && !node.operands.empty();
  const bool in_loop = node.kind == OpKind::kReduce && plan_.policy->ReducesInLoop(flow_, node);
  const ir::Type& type = flow_.type(node.first_result);
  Facts facts{.elements = static_cast<double>(WorkElements(flow_, id)),
              .clocks = OperationClocks(context_.gpu, reduces ? OpKind::kAdd : node.kind,
                                        type.element.kind == ir::ElementKind::kF32),
              .results = type.element_count(),
              .reduces = reduces && !in_loop,
              .across = ReadsAcross(flow_, node)};
  if (facts.reduces) {
    facts.columns = ReducesRows(flow_, node) ? 0 : InnermostRun(flow_, node, false);
    facts.blocks = facts.columns == 0
                       ? BlocksOfRows(flow_, node)
                       : static_cast<double>(facts.results) / static_cast<double>(std::max<int64_t>(1, facts.columns));
  }
  return facts;
}

KernelUse KernelCounter::Count(uint32_t kernel) {
  KernelUse use;
  use.root_times.reserve(kUsual);
  use.root_times.push_back(1);
  use.reads.reserve(kUsual);
  for (const NodeId root : plan_.roots[kernel]) {
    for (uint32_t r = 0; r < flow_.node(root).result_count; ++r) {
      const ValueId result = flow_.result(root, r);
      roots_[result.index()] |= 1;
      use.written += static_cast<double>(flow_.ByteSize(result));
    }
  }
  const std::vector<NodeId>& members = members_.Of(kernel);
  // Rows stay in the processor from their reduction to what is made of them.
  whole_rows_ =
      std::any_of(members.begin(), members.end(), [&](NodeId id) { return plan_.RoleOf(id) == RowRole::kEnd; });
  int64_t largest = 0;
  for (size_t i = members.size(); i-- > 0;) {
    const Node& node = flow_.node(members[i]);
    if (reads_constants_ && node.kind == OpKind::kConstant) continue;
    uint64_t roots = 0;
    for (uint32_t r = 0; r < node.result_count; ++r) {
      roots |= roots_[node.first_result.index() + r];
      roots_[node.first_result.index() + r] = 0;
    }
    const Facts& facts = facts_[members[i].index()];
    use.operations += TimesOf(use.root_times, roots) * facts.elements * facts.clocks;
    largest = std::max(largest, facts.results);
    use.reduces = use.reduces || facts.reduces;
    use.reads_across = use.reads_across || facts.across;
    if (facts.reduces && use.blocks == 0) {
      use.columns = facts.columns;
      use.blocks = facts.blocks;
    }
    Enter(use, node, roots, kernel);
  }
  if (use.reads_across) {
    use.is_tiled = std::any_of(plan_.roots[kernel].begin(), plan_.roots[kernel].end(), [&](NodeId root) {
      return tiled_.Hero(root, [&](ValueId value) { return IsInside(value, kernel); }) != nullptr;
    });
  }
  if (use.blocks == 0) use.blocks = std::ceil(static_cast<double>(largest) / gpu_rules::kElementsOfBlock);
  for (KernelUse::Read& read : use.reads) {
    read.size = static_cast<double>(flow_.ByteSize(read.value));
    read.element = std::max(1.0, static_cast<double>(ir::ElementBits(flow_.type(read.value).element)) / 8);
    read.roots = roots_[read.value.index()];
    read.times = TimesOf(use.root_times, read.roots);
    const Node* producer = flow_.ProducerNode(read.value);
    if (producer != nullptr && producer->kind == OpKind::kConstant) {  // one value, broadcast
      read.times *= std::max(1.0, read.size / gpu_rules::kSplatBytes);
      read.size = std::min(read.size, gpu_rules::kSplatBytes);
    }
    roots_[read.value.index()] = 0;
  }
  if (use.columns != 0) use.blocks *= BlocksOfColumns(use.columns, Narrowest(use.reads, ValueId()));
  return use;
}

}  // namespace hespas::optimise
