#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/verify/index_dims.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

bool ExpectEqualElements(Check& check, size_t a, size_t b) {
  if (CompatibleElements(check.facts(), check.operand_type(a), check.operand_type(b))) return true;
  return check.Fail(kTypeMismatch, "operands `{}` and `{}` differ in element type", check.text(check.operand_type(a)),
                    check.text(check.operand_type(b)));
}

// Shapes aligned at their innermost dimensions: sizes are equal or 1. Explicit broadcast dimensions are not followed.
bool CheckBroadcastShape(Check& check) {
  Dimensions shape;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!check.operand_ranked(i)) return true;
    const Dimensions& dims = check.operand(i).dims;
    if (dims.size() > shape.size()) shape.insert(shape.begin(), dims.size() - shape.size(), 1);
    const size_t offset = shape.size() - dims.size();
    for (size_t d = 0; d < dims.size(); ++d) {
      int64_t& size = shape[offset + d];
      if (size == 1 || size == kDynamic) {
        size = dims[d] == 1 ? size : dims[d];
      } else if (dims[d] != 1 && dims[d] != kDynamic && dims[d] != size) {
        size = kDynamic;
      }
    }
  }
  if (check.has("broadcast_dimensions")) shape.assign(shape.size(), kDynamic);
  return check.ExpectShape(shape);
}

// Which kind the one ragged dimension of the left operand is of.
enum class Ragged { kFree, kContracting, kBatching };

struct RaggedDot {
  DotDimensions dot;
  Dimensions ragged;
  Dimensions groups;
  Ragged kind = Ragged::kFree;
};

std::optional<Dimensions> List(const std::vector<Entry>& entries, std::string_view name) {
  const auto text = FindEntry(entries, name);
  return text ? AsIntegers(*text) : Dimensions{};
}

std::optional<RaggedDot> ReadRaggedDot(std::string_view text) {
  const std::vector<Entry> entries = Entries(text);
  const auto lhs_batching = List(entries, "lhs_batching_dimensions");
  const auto rhs_batching = List(entries, "rhs_batching_dimensions");
  const auto lhs_contracting = List(entries, "lhs_contracting_dimensions");
  const auto rhs_contracting = List(entries, "rhs_contracting_dimensions");
  const auto ragged = List(entries, "lhs_ragged_dimensions");
  const auto groups = List(entries, "rhs_group_dimensions");
  if (!lhs_batching || !rhs_batching || !lhs_contracting || !rhs_contracting || !ragged || !groups) return std::nullopt;
  return RaggedDot{
      .dot = {*lhs_batching, *rhs_batching, *lhs_contracting, *rhs_contracting}, .ragged = *ragged, .groups = *groups};
}

Dimensions Joined(Dimensions a, const Dimensions& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool CheckRaggedLists(Check& check, RaggedDot& dims) {
  const DotDimensions& dot = dims.dot;
  if (dims.ragged.size() != 1) {
    return check.Fail(kBadDimension, "exactly one ragged dimension is needed, but there are {}", dims.ragged.size());
  }
  if (dot.lhs_batching.size() != dot.rhs_batching.size() || dot.lhs_contracting.size() != dot.rhs_contracting.size()) {
    return check.Fail(kBadDimension, "both operands need equally many batching and contracting dimensions");
  }
  const int64_t left = check.operand_rank(0);
  const int64_t right = check.operand_rank(1);
  const Dimensions lhs = Joined(dot.lhs_batching, dot.lhs_contracting);
  const Dimensions rhs = Joined(Joined(dot.rhs_batching, dot.rhs_contracting), dims.groups);
  if (!check.ExpectDimensions(lhs, left, "lhs dimensions") || !check.ExpectDimensions(rhs, right, "rhs dimensions") ||
      !check.ExpectDimensions(dims.ragged, left, "lhs_ragged_dimensions")) {
    return false;
  }
  if (Contains(dot.lhs_contracting, dims.ragged[0])) dims.kind = Ragged::kContracting;
  if (Contains(dot.lhs_batching, dims.ragged[0])) dims.kind = Ragged::kBatching;
  const size_t wanted = dims.kind == Ragged::kFree ? 1 : 0;
  if (dims.groups.size() == wanted) return true;
  return check.Fail(kBadDimension, "{} group dimensions are needed for this ragged dimension, but there are {}", wanted,
                    dims.groups.size());
}

bool CheckRaggedSizes(Check& check, const Dimensions& lhs, const Dimensions& rhs, std::string_view what) {
  for (size_t i = 0; i < lhs.size(); ++i) {
    const int64_t left = check.operand(0).dims[static_cast<size_t>(lhs[i])];
    const int64_t right = check.operand(1).dims[static_cast<size_t>(rhs[i])];
    if (CompatibleSizes(left, right)) continue;
    return check.Fail(kTypeMismatch, "{} dimensions {} and {} have sizes {} and {}", what, lhs[i], rhs[i], left, right);
  }
  return true;
}

// group_sizes is one list, or one for each value of the dimensions before the ragged one.
bool CheckGroupSizes(Check& check, const RaggedDot& dims) {
  if (!check.operand_ranked(2)) return true;
  const Type& sizes = check.operand(2);
  const Type& lhs = check.operand(0);
  if (sizes.dims.empty()) return check.Fail(kTypeMismatch, "the group sizes must have a dimension");
  Dimensions prefix;
  const auto add = [&](int64_t d) { prefix.push_back(lhs.dims[static_cast<size_t>(d)]); };
  for (const int64_t d : dims.dot.lhs_batching) {
    if (dims.kind == Ragged::kBatching && d == dims.ragged[0]) break;
    add(d);
  }
  if (dims.kind == Ragged::kContracting) {
    for (const int64_t d : dims.dot.lhs_contracting) {
      if (d == dims.ragged[0]) break;
      add(d);
    }
  } else if (dims.kind == Ragged::kFree) {
    for (int64_t d = 0; d < dims.ragged[0]; ++d) {
      if (!Contains(dims.dot.lhs_batching, d) && !Contains(dims.dot.lhs_contracting, d)) add(d);
    }
  }
  if (sizes.dims.size() > 1 &&
      !std::equal(sizes.dims.begin(), sizes.dims.end() - 1, prefix.begin(), prefix.end(), CompatibleSizes)) {
    return check.Fail(kTypeMismatch, "the group sizes must have dimensions {} before the groups, not `{}`",
                      ShapeList(prefix), check.text(check.operand_type(2)));
  }
  if (dims.groups.empty()) return true;
  const int64_t groups = check.operand(1).dims[static_cast<size_t>(dims.groups[0])];
  if (CompatibleSizes(groups, sizes.dims.back())) return true;
  return check.Fail(kTypeMismatch, "the right operand has {} groups, but there are {} group sizes", groups,
                    sizes.dims.back());
}

Dimensions RaggedShape(Check& check, const RaggedDot& dims) {
  Dimensions shape;
  if (dims.kind != Ragged::kFree) {
    if (dims.kind == Ragged::kContracting && check.operand_ranked(2)) shape.push_back(check.operand(2).dims.back());
  }
  for (const int64_t d : dims.dot.lhs_batching) shape.push_back(check.operand(0).dims[static_cast<size_t>(d)]);
  for (int64_t d = 0; d < check.operand_rank(0); ++d) {
    if (Contains(dims.dot.lhs_batching, d) || Contains(dims.dot.lhs_contracting, d)) continue;
    shape.push_back(check.operand(0).dims[static_cast<size_t>(d)]);
  }
  for (int64_t d = 0; d < check.operand_rank(1); ++d) {
    if (Contains(dims.dot.rhs_batching, d) || Contains(dims.dot.rhs_contracting, d) || Contains(dims.groups, d))
      continue;
    shape.push_back(check.operand(1).dims[static_cast<size_t>(d)]);
  }
  return shape;
}

// Operand `type` without the scanned dimension.
Dimensions Scanned(const Type& type, int64_t dimension) {
  Dimensions dims = type.dims;
  dims.erase(dims.begin() + dimension);
  return dims;
}

bool CheckScanArgument(Check& check, BlockId block, size_t i, const Dimensions& dims) {
  const TypeId type = check.argument_type(block, i);
  const Type& argument = check.module().types()[type];
  const bool same = argument.is_tensor() &&
                    std::equal(dims.begin(), dims.end(), argument.dims.begin(), argument.dims.end(), CompatibleSizes) &&
                    CompatibleElements(check.facts(), check.operand_type(i), type);
  return same || check.Fail(kBadRegion, "operand {} is `{}`, which does not fit the body's argument `{}`", i,
                            check.text(check.operand_type(i)), check.text(type));
}

}  // namespace

bool CheckChloBroadcast(Check& check) {
  for (size_t i = 1; i < check.operand_count(); ++i) {
    // A selecting predicate has another element than what it selects.
    const bool predicate = check.operand_count() == 3;
    if (!ExpectEqualElements(check, predicate ? 1 : 0, i)) return false;
  }
  return CheckBroadcastShape(check);
}

bool CheckChloBroadcastComplex(Check& check) { return ExpectEqualElements(check, 0, 1) && CheckBroadcastShape(check); }

bool CheckChloConstantLike(Check& check) {
  const std::string_view* value = check.Require("value");
  if (!value) return false;
  const auto dense = AsDense(*value);
  if (!dense || dense->type.empty() || dense->type.find('<') != std::string_view::npos) return true;
  if (dense->type == ElementText(check.result().element)) return true;
  return check.Fail(kTypeMismatch, "the value is of type `{}`, but the result is `{}`", dense->type,
                    check.text(check.result_type()));
}

bool CheckChloTopK(Check& check) {
  const auto k = check.Dimension("k");
  if (!k || !check.operand_ranked(0)) return false;
  Dimensions dims = check.operand(0).dims;
  if (dims.empty()) return check.Fail(kTypeMismatch, "the operand must have a dimension");
  if (dims.back() != kDynamic && dims.back() < *k) {
    return check.Fail(kTypeMismatch, "the last dimension has size {}, which is less than k = {}", dims.back(), *k);
  }
  dims.back() = *k;
  return check.ExpectResults(2) && check.ExpectShape(dims, 0) && check.ExpectShape(dims, 1) &&
         check.ExpectElement(0, 0);
}

bool CheckChloScan(Check& check) {
  const auto dimension = check.Integer("dimension");
  const BlockId block = check.block(0);
  if (!dimension || !block.valid()) return false;
  if (check.argument_count(block) != check.operand_count()) {
    return check.Fail(kBadRegion, "the body must take {} arguments, but takes {}", check.operand_count(),
                      check.argument_count(block));
  }
  const auto segments = check.OptionalIntegers("operandSegmentSizes");
  if (!segments || segments->empty() || (*segments)[0] < 0) return true;
  const size_t inputs = std::min(static_cast<size_t>((*segments)[0]), check.operand_count());
  const auto length = check.OptionalInteger("scan_dim_size", kDynamic);
  for (size_t i = 0; i < inputs; ++i) {
    if (!check.operand_ranked(i)) continue;
    if (*dimension < 0 || *dimension >= check.operand_rank(i)) {
      return check.Fail(kBadDimension, "`dimension` {} is beyond operand {} of rank {}", *dimension, i,
                        check.operand_rank(i));
    }
    const int64_t size = check.operand(i).dims[static_cast<size_t>(*dimension)];
    if (length && !CompatibleSizes(size, *length)) {
      return check.Fail(kBadDimension, "operand {} has {} steps, but `scan_dim_size` is {}", i, size, *length);
    }
    if (!CheckScanArgument(check, block, i, Scanned(check.operand(i), *dimension))) return false;
  }
  for (size_t i = inputs; i < check.operand_count(); ++i) {
    if (check.operand_ranked(i) && !CheckScanArgument(check, block, i, check.operand(i).dims)) return false;
  }
  return true;
}

bool CheckChloRaggedDot(Check& check) {
  const std::string_view* text = check.Require("ragged_dot_dimension_numbers");
  if (!text) return false;
  auto dims = ReadRaggedDot(*text);
  if (!dims) return check.Fail(kBadAttribute, "`ragged_dot_dimension_numbers` cannot be read");
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  return CheckRaggedLists(check, *dims) &&
         CheckRaggedSizes(check, dims->dot.lhs_batching, dims->dot.rhs_batching, "batching") &&
         CheckRaggedSizes(check, dims->dot.lhs_contracting, dims->dot.rhs_contracting, "contracting") &&
         CheckGroupSizes(check, *dims) && CheckPrecision(check) && check.ExpectShape(RaggedShape(check, *dims));
}

}  // namespace hespas::ir::verify
