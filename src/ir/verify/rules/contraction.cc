#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

// The algorithms some hardware implements (specification of dot_general, "DotAlgorithm").
struct Algorithm {
  std::string_view lhs;
  std::string_view accumulation;
  int64_t operations;
};
constexpr Algorithm kAlgorithms[] = {
    {"f16", "f16", 1},  {"f16", "f32", 1},  {"bf16", "bf16", 1}, {"bf16", "f32", 1},
    {"bf16", "f32", 3}, {"bf16", "f32", 6}, {"bf16", "f32", 9},  {"tf32", "f32", 1},
    {"tf32", "f32", 3}, {"f32", "f32", 1},  {"f64", "f64", 1},
};

bool KnownAlgorithm(std::string_view lhs, std::string_view rhs, std::string_view accumulation, int64_t operations,
                    bool imprecise) {
  if (lhs.starts_with("f8") && rhs.starts_with("f8")) return accumulation == "f32" && operations == 1;
  return lhs == rhs && !imprecise && std::any_of(std::begin(kAlgorithms), std::end(kAlgorithms), [&](const auto& row) {
           return row.lhs == lhs && row.accumulation == accumulation && row.operations == operations;
         });
}

bool CheckAlgorithm(Check& check, std::string_view text) {
  const std::vector<Entry> entries = Entries(text);
  const auto number = [&](std::string_view key) {
    return AsInteger(FindEntry(entries, key).value_or("1")).value_or(0);
  };
  for (const std::string_view key : {"lhs_component_count", "rhs_component_count", "num_primitive_operations"}) {
    if (number(key) < 1) {
      return check.ReportAt(text, kBadAttribute, fmt::format("`{}` of the dot algorithm must be positive", key), {});
    }
  }
  const auto word = [&](std::string_view key) { return FindEntry(entries, key).value_or(""); };
  const bool imprecise = AsBool(FindEntry(entries, "allow_imprecise_accumulation").value_or("false")).value_or(false);
  const bool one = number("lhs_component_count") == 1 && number("rhs_component_count") == 1;
  if (one && KnownAlgorithm(word("lhs_precision_type"), word("rhs_precision_type"), word("accumulation_type"),
                            number("num_primitive_operations"), imprecise)) {
    return true;
  }
  return check.ReportAt(text, kBadAttribute, "no hardware is known to implement this dot algorithm",
                        "leave `algorithm` out, or use one like tf32, tf32, accumulating in f32 with 1 operation");
}

bool CheckSizesAgree(Check& check, const Dimensions& lhs, const Dimensions& rhs, std::string_view what) {
  for (size_t i = 0; i < lhs.size(); ++i) {
    const int64_t left = check.operand(0).dims[static_cast<size_t>(lhs[i])];
    const int64_t right = check.operand(1).dims[static_cast<size_t>(rhs[i])];
    if (CompatibleSizes(left, right)) continue;
    return check.Fail(kTypeMismatch, "{} dimensions {} of `{}` and {} of `{}` have sizes {} and {}", what, lhs[i],
                      check.text(check.operand_type(0)), rhs[i], check.text(check.operand_type(1)), left, right);
  }
  return true;
}

// Real numbers may be mixed: JAX multiplies f8E4M3FN by f8E5M2 or i8 by bf16, and XLA converts them. Its own
// output mixes more.
bool CheckMixedElements(Check& check) {
  constexpr ClassMask kReal = kInteger | kFloat;
  const ClassMask classes = check.operand_facts(0).classes | check.operand_facts(1).classes;
  if (check.hlo() || !(classes & ~kReal) || (classes & (kQuantised | kQuantisedAxis)) ||
      CompatibleElements(check.facts(), check.operand_type(0), check.operand_type(1))) {
    return true;
  }
  return check.Fail(kTypeMismatch, "operands `{}` and `{}` differ in element type", check.text(check.operand_type(0)),
                    check.text(check.operand_type(1)));
}

// Batching and contracting dimensions of one side.
bool CheckSide(Check& check, size_t side, const Dimensions& batching, const Dimensions& contracting) {
  Dimensions all = batching;
  all.insert(all.end(), contracting.begin(), contracting.end());
  return check.ExpectDimensions(all, check.operand_rank(side), side == 0 ? "lhs dimensions" : "rhs dimensions");
}

void AppendFree(const Type& type, const Dimensions& batching, const Dimensions& contracting, Dimensions& out) {
  std::vector<bool> taken(type.dims.size(), false);
  for (const int64_t d : batching) taken[static_cast<size_t>(d)] = true;
  for (const int64_t d : contracting) taken[static_cast<size_t>(d)] = true;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (!taken[i]) out.push_back(type.dims[i]);
  }
}

Dimensions DotShape(Check& check, const DotDimensions& dims) {
  Dimensions shape;
  for (size_t i = 0; i < dims.lhs_batching.size(); ++i) {
    const int64_t left = check.operand(0).dims[static_cast<size_t>(dims.lhs_batching[i])];
    const int64_t right = check.operand(1).dims[static_cast<size_t>(dims.rhs_batching[i])];
    shape.push_back(left == kDynamic ? right : left);
  }
  AppendFree(check.operand(0), dims.lhs_batching, dims.lhs_contracting, shape);
  AppendFree(check.operand(1), dims.rhs_batching, dims.rhs_contracting, shape);
  return shape;
}

}  // namespace

bool CheckPrecision(Check& check) {
  const std::string_view* config = check.attribute("precision_config");
  const std::string_view* algorithm = check.attribute("algorithm");
  if (config) {
    const std::vector<std::string_view> items = ListItems(*config);
    if (items.size() > 2) {
      return check.Fail(kBadAttribute, "`precision_config` has {} entries, but there are two operands", items.size());
    }
    for (const std::string_view item : items) {
      if (item.starts_with('"') || AsEnum(item).empty()) {
        return check.Fail(kBadAttribute, "`precision_config` holds `{}`, which is no precision", item);
      }
      if (algorithm && !check.hlo() && AsEnum(item) != "DEFAULT") {
        return check.Fail(kBadAttribute, "with `algorithm` the precision must be DEFAULT, not {}", AsEnum(item));
      }
    }
  }
  return !algorithm || check.hlo() || CheckAlgorithm(check, *algorithm);
}

bool CheckDot(Check& check) {
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  const int64_t left = check.operand_rank(0);
  const int64_t right = check.operand_rank(1);
  if (left < 1 || left > 2 || right < 1 || right > 2) {
    return check.Fail(kTypeMismatch, "operands must be vectors or matrices, but are `{}` and `{}`",
                      check.text(check.operand_type(0)), check.text(check.operand_type(1)));
  }
  const DotDimensions dims{.lhs_contracting = {left - 1}, .rhs_contracting = {0}};
  return CheckSizesAgree(check, dims.lhs_contracting, dims.rhs_contracting, "contracting") && CheckPrecision(check) &&
         check.ExpectShape(DotShape(check, dims));
}

bool CheckDotGeneral(Check& check) {
  if (!check.has("dot_dimension_numbers") && !check.Require("dot_dimension_numbers")) return false;
  const auto dims = DotDimensionsOf(check.module(), check.id());
  if (!dims) return check.Fail(kBadAttribute, "`dot_dimension_numbers` cannot be read");
  if (dims->lhs_batching.size() != dims->rhs_batching.size()) {
    return check.Fail(kBadDimension, "there are {} batching dimensions on the left, {} on the right",
                      dims->lhs_batching.size(), dims->rhs_batching.size());
  }
  if (dims->lhs_contracting.size() != dims->rhs_contracting.size()) {
    return check.Fail(kBadDimension, "there are {} contracting dimensions on the left, {} on the right",
                      dims->lhs_contracting.size(), dims->rhs_contracting.size());
  }
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  return CheckSide(check, 0, dims->lhs_batching, dims->lhs_contracting) &&
         CheckSide(check, 1, dims->rhs_batching, dims->rhs_contracting) &&
         CheckSizesAgree(check, dims->lhs_batching, dims->rhs_batching, "batching") &&
         CheckSizesAgree(check, dims->lhs_contracting, dims->rhs_contracting, "contracting") && CheckPrecision(check) &&
         CheckMixedElements(check) && check.ExpectShape(DotShape(check, *dims)) && CheckQuantisedContraction(check);
}

}  // namespace hespas::ir::verify
