#include <algorithm>

#include "base/units.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

// Broadcast dimensions: one for each operand dimension, valid and distinct, with sizes 1 or the result's.
bool CheckMapping(Check& check, const std::vector<int64_t>& mapping) {
  if (!check.operand_ranked(0) || !check.result_ranked()) return true;
  const Type& operand = check.operand(0);
  const Type& result = check.result();
  if (mapping.size() != operand.dims.size()) {
    return check.Fail(kBadDimension, "{} broadcast dimensions are given for an operand of rank {}", mapping.size(),
                      operand.dims.size());
  }
  if (!check.ExpectDimensions(mapping, check.result_rank(), "broadcast_dimensions")) return false;
  for (size_t i = 0; i < mapping.size(); ++i) {
    const int64_t target = result.dims[static_cast<size_t>(mapping[i])];
    if (operand.dims[i] == 1 || CompatibleSizes(operand.dims[i], target)) continue;
    return check.Fail(kTypeMismatch, "dimension {} of the operand has size {}, which cannot become {} in dimension {}",
                      i, operand.dims[i], target, mapping[i]);
  }
  return true;
}

// "known_expanding_dimensions" and its contrary name operand dimensions, none in both.
bool CheckHints(Check& check) {
  const auto expanding = check.OptionalIntegers("known_expanding_dimensions");
  const auto others = check.OptionalIntegers("known_nonexpanding_dimensions");
  if (!expanding || !others) return false;
  std::vector<int64_t> all = *expanding;
  all.insert(all.end(), others->begin(), others->end());
  return check.ExpectDimensions(all, check.operand_rank(0), "known_(non)expanding_dimensions");
}

// A shape operand has one entry for each result dimension; a constant one fixes the result's sizes.
bool CheckShapeOperand(Check& check, size_t index) {
  const Type& shape = check.operand(index);
  if (!check.result_ranked() || !check.operand_ranked(index)) return true;
  if (shape.dims.size() == 1 && !CompatibleSizes(shape.dims[0], check.result_rank())) {
    return check.Fail(kTypeMismatch, "a shape of {} sizes does not fit a result of rank {}", shape.dims[0],
                      check.result_rank());
  }
  const auto sizes = check.ConstantOperand(index);
  if (!sizes) return true;
  for (const int64_t size : *sizes) {
    if (size < 0) return check.Fail(kTypeMismatch, "the shape {} has a negative size", ShapeList(*sizes));
  }
  return check.ExpectShape(*sizes);
}

// A constant shape must have room for the operand's dimensions.
bool CheckConstantShape(Check& check, const std::vector<int64_t>& mapping) {
  const auto sizes = check.ConstantOperand(1);
  if (!sizes || !check.operand_ranked(0)) return true;
  const std::vector<int64_t>& dims = check.operand(0).dims;
  for (size_t i = 0; i < mapping.size() && i < dims.size(); ++i) {
    if (mapping[i] < 0 || mapping[i] >= static_cast<int64_t>(sizes->size())) continue;
    const int64_t target = (*sizes)[static_cast<size_t>(mapping[i])];
    if (dims[i] == 1 || CompatibleSizes(dims[i], target)) continue;
    return check.Fail(kTypeMismatch, "dimension {} of the operand has size {}, but the shape has {} in dimension {}", i,
                      dims[i], target, mapping[i]);
  }
  return true;
}

// Ops without a shape operand give a known shape, of which one dimension may merely have a bound.
bool ExpectStaticOrBounded(Check& check, std::string_view alternative) {
  const TypeFacts& facts = check.result_facts();
  if (!facts.ranked || facts.static_shape) return true;
  const Type& type = check.result();
  const std::vector<int64_t> bounds = Bounds(type);
  size_t dynamic = 0;
  size_t unbounded = 0;
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (type.dims[i] != kDynamic) continue;
    ++dynamic;
    if (i >= bounds.size() || bounds[i] == kDynamic) ++unbounded;
  }
  if (unbounded == 0 && (dynamic <= 1 || check.loose() || check.hlo())) return true;
  return check.Report(kWrongType,
                      fmt::format("the result type `{}` has {}", check.text(check.result_type()),
                                  unbounded > 0 ? "dynamic dimensions without bounds" : "several dynamic dimensions"),
                      fmt::format("give the sizes, or a bound of one dimension, or use {}", alternative));
}

bool CheckPadding(Check& check, const std::vector<int64_t>& low, const std::vector<int64_t>& high,
                  const std::vector<int64_t>& interior) {
  const Type& operand = check.operand(0);
  const std::vector<int64_t> most = UpperSizes(operand);
  std::vector<int64_t> dims;
  for (size_t i = 0; i < operand.dims.size(); ++i) {
    if (interior[i] < 0)
      return check.Fail(kBadAttribute, "interior padding must not be negative, but is {}", interior[i]);
    if (most[i] == kDynamic) {
      dims.push_back(kDynamic);
      continue;
    }
    const int64_t gaps = internal::SaturatingMultiply(std::max<int64_t>(most[i] - 1, 0), interior[i]);
    const int64_t size =
        internal::SaturatingAdd(internal::SaturatingAdd(most[i], gaps), internal::SaturatingAdd(low[i], high[i]));
    if (size < 0) return check.Fail(kBadDimension, "padding makes dimension {} negative ({})", i, size);
    dims.push_back(operand.dims[i] == kDynamic ? kDynamic : size);
  }
  return check.ExpectShape(dims);
}

bool CheckDimensionOfOperand(Check& check) {
  if (!check.operand_ranked(0)) return check.Dimension("dimension").has_value();
  return check.Dimension("dimension", check.operand_rank(0)).has_value();
}

// Both shapes hold equally many elements.
bool CheckElementCount(Check& check) {
  if (check.operand_facts(0).static_shape && check.result_facts().static_shape) {
    const int64_t given = check.operand(0).element_count();
    const int64_t wanted = check.result().element_count();
    if (given != wanted) {
      return check.Fail(kTypeMismatch, "`{}` has {} elements, but `{}` has {}", check.text(check.operand_type(0)),
                        given, check.text(check.result_type()), wanted);
    }
  }
  return CheckQuantisedMove(check);
}

}  // namespace

bool CheckBroadcast(Check& check) {
  const auto sizes = check.Integers("broadcast_sizes");
  if (!sizes || !check.operand_ranked(0)) return false;
  for (const int64_t size : *sizes) {
    if (size < 0) return check.Fail(kBadAttribute, "broadcast size {} is negative", size);
  }
  std::vector<int64_t> dims = *sizes;
  dims.insert(dims.end(), check.operand(0).dims.begin(), check.operand(0).dims.end());
  return check.ExpectShape(dims);
}

bool CheckBroadcastInDim(Check& check) {
  const auto mapping = check.Integers("broadcast_dimensions");
  if (!mapping) return false;
  return ExpectStaticOrBounded(check, "dynamic_broadcast_in_dim") && CheckMapping(check, *mapping) &&
         CheckQuantisedMove(check);
}

bool CheckDynamicBroadcastInDim(Check& check) {
  const auto mapping = check.Integers("broadcast_dimensions");
  return mapping && CheckMapping(check, *mapping) && CheckHints(check) && CheckShapeOperand(check, 1) &&
         CheckConstantShape(check, *mapping) && CheckQuantisedMove(check);
}

bool CheckReshape(Check& check) {
  return (check.loose() || check.hlo() || ExpectStaticOrBounded(check, "dynamic_reshape")) && CheckElementCount(check);
}

bool CheckDynamicReshape(Check& check) {
  if (!CheckElementCount(check) || !CheckShapeOperand(check, 1)) return false;
  const auto sizes = check.ConstantOperand(1);
  if (!sizes || !check.operand_facts(0).static_shape) return true;
  int64_t wanted = 1;
  for (const int64_t size : *sizes) wanted = internal::SaturatingMultiply(wanted, size);
  const int64_t given = check.operand(0).element_count();
  if (given == wanted) return true;
  return check.Fail(kTypeMismatch, "the operand has {} elements, but the shape {} holds {}", given, ShapeList(*sizes),
                    wanted);
}

bool CheckTranspose(Check& check) {
  const auto permutation = check.Integers("permutation");
  if (!permutation || !check.operand_ranked(0)) return false;
  const Type& operand = check.operand(0);
  if (permutation->size() != operand.dims.size()) {
    return check.Fail(kBadDimension, "the permutation {} does not fit an operand of rank {}", ShapeList(*permutation),
                      operand.dims.size());
  }
  if (!check.ExpectDimensions(*permutation, check.operand_rank(0), "permutation")) return false;
  std::vector<int64_t> dims;
  for (const int64_t from : *permutation) dims.push_back(operand.dims[static_cast<size_t>(from)]);
  return check.ExpectShape(dims) && CheckQuantisedMove(check);
}

bool CheckReverse(Check& check) {
  const auto dims = check.Integers("dimensions");
  return dims && (!check.operand_ranked(0) || check.ExpectDimensions(*dims, check.operand_rank(0), "dimensions"));
}

bool CheckConcatenate(Check& check) {
  const auto dimension = check.Dimension("dimension");
  if (!dimension) return false;
  std::vector<int64_t> dims;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!check.operand_ranked(i)) return true;
    const std::vector<int64_t>& sizes = check.operand(i).dims;
    if (sizes.empty()) return check.Fail(kTypeMismatch, "scalars cannot be concatenated");
    if (i == 0) {
      if (*dimension >= static_cast<int64_t>(sizes.size())) {
        return check.Fail(kBadDimension, "`dimension` {} is not in [0, {})", *dimension, sizes.size());
      }
      dims = sizes;
      continue;
    }
    if (sizes.size() != dims.size()) return check.Fail(kTypeMismatch, "operands 0 and {} differ in rank", i);
    for (size_t d = 0; d < sizes.size(); ++d) {
      if (static_cast<int64_t>(d) == *dimension) {
        dims[d] = dims[d] == kDynamic || sizes[d] == kDynamic ? kDynamic : internal::SaturatingAdd(dims[d], sizes[d]);
      } else if (!CompatibleSizes(dims[d], sizes[d])) {
        return check.Fail(kTypeMismatch, "operand {} has size {} in dimension {}, but others have {}", i, sizes[d], d,
                          dims[d]);
      } else if (dims[d] == kDynamic) {
        dims[d] = sizes[d];
      }
    }
  }
  return check.ExpectShape(dims);
}

bool CheckPad(Check& check) {
  const auto low = check.Integers("edge_padding_low");
  const auto high = check.Integers("edge_padding_high");
  const auto interior = check.Integers("interior_padding");
  if (!low || !high || !interior || !check.operand_ranked(0)) return false;
  if (check.operand_ranked(1) && check.operand_rank(1) != 0) {
    return check.Fail(kWrongType, "the padding value must be a scalar, not `{}`", check.text(check.operand_type(1)));
  }
  const size_t rank = check.operand(0).dims.size();
  if (low->size() != rank || high->size() != rank || interior->size() != rank) {
    return check.Fail(kBadDimension, "padding lists of {}, {} and {} entries do not fit an operand of rank {}",
                      low->size(), high->size(), interior->size(), rank);
  }
  return CheckPadding(check, *low, *high, *interior);
}

bool CheckDynamicPad(Check& check) {
  if (!check.operand_ranked(0)) return true;
  if (!check.ExpectRank(1, 0)) return false;
  if (!CompatibleElements(check.facts(), check.operand_type(0), check.operand_type(1))) {
    return check.Fail(kTypeMismatch, "`{}` cannot be padded with `{}`", check.text(check.operand_type(0)),
                      check.text(check.operand_type(1)));
  }
  for (size_t i = 2; i < 5; ++i) {
    const Type& padding = check.operand(i);
    if (!check.ExpectRank(i, 1)) return false;
    if (!check.operand_ranked(i)) continue;
    if (!CompatibleSizes(padding.dims[0], check.operand_rank(0))) {
      return check.Fail(kTypeMismatch, "operand {} has {} entries, but the operand has rank {}", i, padding.dims[0],
                        check.operand_rank(0));
    }
  }
  const auto low = check.ConstantOperand(2);
  const auto high = check.ConstantOperand(3);
  const auto interior = check.ConstantOperand(4);
  if (interior) {
    for (const int64_t size : *interior) {
      if (size < 0) return check.Fail(kBadAttribute, "interior padding must not be negative, but is {}", size);
    }
  }
  const size_t rank = check.operand(0).dims.size();
  if (!low || !high || !interior || low->size() != rank || high->size() != rank || interior->size() != rank) {
    return check.ExpectShape(std::vector<int64_t>(rank, kDynamic));
  }
  return CheckPadding(check, *low, *high, *interior);
}

bool CheckGetDimensionSize(Check& check) {
  const bool is_i32 = (check.result_facts().classes & kSigned) && check.result().element.bits == 32;
  if (!is_i32 || (check.result_ranked() && check.result_rank() != 0)) {
    return check.Fail(kWrongType, "the result must be tensor<i32>, not `{}`", check.text(check.result_type()));
  }
  return CheckDimensionOfOperand(check);
}

bool CheckSetDimensionSize(Check& check) {
  if (check.operand_ranked(1) && check.operand_rank(1) != 0) {
    return check.Fail(kTypeMismatch, "the size must be a scalar, not `{}`", check.text(check.operand_type(1)));
  }
  if (!CheckDimensionOfOperand(check)) return false;
  if (!check.operand_ranked(0)) return true;
  std::vector<int64_t> dims = check.operand(0).dims;
  dims[static_cast<size_t>(check.Dimension("dimension").value_or(0))] = kDynamic;
  return check.ExpectShape(dims);
}

bool CheckScalarResult(Check& check) {
  return !check.result_ranked() || check.result_rank() == 0 ||
         check.Fail(kWrongType, "the result must be a scalar, not `{}`", check.text(check.result_type()));
}

}  // namespace hespas::ir::verify
