// Who takes part in a collective: replica groups, meshes, pairs of source and target.
#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

int64_t CountOf(Check& check, std::string_view name) {
  const std::string_view* text = check.module().attribute(check.module().root(), name);
  return text == nullptr ? 1 : AsInteger(*text).value_or(1);
}

// Those whose channel means all partitions of each replica, where others' means the partitions.
bool IsSum(Check& check) {
  const OpKind kind = check.module().kind(check.id());
  return kind == OpKind::kAllReduce || kind == OpKind::kAllGather || kind == OpKind::kReduceScatter;
}

// How many ids there are of the kind that groups or pairs name (StableHLO specification, "Collective ops"); 0 where the
// program does not say. Only HLO is held to its counts: StableHLO's reference implementation takes any. A count of 1
// stands where nobody knows, and XLA's CheckReplicaGroups lets it pass.
int64_t IdsOf(Check& check) {
  if (!check.hlo() || check.in_nested_module()) return 0;
  const int64_t replicas = CountOf(check, "mhlo.num_replicas");
  const int64_t partitions = CountOf(check, "mhlo.num_partitions");
  int64_t ids = !IsSum(check) && ChannelOf(check.module(), check.id()) ? partitions : replicas;
  if (UsesGlobalIds(check) && __builtin_mul_overflow(replicas, partitions, &ids)) return 0;
  return ids > 1 ? ids : 0;
}

bool CheckIdCount(Check& check, const std::vector<int64_t>& ids, bool complete) {
  const int64_t count = IdsOf(check);
  if (count == 0 || ids.empty()) return true;
  const int64_t largest = *std::max_element(ids.begin(), ids.end());
  const auto named = std::count_if(ids.begin(), ids.end(), [](int64_t id) { return id >= 0; });
  if (largest < count && (!complete || named == count)) return true;
  return check.Report(kBadGroups,
                      largest >= count ? fmt::format("id {} is named, but the program runs on {}", largest, count)
                                       : fmt::format("{} ids are named, but the program runs on {}", named, count),
                      "correct the ids, or num_partitions and replica_count of the header");
}

// Every id once, none left out of 0..n-1.
bool CheckIds(Check& check, const IntegerMatrix& groups, const GroupRules& rules) {
  std::vector<bool> seen(groups.values.size(), false);
  int64_t count = 0;
  for (const int64_t id : groups.values) {
    if (id == -1 && !rules.uniform) continue;
    if (id < 0) return check.Fail(kBadGroups, "{} is no replica id", id);
    ++count;
    if (id >= static_cast<int64_t>(seen.size())) continue;
    if (seen[static_cast<size_t>(id)]) return check.Fail(kBadGroups, "replica id {} is in more than one group", id);
    seen[static_cast<size_t>(id)] = true;
  }
  if (!rules.complete) return true;
  for (int64_t id = 0; id < count; ++id) {
    if (!seen[static_cast<size_t>(id)]) return check.Fail(kBadGroups, "replica id {} is in no group", id);
  }
  return true;
}

// `#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [...]>`: the mesh is a symbol of the module, or written out.
bool CheckMeshAxes(Check& check, std::string_view text) {
  const auto mesh = FindEntry(Entries(text), "mesh");
  if (!mesh || !mesh->starts_with('@') || check.in_nested_module()) return true;
  if (check.module().FindSymbol(AsSymbol(*mesh)).valid()) return true;
  return check.Report(kBadSymbol, fmt::format("`{}` is no mesh of this module", *mesh),
                      "define the mesh or correct the name");
}

// `[G,S]<=[N,...]T(...)`, where there are too many to list: as many places as ids.
bool CheckIotaGroups(Check& check, std::string_view text) {
  const size_t arrow = text.find("<=");
  const auto product = [&](size_t from) {
    const size_t open = std::min(text.find('[', from), text.size());
    int64_t out = 1;
    for (const int64_t v :
         AsIntegers(text.substr(open, text.find(']', open) + 1 - open)).value_or(std::vector<int64_t>())) {
      if (__builtin_mul_overflow(out, v, &out)) return int64_t{-1};
    }
    return out;
  };
  const int64_t places = product(0);
  const int64_t ids = product(arrow);
  if (places != ids) return check.Fail(kBadGroups, "`replica_groups` has {} places for {} ids", places, ids);
  return CheckIdCount(check, {ids - 1}, false);
}

bool CheckGroupText(Check& check, std::string_view text, const GroupRules& rules) {
  if (Trim(text).starts_with('#')) return CheckMeshAxes(check, text);
  if (check.hlo() && text.find("<=") != std::string_view::npos) return CheckIotaGroups(check, text);
  const auto dense = AsDense(text);
  const auto shape = dense ? AsShape(dense->type) : std::nullopt;
  if (shape && shape->dims.size() != 2) {
    return check.Report(kBadGroups,
                        fmt::format("`replica_groups` must have two dimensions, but has {}", shape->dims.size()),
                        "write a list of groups, such as dense<[[0, 1]]> : tensor<1x2xi64>");
  }
  const auto groups = AsIntegerMatrix(text);
  if (!groups) return check.Fail(kBadGroups, "`replica_groups` cannot be read: `{}`", text.substr(0, 60));
  if (UsesGlobalIds(check) && groups->values.empty()) {
    return check.Fail(kBadGroups, "with `use_global_device_ids` the replica groups must not be empty");
  }
  if (!CheckIds(check, *groups, rules)) return false;
  if (!CheckIdCount(check, groups->values, rules.complete)) return false;
  if (rules.size == 0 || (groups->columns == rules.size && groups->rows > 0)) return true;
  return check.Fail(kBadGroups, "groups of {} replicas are needed, but they have {}", rules.size, groups->columns);
}

}  // namespace

bool UsesGlobalIds(Check& check) {
  const std::string_view* flag = check.attribute("use_global_device_ids");
  return flag && AsBool(*flag).value_or(true);
}

// Known without a look at the ids where the text gives its shape.
int64_t GroupMembers(Check& check) {
  if (check.has("channel_handle") && !check.has("use_global_device_ids")) return 0;
  const std::string_view* text = check.attribute("replica_groups");
  if (!text) return 0;
  const auto dense = AsDense(*text);
  const auto shape = dense ? AsShape(dense->type) : std::nullopt;
  if (shape && shape->dims.size() == 2) return shape->dims[0] == 0 ? 0 : shape->dims[1];
  const auto groups = AsIntegerMatrix(*text);
  return groups ? groups->columns : 0;
}

bool CheckReplicaGroups(Check& check, const GroupRules& rules) {
  const std::string_view* text = check.Require("replica_groups");
  if (!text) return false;
  std::string key(*text);
  key += fmt::format(" {}{}{}{}{}{}", rules.uniform, rules.complete, UsesGlobalIds(check), IsSum(check),
                     check.has("channel_handle"), rules.size);
  if (check.right_groups().contains(key)) return true;
  if (!CheckGroupText(check, *text, rules)) return false;
  check.right_groups().insert(std::move(key));
  return true;
}

bool CheckPairs(Check& check) {
  const std::string_view* text = check.Require("source_target_pairs");
  if (!text) return false;
  const auto list = AsIntegers(*text);
  if (list && list->empty()) return true;
  const auto pairs = AsIntegerMatrix(*text);
  if (!pairs || (!pairs->values.empty() && pairs->columns != 2)) {
    return check.Report(kBadGroups, fmt::format("`source_target_pairs` must be pairs, not `{}`", text->substr(0, 60)),
                        "write dense<[[source, target], ...]> : tensor<Nx2xi64>");
  }
  std::vector<int64_t> sources;
  std::vector<int64_t> targets;
  for (int64_t row = 0; row < pairs->rows && pairs->columns == 2; ++row) {
    if (pairs->at(row, 0) < 0 || pairs->at(row, 1) < 0)
      return check.Fail(kBadGroups, "replica ids must not be negative");
    sources.push_back(pairs->at(row, 0));
    targets.push_back(pairs->at(row, 1));
  }
  for (std::vector<int64_t>* ids : {&sources, &targets}) {
    if (!CheckIdCount(check, *ids, false)) return false;
    std::sort(ids->begin(), ids->end());
    const auto twice = std::adjacent_find(ids->begin(), ids->end());
    if (twice != ids->end()) {
      return check.Fail(kBadGroups, "replica {} is the {} of two pairs", *twice, ids == &sources ? "source" : "target");
    }
  }
  return true;
}

}  // namespace hespas::ir::verify
