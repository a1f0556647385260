#include "report/step/kernel_name.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/fusion.h"
#include "ir/facts/library_call.h"
#include "report/step/scope_path.h"
#include "report/text/table.h"

namespace hespas::report {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr size_t kFusedNames = 2;  // operations that a fusion is called by

std::string ShapeOf(const ir::Module& module, ir::OpId op) {
  return module.op(op).result_count == 0 ? "" : " " + TypeText(module.types(), module.type_id(module.result(op)));
}

std::string Matmul(int64_t batch, int64_t m, int64_t n, int64_t k) {
  if (batch > 1) return fmt::format("batched matmul {}x{}x{}x{}", batch, m, n, k);
  return fmt::format("matmul {}x{}x{}", m, n, k);
}

std::optional<std::string> DotName(const ir::Module& module, ir::OpId op) {
  const auto dot = ir::DotDimensionsOf(module, op);
  if (!dot || module.operands(op).size() < 2) return std::nullopt;
  const auto product = [](const ir::Dimensions& dims, const auto& counts) {
    int64_t out = 1;
    for (size_t d = 0; d < dims.size(); ++d) {
      if (counts(static_cast<int64_t>(d)) && __builtin_mul_overflow(out, std::max<int64_t>(dims[d], 1), &out))
        return INT64_MAX;
    }
    return out;
  };
  const auto in = [](const ir::Dimensions& list, int64_t d) {
    return std::find(list.begin(), list.end(), d) != list.end();
  };
  const ir::Dimensions& lhs = module.type(module.operands(op)[0]).dims;
  const ir::Dimensions& rhs = module.type(module.operands(op)[1]).dims;
  // Lambdas of clang 14 take no structured bindings.
  const auto& lb = dot->lhs_batching;
  const auto& rb = dot->rhs_batching;
  const auto& lc = dot->lhs_contracting;
  const auto& rc = dot->rhs_contracting;
  return Matmul(product(lhs, [&](int64_t d) { return in(lb, d); }),
                product(lhs, [&](int64_t d) { return !in(lb, d) && !in(lc, d); }),
                product(rhs, [&](int64_t d) { return !in(rb, d) && !in(rc, d); }),
                product(lhs, [&](int64_t d) { return in(lc, d); }));
}

// The text behind `key` up to the next quote.
std::string_view QuotedBehind(std::string_view text, std::string_view key) {
  const size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find_first_of("\"\\"));
}

// A custom kernel by its own name (Pallas's `kernel_name`, Triton's `name`), else by its target.
std::string CustomKernelName(const ir::Module& module, ir::OpId op) {
  if (const std::string_view* name = module.attribute(op, "kernel_name")) {
    if (const auto text = ir::AsString(*name); text && !text->empty()) return *text;
  }
  if (const std::string_view* config = module.attribute(op, "backend_config")) {
    const std::string_view name = QuotedBehind(*config, "name = \"");
    if (!name.empty()) return std::string(name);
  }
  return ir::CallTarget(module, op);
}

std::string CustomCallName(const ir::Module& module, ir::OpId op) {
  const auto call = ir::LibraryCallOf(module, op);
  if (call && call->kind == ir::LibraryKind::kGemm && call->m > 0)
    return Matmul(call->batch, call->m, call->n, call->k);
  const bool library = call && (call->kind == ir::LibraryKind::kConvolution ||
                                call->kind == ir::LibraryKind::kAttention || call->kind == ir::LibraryKind::kNorm);
  return (library ? std::string(KindLabel(module, op)) : CustomKernelName(module, op)) + ShapeOf(module, op);
}

int64_t BytesOf(const ir::Module& module, const auto& values) {
  int64_t sum = 0;
  for (const ir::ValueId value : values) {
    if (__builtin_add_overflow(sum, ir::ByteSize(module.types(), module.type_id(value)), &sum)) return INT64_MAX;
  }
  return sum;
}

// Of the full buffer: what an all-gather makes, what a reduce-scatter reads.
std::string CollectiveName(const ir::Module& module, ir::OpId op) {
  const int64_t bytes = std::max(BytesOf(module, module.operands(op)), BytesOf(module, module.results(op)));
  std::string name(ShortName(module.name(op)));
  std::replace(name.begin(), name.end(), '_', '-');
  return fmt::format("{} {}", name, HumanBytes(Bytes(bytes)));
}

// Whether an operation says what a fusion is for.
bool SaysMuch(OpKind kind) {
  switch (ir::Traits(kind).sort) {
    case OpSort::kConstant:
    case OpSort::kFree:
    case OpSort::kTerminator:
    case OpSort::kLayout:
      return false;
    default:
      return kind != OpKind::kConvert && kind != OpKind::kCompare && kind != OpKind::kBitcastConvert;
  }
}

// The last operations of different names, as the values pass through them.
std::string FusedName(const ir::Module& module, ir::OpId fusion) {
  const std::vector<ir::OpId> inner = ir::FusedOps(module, fusion);
  std::vector<std::string_view> names;
  const auto collect = [&](const auto& counts) {
    for (size_t i = inner.size(); i-- > 0 && names.size() <= kFusedNames;) {
      if (!counts(module.kind(inner[i]))) continue;
      const std::string_view name = ShortName(module.name(inner[i]));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  };
  collect(SaysMuch);
  const auto moves = [](OpKind kind) { return !ir::IsTerminator(kind) && ir::Traits(kind).sort != OpSort::kConstant; };
  if (names.empty()) collect(moves);
  if (names.empty()) return "fusion" + ShapeOf(module, fusion);
  const bool more = names.size() > kFusedNames;
  if (more) names.pop_back();
  std::reverse(names.begin(), names.end());
  return fmt::format("{}{}{}{}", inner.size() > 1 ? "fused " : "", more ? "…·" : "", fmt::join(names, "·"),
                     ShapeOf(module, fusion));
}

}  // namespace

std::string ContentName(const ir::Module& module, ir::OpId op) {
  const ir::OpId hero = HeroOf(module, op);
  const OpKind kind = module.kind(hero);
  if (ir::IsCollective(kind)) return CollectiveName(module, hero);
  if (kind == OpKind::kDotGeneral || kind == OpKind::kDot) {
    if (auto name = DotName(module, hero)) return *std::move(name);
  }
  if (kind == OpKind::kConvolution || kind == OpKind::kDynamicConv) return "convolution" + ShapeOf(module, hero);
  if (kind == OpKind::kCustomCall) return CustomCallName(module, hero);
  if (module.kind(op) == OpKind::kFusion) return FusedName(module, op);
  return std::string(ShortName(module.name(hero))) + ShapeOf(module, hero);
}

std::string KernelName(const ir::Module& module, ir::OpId op) {
  const std::string scope = ScopePath(FrameworkName(module, op));
  return scope.empty() ? ContentName(module, op) : scope + " " + ContentName(module, op);
}

size_t KernelNames::LongestOp(size_t block) const {
  const size_t ops = step_.blocks.blocks[block].ops.size();
  const uint32_t distinct = step_.estimates.of_block[block];
  if (distinct >= step_.op_times.size() || step_.op_times[distinct].size() != ops) return ops - 1;
  const std::vector<Time>& times = step_.op_times[distinct];
  return static_cast<size_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

const std::string& KernelNames::Content(size_t block, size_t index) {
  const uint32_t distinct = step_.estimates.of_block[block];
  const bool shared = distinct != graph::EstimateTable::kNone;
  const uint64_t key = (shared ? uint64_t{distinct} << 32 : (uint64_t{1} << 63) | uint64_t{block} << 31) | index;
  const auto [found, is_new] = contents_.try_emplace(key);
  if (is_new) {
    found->second = &*groups_.insert(ContentName(*step_.blocks.module, step_.blocks.blocks[block].ops[index])).first;
  }
  return *found->second;
}

std::string KernelNames::ScopeOf(size_t block, size_t index) const {
  return ScopePath(names_.Of(step_.blocks.blocks[block].ops[index]));
}

std::string KernelNames::Of(size_t block) {
  const graph::Block& at = step_.blocks.blocks[block];
  if (at.ops.empty()) return {};
  const size_t index = LongestOp(block);
  const std::string scope = ScopeOf(block, index);
  std::string name = scope.empty() ? Content(block, index) : scope + " " + Content(block, index);
  if (at.ops.size() > 1) name += fmt::format(" and {} more", at.ops.size() - 1);
  return name;
}

const std::string& KernelNames::GroupOf(size_t block, size_t index) {
  const std::string scope = ScopeOf(block, index);
  if (scope.empty()) return Content(block, index);
  return *groups_.insert(AllLayers(scope) + " " + Content(block, index)).first;
}

}  // namespace hespas::report
