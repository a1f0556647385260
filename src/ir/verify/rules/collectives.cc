#include <algorithm>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

// The handle of a channel, 0 where there is none.
int64_t ChannelNumber(Check& check) {
  const std::string_view* handle = check.attribute("channel_handle");
  if (!handle) return 0;
  return AsInteger(FindEntry(Entries(*handle), "handle").value_or("0")).value_or(0);
}

bool CheckChannel(Check& check, int64_t least) {
  if (!UsesGlobalIds(check) || ChannelNumber(check) >= least) return true;
  return check.Fail(kBadGroups, "with `use_global_device_ids` the channel's handle must be at least {}, but is {}",
                    least, ChannelNumber(check));
}

// The reduction body of each operand of all_reduce and reduce_scatter.
bool CheckBody(Check& check) {
  for (size_t i = 0; i < check.result_count(); ++i) {
    Reducer reducer{.block = check.block(0),
                    .inputs = {check.operand_type(i)},
                    .inits = {check.operand_type(i)},
                    .scalar_inits = true};
    if (!reducer.block.valid()) return check.Fail(kBadRegion, "the body is empty");
    if (!CheckReducer(check, reducer)) return false;
    const auto returned = check.returned_types(reducer.block);
    if (!CompatibleElements(check.facts(), (*returned)[0], check.result_type(i))) {
      return check.Fail(kTypeMismatch, "the body returns `{}`, but the result type is `{}`", check.text((*returned)[0]),
                        check.text(check.result_type(i)));
    }
  }
  return true;
}

// Shapes equal but for one dimension.
bool CheckOtherDimensions(Check& check, size_t i, int64_t dimension) {
  const Type& operand = check.operand(i);
  const Type& result = check.result(i);
  if (operand.dims.size() != result.dims.size()) {
    return check.Fail(kTypeMismatch, "operand `{}` and result `{}` differ in rank", check.text(check.operand_type(i)),
                      check.text(check.result_type(i)));
  }
  for (size_t d = 0; d < operand.dims.size(); ++d) {
    if (static_cast<int64_t>(d) == dimension || CompatibleSizes(operand.dims[d], result.dims[d])) continue;
    return check.Fail(kTypeMismatch, "only dimension {} may differ between operand `{}` and result `{}`", dimension,
                      check.text(check.operand_type(i)), check.text(check.result_type(i)));
  }
  return true;
}

// `large` is a multiple of `small`, neither is zero.
bool CheckMultiple(Check& check, int64_t large, int64_t small, int64_t dimension) {
  if (large == 0 || small == 0) return check.Fail(kBadDimension, "dimension {} must not have size 0", dimension);
  if (large == kDynamic || small == kDynamic || large % small == 0) return true;
  return check.Fail(kBadDimension, "size {} of dimension {} is no multiple of {}", large, dimension, small);
}

bool CheckGathered(Check& check, size_t i, int64_t dimension) {
  if (!check.operand_ranked(i) || !check.result_ranked(i)) return true;
  if (dimension >= check.operand_rank(i)) {
    return check.Fail(kBadDimension, "`all_gather_dim` {} is not in [0, {})", dimension, check.operand_rank(i));
  }
  const int64_t from = check.operand(i).dims[static_cast<size_t>(dimension)];
  if (from == 0) return check.Fail(kBadDimension, "the gathered dimension {} must not have size 0", dimension);
  if (!CheckOtherDimensions(check, i, dimension)) return false;
  const int64_t to = check.result(i).dims[static_cast<size_t>(dimension)];
  if (to == 0) return true;
  return CheckMultiple(check, to, from, dimension) && check.ExpectElement(i, i);
}

bool CheckSplit(Check& check, size_t i, int64_t split, int64_t concat, int64_t count) {
  if (!check.ExpectElement(i, i)) return false;
  if (!check.operand_ranked(i)) return true;
  Dimensions dims = check.operand(i).dims;
  const int64_t rank = check.operand_rank(i);
  if (split >= rank || concat >= rank) {
    return check.Fail(kBadDimension, "dimensions {} (split) and {} (concat) are not both in [0, {})", split, concat,
                      rank);
  }
  int64_t& size = dims[static_cast<size_t>(split)];
  if (size != kDynamic && size % count != 0) {
    return check.Fail(kBadDimension, "size {} of the split dimension is no multiple of `split_count` {}", size, count);
  }
  if (size != kDynamic) size /= count;
  int64_t& joined = dims[static_cast<size_t>(concat)];
  if (joined != kDynamic) joined = joined > INT64_MAX / count ? kDynamic : joined * count;
  return check.ExpectShape(dims, i);
}

// `large` is `small` times the members of a group, along the attribute's dimension. XLA insists; the reference
// implementation of StableHLO does not, and programs rely on it.
bool CheckFactor(Check& check, std::string_view attribute, bool gathers) {
  const auto dimension = check.Dimension(attribute);
  const int64_t members = GroupMembers(check);
  if (!dimension || members <= 1) return dimension.has_value();
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!check.operand_ranked(i) || !check.result_ranked(i) || *dimension >= check.operand_rank(i)) continue;
    const int64_t operand = check.operand(i).dims[static_cast<size_t>(*dimension)];
    const int64_t result = check.result(i).dims[static_cast<size_t>(*dimension)];
    const int64_t large = gathers ? result : operand;
    const int64_t small = gathers ? operand : result;
    if (large == kDynamic || small == kDynamic || large == internal::SaturatingMultiply(small, members)) continue;
    return check.Fail(kBadDimension, "dimension {} has {} elements, which are not {} for each of {} members",
                      *dimension, large, small, members);
  }
  return true;
}

// How many operands are sent, which is the number of results; nothing with a report. Roots chosen at run time are one
// operand more: a list with one root for each of them.
std::optional<size_t> CheckRoots(Check& check) {
  const std::string_view* dynamic = check.attribute("has_dynamic_root");
  const bool given = dynamic && AsBool(*dynamic).value_or(true);
  if (check.operand_count() < (given ? 2 : 1)) {
    check.Fail(kWrongCount, "{} operands are given, but there must be data{}", check.operand_count(),
               given ? " and a list of roots" : "");
    return std::nullopt;
  }
  const size_t data = check.operand_count() - (given ? 1 : 0);
  if (!check.ExpectResults(data)) return std::nullopt;
  if (!given) return data;
  const Type& roots = check.operand(data);
  const bool is_i32 = (check.operand_facts(data).classes & kSigned) && roots.element.bits == 32;
  if (!is_i32 || !check.operand_ranked(data) || roots.dims.size() != 1) {
    check.Fail(kWrongType, "the roots must be a list of i32, not `{}`", check.text(check.operand_type(data)));
    return std::nullopt;
  }
  if (CompatibleSizes(roots.dims[0], static_cast<int64_t>(data))) return data;
  check.Fail(kTypeMismatch, "{} roots are given for {} operands", roots.dims[0], data);
  return std::nullopt;
}

bool ReturnsOneCollective(Check& check, const std::vector<OpId>& ops) {
  if (ops.size() != 2) {
    return check.Fail(kBadRegion, "the region must hold one op and a return, but holds {} ops", ops.size());
  }
  const OpSort sort = Traits(check.module().kind(ops[0])).sort;
  if (sort == OpSort::kCollective || sort == OpSort::kSlice) return true;
  return check.Fail(kBadRegion, "the region must hold a collective or a slice, not `{}`", check.module().name(ops[0]));
}

}  // namespace

bool CheckAllGather(Check& check) {
  const auto dimension = check.Dimension("all_gather_dim");
  if (!dimension || !check.ExpectResults(check.operand_count())) return false;
  if (!CheckReplicaGroups(check, {}) || !CheckChannel(check, 0)) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!CheckGathered(check, i, *dimension)) return false;
  }
  return !check.hlo() || CheckFactor(check, "all_gather_dim", true);
}

bool CheckAllReduce(Check& check) {
  if (!check.ExpectResults(check.operand_count())) return false;
  if (!CheckReplicaGroups(check, {.uniform = false}) || !CheckChannel(check, 1) || !CheckBody(check)) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (check.operand_ranked(i) && !check.ExpectShape(check.operand(i).dims, i)) return false;
  }
  return true;
}

bool CheckCollectiveReduce(Check& check) {
  if (!CheckRoots(check) || !CheckReplicaGroups(check, {.uniform = false, .complete = false}) ||
      !CheckChannel(check, 1) || !CheckBody(check)) {
    return false;
  }
  for (size_t i = 0; i < check.result_count(); ++i) {
    if (check.operand_ranked(i) && !check.ExpectShape(check.operand(i).dims, i)) return false;
  }
  return true;
}

bool CheckAllToAll(Check& check) {
  // The tuple form of mhlo has no split: operand i goes to member i.
  if (check.loose() && !check.has("split_dimension")) return true;
  const auto split = check.Dimension("split_dimension");
  const auto concat = check.Dimension("concat_dimension");
  const auto count = check.Integer("split_count");
  if (!split || !concat || !count) return false;
  if (*count < 1) return check.Fail(kBadAttribute, "`split_count` must be positive, but is {}", *count);
  if (!check.ExpectResults(check.operand_count())) return false;
  if (!CheckReplicaGroups(check, {.size = check.loose() ? 0 : *count})) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!CheckSplit(check, i, *split, *concat, *count)) return false;
  }
  return true;
}

bool CheckReduceScatter(Check& check) {
  const auto dimension = check.Dimension("scatter_dimension");
  if (!dimension || !check.ExpectResults(check.operand_count())) return false;
  if (!CheckReplicaGroups(check, {}) || !CheckChannel(check, 1) || !CheckBody(check)) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (!check.operand_ranked(i) || !check.result_ranked(i)) continue;
    if (check.operand_rank(i) != check.result_rank(i)) return CheckOtherDimensions(check, i, *dimension);
    if (*dimension >= check.operand_rank(i)) {
      return check.Fail(kBadDimension, "`scatter_dimension` {} is not in [0, {})", *dimension, check.operand_rank(i));
    }
    const size_t d = static_cast<size_t>(*dimension);
    if (!CheckMultiple(check, check.operand(i).dims[d], check.result(i).dims[d], *dimension) ||
        !CheckOtherDimensions(check, i, *dimension)) {
      return false;
    }
  }
  return !check.hlo() || CheckFactor(check, "scatter_dimension", false);
}

bool CheckCollectivePermute(Check& check) {
  return CheckPairs(check) && check.ExpectResults(check.operand_count()) &&
         (check.operand_count() == 0 || check.ExpectSameType(0));
}

bool CheckCollectiveBroadcast(Check& check) {
  const auto data = CheckRoots(check);
  if (!data || !CheckReplicaGroups(check, {.uniform = false, .complete = false})) return false;
  for (size_t i = 0; i < *data; ++i) {
    if (!check.ExpectSameType(i, i)) return false;
  }
  return true;
}

bool CheckAsyncStart(Check& check) {
  if (check.loose()) return true;
  if (check.region_count() != 1 || !check.block(0).valid()) {
    return check.Fail(kWrongCount, "one region is needed, but there are {}", check.region_count());
  }
  const BlockId block = check.block(0);
  if (check.argument_count(block) != check.operand_count()) {
    return check.Fail(kBadRegion, "the region takes {} arguments for {} operands", check.argument_count(block),
                      check.operand_count());
  }
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (Compatible(check.facts(), check.argument_type(block, i), check.operand_type(i))) continue;
    return check.Fail(kBadRegion, "operand {} is `{}`, but the region takes `{}`", i, check.text(check.operand_type(i)),
                      check.text(check.argument_type(block, i)));
  }
  if (!ReturnsOneCollective(check, check.module().block(block).ops)) return false;
  const auto returned = check.returned_types(block);
  const Type& future = check.result();
  if (!returned || future.kind != TypeKind::kFuture) return true;
  const bool same = std::equal(returned->begin(), returned->end(), future.nested.begin(), future.nested.end(),
                               [&](TypeId a, TypeId b) { return Compatible(check.facts(), a, b); });
  return same || check.Fail(kTypeMismatch, "the region does not return what the result type `{}` holds",
                            check.text(check.result_type()));
}

bool CheckAsyncDone(Check& check) {
  if (check.operand(0).kind != TypeKind::kFuture) return true;
  const Type& future = check.operand(0);
  if (!check.ExpectResults(future.nested.size())) return false;
  for (size_t i = 0; i < check.result_count(); ++i) {
    if (Compatible(check.facts(), future.nested[i], check.result_type(i))) continue;
    return check.Fail(kTypeMismatch, "the future holds `{}`, but result {} has type `{}`", check.text(future.nested[i]),
                      i, check.text(check.result_type(i)));
  }
  return true;
}

}  // namespace hespas::ir::verify
