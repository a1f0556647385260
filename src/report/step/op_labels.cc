#include "report/step/op_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/attributes/attribute.h"
#include "ir/facts/fusion.h"
#include "ir/facts/library_call.h"

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

size_t RankOf(OpKind kind) {
  const OpSort sort = ir::Traits(kind).sort;
  const auto* found =
      std::find_if(std::begin(kSorts), std::end(kSorts), [&](const auto& row) { return row.sort == sort; });
  return static_cast<size_t>(found - std::begin(kSorts));
}

std::string_view CustomCallLabel(const ir::Module& module, ir::OpId op) {
  const auto call = ir::LibraryCallOf(module, op);
  if (!call) return "custom call";
  switch (call->kind) {
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

// The text between the first pair of quotes.
std::string_view Quoted(std::string_view text) {
  const size_t begin = text.find('"');
  if (begin == std::string_view::npos) return {};
  const size_t end = text.find('"', begin + 1);
  return end == std::string_view::npos ? std::string_view() : text.substr(begin + 1, end - begin - 1);
}

std::string_view OwnName(const ir::Module& module, ir::OpId op) {
  if (const std::string_view* metadata = module.attribute(op, "metadata")) {
    constexpr std::string_view kKey = "op_name=";
    const size_t at = metadata->find(kKey);
    if (at == std::string_view::npos) return {};
    std::string_view rest = metadata->substr(at + kKey.size());
    // As HLO text writes it, or within a string of MLIR, where quotes are escaped.
    const std::string_view quote = rest.starts_with('\\') ? "\\\"" : "\"";
    if (!rest.starts_with(quote)) return {};
    rest.remove_prefix(quote.size());
    return rest.substr(0, rest.find(quote));
  }
  const std::string_view* location = module.attribute(op, "loc");
  if (location == nullptr) return {};
  std::string_view text = ir::Trim(*location);
  for (int depth = 0; text.starts_with('#') && depth < 8; ++depth) text = ir::Trim(module.Alias(text));
  if (text.starts_with("loc(")) text.remove_prefix(4);
  // A name is followed by nothing or by what it represents; a plain file location has a line behind it.
  const std::string_view name = Quoted(text);
  const size_t after = name.empty() ? text.size() : static_cast<size_t>(name.data() - text.data()) + name.size() + 1;
  return after < text.size() && text[after] == ':' ? std::string_view() : name;
}

// `transpose(jvp(decoder))` -> `decoder`.
std::string_view Unwrapped(std::string_view part) {
  const size_t open = part.rfind('(');
  if (open == std::string_view::npos) return part;
  part.remove_prefix(open + 1);
  return part.substr(0, part.find(')'));
}

bool IsNumbered(std::string_view part) {
  const size_t digits = part.size() - (part.find_last_not_of("0123456789") + 1);
  if (digits == 0 || digits == part.size()) return false;
  const char before = part[part.size() - digits - 1];
  return before == '_' || before == '.' || (before >= 'a' && before <= 'z');
}

constexpr std::array<std::string_view, 9> kWrappers = {
    "while", "body", "cond", "closed_call", "checkpoint", "remat", "rematted_computation", "shmap_body", "pjit"};

std::string TypeText(const ir::TypeTable& types, ir::TypeId id) {
  const ir::Type& type = types[id];
  if (!type.is_tensor()) return types.Text(id);
  std::string out = ir::ElementText(type.element) + "[";
  for (size_t i = 0; i < type.dims.size(); ++i) {
    out += (i > 0 ? "," : "") + (type.dims[i] == ir::kDynamic ? "?" : std::to_string(type.dims[i]));
  }
  return out + "]";
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

}  // namespace

ir::OpId HeroOf(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) != OpKind::kFusion) return op;
  const std::vector<ir::OpId> inner = ir::FusedOps(module, op);
  const auto hero = std::min_element(inner.begin(), inner.end(), [&](ir::OpId a, ir::OpId b) {
    return RankOf(module.kind(a)) < RankOf(module.kind(b));
  });
  return hero == inner.end() ? op : *hero;
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
  const ir::OpId hero = HeroOf(module, op);
  return hero == op ? std::string(module.name(op)) : fmt::format("fusion of {}", module.name(hero));
}

std::string_view FrameworkName(const ir::Module& module, ir::OpId op) {
  const std::string_view own = OwnName(module, op);
  if (!own.empty() || module.kind(op) != OpKind::kFusion) return own;
  return OwnName(module, HeroOf(module, op));
}

std::string_view LayerOf(std::string_view framework_name) {
  std::string_view first;
  size_t begin = 0;
  // The last part names the operation itself.
  for (size_t slash; (slash = framework_name.find('/', begin)) != std::string_view::npos; begin = slash + 1) {
    const std::string_view whole = framework_name.substr(begin, slash - begin);
    if (whole.starts_with("jit(") || whole.starts_with("pjit(")) continue;
    const std::string_view part = Unwrapped(whole);
    if (IsNumbered(part)) return part;
    const bool wrapper = std::find(kWrappers.begin(), kWrappers.end(), part) != kWrappers.end();
    if (first.empty() && !wrapper) first = part;
  }
  return first;
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
