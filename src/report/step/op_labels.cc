#include "report/step/op_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include "ir/facts/execution/async_start.h"
#include "ir/facts/fusion.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"

namespace hespas::report {
namespace {

using ir::OpKind;
using ir::OpSort;

// Sorts in the order in which one of them gives a fusion its name.
struct SortLabel {
  OpSort sort;
  std::string_view label;
};
constexpr SortLabel kSorts[] = {
    {OpSort::kContraction, "matmul"},    {OpSort::kCustomCall, "custom call"},  {OpSort::kSort, "sort"},
    {OpSort::kScatter, "scatter"},       {OpSort::kReduction, "reduction"},     {OpSort::kGather, "gather"},
    {OpSort::kRandom, "random numbers"}, {OpSort::kElementwise, "elementwise"}, {OpSort::kLayout, "data movement"},
    {OpSort::kSlice, "data movement"},   {OpSort::kControl, "control flow"},    {OpSort::kCall, "call"},
    {OpSort::kTransfer, "transfer"},     {OpSort::kConstant, "constant"},       {OpSort::kFree, "bookkeeping"},
};

// By sort: its row above, or their number where it has none.
constexpr auto kRanks = [] {
  std::array<size_t, static_cast<size_t>(OpSort::kUnknown) + 1> ranks{};
  ranks.fill(std::size(kSorts));
  for (size_t row = 0; row < std::size(kSorts); ++row) ranks[static_cast<size_t>(kSorts[row].sort)] = row;
  return ranks;
}();

size_t RankOf(OpKind kind) { return kRanks[static_cast<size_t>(ir::Traits(kind).sort)]; }

std::string_view CustomCallLabel(const ir::Module& module, ir::OpId op) {
  const auto kind = ir::LibraryKindOf(module, op);
  if (!kind) return "custom call";
  switch (*kind) {
    case ir::LibraryKind::kGemm:
      return "matmul";
    case ir::LibraryKind::kConvolution:
      return "convolution";
    case ir::LibraryKind::kAttention:
      return "attention";
    case ir::LibraryKind::kNorm:
      return "normalisation";
    default:
      return "library call";
  }
}

std::string TypeList(const ir::Module& module, const std::vector<ir::ValueId>& values) {
  constexpr size_t kShown = 5;
  std::string out;
  for (size_t i = 0; i < std::min(kShown, values.size()); ++i) {
    out += (i > 0 ? ", " : "") + TypeText(module.types(), module.type_id(values[i]));
  }
  if (values.size() > kShown) out += fmt::format(", {} more", values.size() - kShown);
  return values.size() == 1 ? out : "(" + out + ")";
}

// What an asynchronous start runs: its collective, else its last operation that does something.
ir::OpId StartedBy(const ir::Module& module, ir::OpId start) {
  const ir::OpId collective = ir::CollectiveInside(module, start);
  if (collective.valid()) return collective;
  ir::OpId found = start;
  ir::WalkNested(module, start, [&](ir::OpId inner) {
    if (!ir::IsTerminator(module.kind(inner))) found = inner;
  });
  return found;
}

// The start that a done or an update belongs to; the op itself where that is not known.
ir::OpId StartOf(const ir::Module& module, ir::OpId op) {
  while (module.kind(op) == OpKind::kAsyncDone || module.kind(op) == OpKind::kAsyncUpdate) {
    const ir::OpId before = module.operands(op).empty() ? ir::OpId() : module.defining_op(module.operands(op)[0]);
    if (!before.valid() || ir::Traits(module.kind(before)).sort != OpSort::kAsync) break;
    op = before;
  }
  return op;
}

// Kinds whose name says more than that of the fusion's result.
bool GivesScope(const ir::Module& module, ir::OpId hero) {
  return RankOf(module.kind(hero)) < RankOf(OpKind::kAdd) || ir::IsCollective(module.kind(hero));
}

}  // namespace

std::string TypeText(const ir::TypeTable& types, ir::TypeId id) {
  const ir::Type& type = types[id];
  if (!type.is_tensor()) return types.Text(id);
  std::string out = ir::ElementText(type.element) + "[";
  for (size_t i = 0; i < type.dims.size(); ++i) {
    out += (i > 0 ? "," : "") + (type.dims[i] == ir::kDynamic ? "?" : std::to_string(type.dims[i]));
  }
  return out + "]";
}

ir::OpId HeroOf(const ir::Module& module, ir::OpId op) {
  if (ir::Traits(module.kind(op)).sort == OpSort::kAsync) {
    const ir::OpId start = StartOf(module, op);
    return module.kind(start) == OpKind::kAsyncStart ? StartedBy(module, start) : op;
  }
  if (module.kind(op) != OpKind::kFusion) return op;
  ir::OpId hero = op;
  size_t best = std::size(kSorts) + 1;
  for (const ir::OpId inner : ir::FusedOps(module, op)) {
    const size_t rank = RankOf(module.kind(inner));
    if (rank < best) std::tie(hero, best) = std::pair(inner, rank);
  }
  return hero;
}

std::string_view KindLabel(const ir::Module& module, ir::OpId op) {
  const ir::OpId hero = HeroOf(module, op);
  const OpKind kind = module.kind(hero);
  if (kind == OpKind::kCustomCall) return CustomCallLabel(module, hero);
  if (kind == OpKind::kConvolution || kind == OpKind::kDynamicConv) return "convolution";
  if (ir::IsCollective(kind) || ir::Traits(kind).sort == OpSort::kAsync) {
    return ShortName(module.name(hero));
  }
  const size_t rank = RankOf(kind);
  return rank < std::size(kSorts) ? kSorts[rank].label : "other";
}

std::string OpText(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) != OpKind::kFusion) return std::string(module.name(op));
  const ir::OpId hero = HeroOf(module, op);
  return hero == op ? std::string(module.name(op)) : fmt::format("fusion of {}", module.name(hero));
}

std::string FrameworkName(const ir::Module& module, ir::OpId op) {
  const ir::OpId hero = HeroOf(module, op);
  const bool first = hero != op && GivesScope(module, hero);
  std::string name = ir::OwnFrameworkName(module, first ? hero : op);
  return name.empty() && hero != op ? ir::OwnFrameworkName(module, first ? op : hero) : name;
}

std::string Shapes(const graph::BlockGraph& blocks, const graph::Block& block) {
  return TypeList(*blocks.module, block.inputs) + " -> " + TypeList(*blocks.module, block.outputs);
}

ir::OpId CostliestOp(const StepView& step, size_t distinct) {
  const graph::Block& block = step.blocks.blocks[step.estimates.first[distinct].index()];
  if (distinct >= step.op_times.size() || step.op_times[distinct].size() != block.ops.size()) return block.ops.back();
  const std::vector<Time>& times = step.op_times[distinct];
  return block.ops[static_cast<size_t>(std::max_element(times.begin(), times.end()) - times.begin())];
}

}  // namespace hespas::report
