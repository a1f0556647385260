#include "ir/facts/shardings.h"

#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"

namespace hespas::ir {
namespace {

constexpr std::string_view kShardingNames[] = {"sdy.sharding", "mhlo.sharding"};

int64_t LeadingInteger(std::string_view text) {
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') break;
    value = std::min<int64_t>(value * 10 + (c - '0'), int64_t{1} << 40);
  }
  return value;
}

// `"x"`, or `"x":(2)4`: four of the axis' parts.
int64_t PartsOf(std::string_view axis, const MeshAxes& axes) {
  const size_t sub = axis.find(":(");
  if (sub != std::string_view::npos) {
    const size_t close = axis.find(')', sub);
    return close == std::string_view::npos ? 1 : std::max<int64_t>(1, LeadingInteger(axis.substr(close + 1)));
  }
  const auto found = axes.find(axis.substr(0, axis.find(':')));
  return found == axes.end() ? 1 : found->second;
}

std::string_view Unquoted(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.find('"', 1) - 1) : text;
}

// `{"x", "y", ?}p1` of one dimension.
void AddShardyDimension(std::string_view dimension, const MeshAxes& axes, Tiling& tiling) {
  int64_t parts = 1;
  for (const std::string_view item : ListItems(dimension.substr(0, dimension.rfind('}') + 1))) {
    if (item.empty() || item.front() != '"') continue;
    const size_t close = item.find('"', 1);
    if (close == std::string_view::npos) continue;
    const std::string axis = std::string(item.substr(1, close - 1)) + std::string(item.substr(close + 1));
    const int64_t size = PartsOf(axis, axes);
    if (size > 1) tiling.placement += axis + ",";
    parts *= size;
  }
  tiling.placement += ";";
  tiling.parts.push_back(parts);
}

std::optional<Tiling> ShardyTiling(std::string_view text, const MeshAxes& axes) {
  const size_t open = text.find('[');
  if (text.find('@') == std::string_view::npos || open == std::string_view::npos) return std::nullopt;
  const size_t end = text.find(']', open);
  if (end == std::string_view::npos) return std::nullopt;
  Tiling tiling;
  for (const std::string_view dimension : ListItems(text.substr(open, end + 1 - open))) {
    AddShardyDimension(dimension, axes, tiling);
  }
  while (!tiling.placement.empty() && tiling.placement.ends_with(";;")) tiling.placement.pop_back();
  if (tiling.replicated()) tiling.placement.clear();
  return tiling;
}

std::optional<Tiling> GspmdTiling(std::string_view text) {
  constexpr std::string_view kDevices = "devices=[";
  const size_t at = text.find(kDevices);
  if (at == std::string_view::npos) {
    const bool whole =
        text.find("{replicated") != std::string_view::npos || text.find("{maximal") != std::string_view::npos;
    return whole ? std::optional(Tiling()) : std::nullopt;
  }
  const size_t open = at + kDevices.size() - 1;
  const size_t end = text.find(']', open);
  if (end == std::string_view::npos) return std::nullopt;
  const auto parts = AsIntegers(text.substr(open, end + 1 - open));
  if (!parts) return std::nullopt;
  Tiling tiling{.parts = *parts, .placement = std::string(text.substr(at, text.rfind('}') - at))};
  if (text.find("last_tile_dim_replicate") != std::string_view::npos && !tiling.parts.empty()) tiling.parts.pop_back();
  if (tiling.replicated()) tiling.placement.clear();
  return tiling;
}

bool Tiles(std::string_view text, const MeshAxes& axes) {
  const auto tiling = TilingOf(text, axes);
  return tiling && !tiling->replicated();
}

bool ArgumentsAreTiled(const Module& module, const MeshAxes& axes) {
  const std::string_view* text = module.attribute(module.main(), "arg_attrs");
  if (text == nullptr) return false;
  const auto items = ListItems(*text);
  return std::any_of(items.begin(), items.end(), [&](std::string_view item) {
    const auto tiling = TilingOfAttributes(item, axes);
    return tiling && !tiling->replicated();
  });
}

// An op that only a program has which a partitioner has not seen.
bool IsGlobalForm(const Module& module, OpId op, const MeshAxes& axes) {
  const std::string_view name = module.name(op);
  if (name == "sdy.manual_computation") return true;
  const std::string target = CallTarget(module, op);
  if (target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape") return true;
  const bool annotates = module.kind(op) == OpKind::kSdyAnnotation || target == "Sharding";
  const std::string_view* text =
      module.attribute(op, annotates && name.starts_with("sdy.") ? "sharding" : "mhlo.sharding");
  return annotates && text != nullptr && Tiles(*text, axes);
}

}  // namespace

bool Tiling::replicated() const {
  return std::all_of(parts.begin(), parts.end(), [](int64_t part) { return part == 1; });
}

MeshAxes MeshAxesOf(const Module& module) {
  MeshAxes axes;
  for (const OpId op : module.block(module.body(module.root())).ops) {
    const std::string_view* text = module.name(op) == "sdy.mesh" ? module.attribute(op, "mesh") : nullptr;
    const size_t open = text == nullptr ? std::string_view::npos : text->find('[');
    if (open == std::string_view::npos) continue;
    for (const std::string_view item : ListItems(text->substr(open, text->find(']', open) + 1 - open))) {
      const size_t equals = item.rfind('=');
      if (equals == std::string_view::npos) continue;
      axes.emplace(Unquoted(item.substr(0, equals)),
                   std::max<int64_t>(1, LeadingInteger(Trim(item.substr(equals + 1)))));
    }
  }
  return axes;
}

int64_t DevicesOf(const Module& module) {
  const auto partitions = IntegerAttribute(module, module.root(), "mhlo.num_partitions");
  const int64_t replicas =
      std::max<int64_t>(1, IntegerAttribute(module, module.root(), "mhlo.num_replicas").value_or(1));
  if (partitions) return std::max<int64_t>(1, *partitions) * replicas;
  int64_t devices = 1;
  for (const auto& [name, size] : MeshAxesOf(module)) devices = std::min<int64_t>(devices * size, int64_t{1} << 20);
  return devices * replicas;
}

std::optional<Tiling> TilingOf(std::string_view text, const MeshAxes& axes) {
  return text.find('@') == std::string_view::npos ? GspmdTiling(text) : ShardyTiling(text, axes);
}

std::optional<Tiling> TilingOfAttributes(std::string_view dictionary, const MeshAxes& axes) {
  const auto entries = Entries(dictionary);
  for (const std::string_view name : kShardingNames) {
    if (const auto text = FindEntry(entries, name)) return TilingOf(*text, axes);
  }
  return std::nullopt;
}

bool AwaitsPartitioner(const Module& module) {
  if (DevicesOf(module) < 2) return false;
  const MeshAxes axes = MeshAxesOf(module);
  bool global = false;
  bool exchanges = false;
  WalkNested(module, module.root(), [&](OpId op) {
    const OpKind kind = module.kind(op);
    exchanges = exchanges || IsCollective(kind) || kind == OpKind::kCollectivePermute;
    global = global || IsGlobalForm(module, op, axes);
  });
  return global || (!exchanges && ArgumentsAreTiled(module, axes));
}

}  // namespace hespas::ir
