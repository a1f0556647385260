#include "ir/op_kind.h"

#include <string>
#include <unordered_map>

#include "ir/verify/table.h"

namespace hespas::ir {
namespace {

// Strips the dialects whose ops share one table ("stablehlo.add_v2" of vhlo is spelt "vhlo.add_v1").
std::string_view Spelling(std::string_view name) {
  for (const std::string_view dialect : {"stablehlo.", "mhlo."}) {
    if (name.starts_with(dialect)) return name.substr(dialect.size());
  }
  if (name.starts_with("vhlo.")) {
    name.remove_prefix(5);
    const size_t version = name.rfind("_v");
    return version == std::string_view::npos ? name : name.substr(0, version);
  }
  if (name == "func.return" || name == "sdy.return") return "return";
  return name;
}

// An op of CHLO is the op that StableHLO or MHLO has, too, or elementwise mathematics; erfc costs what erf does.
OpKind ChloKind(std::string_view full_name) {
  struct Row {
    std::string_view name;
    OpKind kind;
  };
  constexpr Row kRows[] = {{"chlo.constant", OpKind::kConstant}, {"chlo.erf", OpKind::kErf},
                           {"chlo.erfc", OpKind::kErf},          {"chlo.ragged_dot", OpKind::kRaggedDot},
                           {"chlo.return", OpKind::kReturn},     {"chlo.scan", OpKind::kUnknown},
                           {"chlo.tan", OpKind::kTan},           {"chlo.top_k", OpKind::kTopK}};
  for (const Row& row : kRows) {
    if (row.name == full_name) return row.kind;
  }
  return verify::FindRule(full_name, OpKind::kUnknown) == nullptr ? OpKind::kUnknown : OpKind::kChloElementwise;
}

}  // namespace

OpKind KindOf(std::string_view full_name) {
  static const auto* const kIndex = [] {
    auto* index = new std::unordered_map<std::string_view, OpKind>;
    size_t row = 0;
    for (const OpTraits& traits : kOpTraits) index->emplace(traits.spelling, static_cast<OpKind>(row++));
    return index;
  }();
  // Casts between the types of two dialects pass values through, as barriers do.
  if (full_name == "builtin.unrealized_conversion_cast") return OpKind::kOptimizationBarrier;
  if (full_name.starts_with("chlo.")) return ChloKind(full_name);
  // VHLO has functions and calls of its own.
  if (full_name.starts_with("vhlo.func_v")) return OpKind::kFunc;
  if (full_name.starts_with("vhlo.call_v")) return OpKind::kFuncCall;
  const std::string_view spelling = Spelling(full_name);
  const auto found = kIndex->find(spelling);
  if (spelling.empty()) return OpKind::kUnknown;
  // Mathematics that MHLO has and StableHLO lacks (`mhlo.cosh`) is CHLO's.
  if (found == kIndex->end() && full_name.starts_with("mhlo.")) return ChloKind("chlo." + std::string(spelling));
  if (found == kIndex->end()) return OpKind::kUnknown;
  // A bare "add" or a stablehlo spelling that holds a dot belongs to no dialect.
  const bool dotted = spelling.find('.') != std::string_view::npos;
  const bool stripped = spelling.size() != full_name.size();
  return dotted == stripped && spelling != "xla.rng_get_and_update_state" ? OpKind::kUnknown : found->second;
}

}  // namespace hespas::ir
