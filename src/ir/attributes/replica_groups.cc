#include <algorithm>
#include <string>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"

namespace hespas::ir {
namespace {

constexpr size_t kMaxAxes = 64;

std::vector<Dimensions> GroupsOfMatrix(const IntegerMatrix& matrix) {
  std::vector<Dimensions> groups;
  for (int64_t row = 0; row < matrix.rows && matrix.columns > 0; ++row) {
    Dimensions& group = groups.emplace_back();
    for (int64_t column = 0; column < matrix.columns; ++column) {
      if (matrix.at(row, column) >= 0) group.push_back(matrix.at(row, column));
    }
  }
  return groups;
}

// Product of sizes, or nothing beyond what is decoded.
std::optional<int64_t> BoundedProduct(const Dimensions& sizes) {
  int64_t product = 1;
  for (const int64_t size : sizes) {
    if (size < 1 || product > kMaxDecoded / size) return std::nullopt;
    product *= size;
  }
  return product;
}

// 0..n-1 shaped `sizes`, transposed by `order`, flattened.
std::optional<Dimensions> TransposedIota(const Dimensions& sizes, const Dimensions& order) {
  const auto count = BoundedProduct(sizes);
  if (!count || sizes.size() > kMaxAxes || order.size() != sizes.size()) return std::nullopt;
  Dimensions strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;) strides[i - 1] = strides[i] * sizes[i];
  std::vector<bool> seen(sizes.size(), false);
  for (const int64_t axis : order) {
    if (axis < 0 || axis >= static_cast<int64_t>(sizes.size()) || seen[static_cast<size_t>(axis)]) return std::nullopt;
    seen[static_cast<size_t>(axis)] = true;
  }
  Dimensions out;
  out.reserve(static_cast<size_t>(*count));
  Dimensions index(sizes.size(), 0);
  int64_t value = 0;
  for (int64_t i = 0; i < *count; ++i) {
    out.push_back(value);
    for (size_t k = order.size(); k-- > 0;) {
      const size_t axis = static_cast<size_t>(order[k]);
      value += strides[axis];
      if (++index[axis] < sizes[axis]) break;
      value -= strides[axis] * sizes[axis];
      index[axis] = 0;
    }
  }
  return out;
}

std::vector<Dimensions> CutInGroups(const Dimensions& ids, int64_t group_size) {
  std::vector<Dimensions> groups;
  for (size_t at = 0; at < ids.size(); at += static_cast<size_t>(group_size)) {
    const auto begin = ids.begin() + static_cast<ptrdiff_t>(at);
    groups.emplace_back(begin, begin + static_cast<ptrdiff_t>(group_size));
  }
  return groups;
}

// HLO's iota form: [groups,size]<=[dims] and an optional T(order).
std::optional<std::vector<Dimensions>> IotaGroups(std::string_view text) {
  const size_t arrow = text.find("<=");
  const auto shape = AsIntegers(text.substr(0, arrow));
  const std::string_view source = Trim(text.substr(arrow + 2));
  const size_t end = source.find(']');
  if (!shape || shape->empty() || shape->size() > 2 || end == std::string_view::npos) return std::nullopt;
  const auto sizes = AsIntegers(source.substr(0, end + 1));
  if (!sizes) return std::nullopt;
  Dimensions order;
  const std::string_view transpose = Trim(source.substr(end + 1));
  if (transpose.starts_with('T')) {
    if (!DecodeIntegers(transpose.substr(1), order)) return std::nullopt;
  } else {
    for (size_t i = 0; i < sizes->size(); ++i) order.push_back(static_cast<int64_t>(i));
  }
  const auto ids = TransposedIota(*sizes, order);
  const auto count = BoundedProduct(*shape);
  if (!ids || !count || *count != static_cast<int64_t>(ids->size())) return std::nullopt;
  return CutInGroups(*ids, shape->back());
}

struct Mesh {
  std::vector<std::string> names;
  Dimensions sizes;
  Dimensions device_ids;  // empty: in order
};

// `<["x"=2, "y"=4], device_ids=[..]>` of sdy, `<axes=[<name = "x", size = 2>], device_ids=dense<..>>` of stablehlo.
std::optional<Mesh> AsMesh(std::string_view text) {
  Mesh mesh;
  for (const Entry& part : Entries(text)) {
    if (part.name == "device_ids") {
      const auto ids = AsIntegers(part.value);
      if (!ids) return std::nullopt;
      mesh.device_ids = *ids;
      continue;
    }
    const std::string_view axes = part.name == "axes" ? part.value : part.name;
    if (!axes.starts_with('[')) continue;
    for (const std::string_view axis : ListItems(axes)) {
      const std::vector<Entry> entries = Entries(axis);
      const auto name = FindEntry(entries, "name");
      const auto size = FindEntry(entries, "size");
      if (!name && entries.size() != 1) return std::nullopt;
      const auto value = AsInteger(name ? size.value_or("") : entries[0].value);
      if (!value) return std::nullopt;
      mesh.names.push_back(name ? AsString(*name).value_or("") : std::string(entries[0].name));
      mesh.sizes.push_back(*value);
    }
  }
  return mesh;
}

std::optional<Mesh> FindMesh(const Module& module, std::string_view text) {
  const std::string_view symbol = AsSymbol(text);
  if (symbol.empty()) return AsMesh(text);
  const OpId op = module.FindSymbol(symbol);
  if (!op.valid()) return std::nullopt;
  for (const std::string_view name : {"mesh", "stablehlo.mesh"}) {
    if (const std::string_view* found = module.attribute(op, name)) return AsMesh(*found);
  }
  return std::nullopt;
}

// An axis of a mesh, or the part `(pre)size` of it.
struct AxisRef {
  size_t axis = 0;
  int64_t pre = 1;
  int64_t size = 0;
};

// "(1)2": what lies before the part, and its size.
bool ReadPart(std::string_view text, AxisRef& ref) {
  const size_t close = text.find(')');
  if (close == std::string_view::npos) return false;
  const auto pre = AsIntegers(text.substr(0, close + 1));
  const auto size = AsInteger(text.substr(close + 1));
  if (!pre || pre->size() != 1 || !size) return false;
  ref.pre = (*pre)[0];
  ref.size = *size;
  return true;
}

std::optional<AxisRef> ReadAxis(const Mesh& mesh, std::string_view text) {
  AxisRef ref;
  if (const auto index = AsInteger(text)) {
    if (*index < 0 || *index >= static_cast<int64_t>(mesh.sizes.size())) return std::nullopt;
    ref.axis = static_cast<size_t>(*index);
    ref.size = mesh.sizes[ref.axis];
    return ref;
  }
  const std::vector<Entry> entries = Entries(text);
  const auto name = AsString(FindEntry(entries, "name").value_or(text));
  const auto found = std::find(mesh.names.begin(), mesh.names.end(), name.value_or(""));
  if (!name || found == mesh.names.end()) return std::nullopt;
  ref.axis = static_cast<size_t>(found - mesh.names.begin());
  ref.size = mesh.sizes[ref.axis];
  if (const auto part = FindEntry(entries, "sub_axis_info")) {
    if (!ReadPart(*part, ref)) return std::nullopt;
  }
  return ref;
}

// Cuts each mesh axis at the borders of its references, so that every reference is one whole axis of the result.
struct CutMesh {
  Dimensions sizes;
  Dimensions group_axes;  // in the order referenced
  Dimensions other_axes;
};

std::optional<CutMesh> CutAtReferences(const Mesh& mesh, const std::vector<AxisRef>& references) {
  CutMesh cut;
  cut.group_axes.assign(references.size(), -1);
  for (size_t axis = 0; axis < mesh.sizes.size(); ++axis) {
    std::vector<size_t> parts;
    for (size_t i = 0; i < references.size(); ++i) {
      if (references[i].axis == axis) parts.push_back(i);
    }
    std::sort(parts.begin(), parts.end(), [&](size_t a, size_t b) { return references[a].pre < references[b].pre; });
    int64_t done = 1;
    const auto add_other = [&](int64_t size) {
      if (size == 1) return;
      cut.other_axes.push_back(static_cast<int64_t>(cut.sizes.size()));
      cut.sizes.push_back(size);
    };
    for (const size_t i : parts) {
      const AxisRef& ref = references[i];
      if (ref.pre < 1 || ref.size < 1 || ref.pre > kMaxDecoded || ref.size > kMaxDecoded || ref.pre % done != 0) {
        return std::nullopt;
      }
      add_other(ref.pre / done);
      cut.group_axes[i] = static_cast<int64_t>(cut.sizes.size());
      cut.sizes.push_back(ref.size);
      done = ref.pre * ref.size;
    }
    if (mesh.sizes[axis] < 1 || mesh.sizes[axis] % done != 0) return std::nullopt;
    add_other(mesh.sizes[axis] / done);
  }
  return cut;
}

// A group holds the devices that differ in the referenced axes only.
std::optional<std::vector<Dimensions>> GroupsAlong(const Mesh& mesh, const std::vector<AxisRef>& references) {
  if (references.size() > kMaxAxes || mesh.sizes.size() > kMaxAxes) return std::nullopt;
  const auto cut = CutAtReferences(mesh, references);
  if (!cut) return std::nullopt;
  Dimensions order = cut->other_axes;
  order.insert(order.end(), cut->group_axes.begin(), cut->group_axes.end());
  auto ids = TransposedIota(cut->sizes, order);
  if (!ids || (!mesh.device_ids.empty() && mesh.device_ids.size() != ids->size())) return std::nullopt;
  if (!mesh.device_ids.empty()) {
    for (int64_t& id : *ids) id = mesh.device_ids[static_cast<size_t>(id)];
  }
  int64_t group_size = 1;
  for (const AxisRef& reference : references) group_size *= reference.size;
  return CutInGroups(*ids, group_size);
}

// #stablehlo.replica_group_mesh_axes<mesh = ..., axes = [...]>.
std::optional<std::vector<Dimensions>> MeshAxesGroups(const Module& module, std::string_view text) {
  const std::vector<Entry> entries = Entries(text);
  const auto mesh = FindMesh(module, FindEntry(entries, "mesh").value_or(""));
  if (!mesh) return std::nullopt;
  std::vector<AxisRef> references;
  for (const std::string_view axis : ListItems(FindEntry(entries, "axes").value_or("[]"))) {
    const auto reference = ReadAxis(*mesh, axis);
    if (!reference) return std::nullopt;
    references.push_back(*reference);
  }
  return GroupsAlong(*mesh, references);
}

std::string_view Unquote(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '\'' && text.back() == '\'';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// HLO's mesh form: mesh['x'=2,'y'=4] {'y'}, where 'y':(1)2 is a part of an axis.
std::optional<std::vector<Dimensions>> HloMeshGroups(std::string_view text) {
  const size_t close = text.find(']');
  const size_t open = text.rfind('{');
  if (close == std::string_view::npos || open == std::string_view::npos || open < close) return std::nullopt;
  Mesh mesh;
  for (const Entry& axis : Entries(text.substr(4, close - 3))) {
    const auto size = AsInteger(axis.value);
    if (!size) return std::nullopt;
    mesh.names.emplace_back(Unquote(axis.name));
    mesh.sizes.push_back(*size);
  }
  if (const size_t ids = text.find("device_ids="); ids < open) {
    if (!DecodeIntegers(text.substr(ids + 11, text.find(')', ids) - ids - 10), mesh.device_ids)) return std::nullopt;
  }
  std::vector<AxisRef> references;
  for (const std::string_view item : ListItems(text.substr(open))) {
    const size_t colon = item.find(':');
    const auto found = std::find(mesh.names.begin(), mesh.names.end(), Unquote(Trim(item.substr(0, colon))));
    if (found == mesh.names.end()) return std::nullopt;
    AxisRef reference{.axis = static_cast<size_t>(found - mesh.names.begin())};
    reference.size = mesh.sizes[reference.axis];
    if (colon != std::string_view::npos && !ReadPart(item.substr(colon + 1), reference)) return std::nullopt;
    references.push_back(reference);
  }
  return GroupsAlong(mesh, references);
}

GroupMode ModeOf(OpKind kind, bool has_channel, bool use_global_device_ids) {
  if (use_global_device_ids) return GroupMode::kFlattenedIds;
  if (!has_channel) return GroupMode::kCrossReplica;
  const bool partitions_only = kind == OpKind::kAllToAll || kind == OpKind::kCollectiveBroadcast ||
                               kind == OpKind::kCollectivePermute || kind == OpKind::kRaggedAllToAll;
  return partitions_only ? GroupMode::kCrossPartition : GroupMode::kCrossReplicaAndPartition;
}

bool UsesGlobalIds(const Module& module, OpId op) {
  const std::string_view* global = module.attribute(op, "use_global_device_ids");
  return global != nullptr && AsBool(*global).value_or(false);
}

}  // namespace

std::optional<std::vector<Dimensions>> AsReplicaGroups(const Module& module, std::string_view text) {
  text = Trim(text);
  if (text.starts_with('#')) return MeshAxesGroups(module, text);
  if (text.starts_with("mesh[")) return HloMeshGroups(text);
  if (text.starts_with('[') && text.find("<=") != std::string_view::npos) return IotaGroups(text);
  const auto matrix = AsIntegerMatrix(text);
  if (!matrix) return std::nullopt;
  return GroupsOfMatrix(*matrix);
}

std::optional<int64_t> ChannelOf(const Module& module, OpId op) {
  auto channel = IntegerAttribute(module, op, "channel_id");
  if (const std::string_view* handle = module.attribute(op, "channel_handle")) {
    if (const auto text = FindEntry(Entries(*handle), "handle")) channel = AsInteger(*text);
  }
  return channel && *channel > 0 ? channel : std::nullopt;
}

std::optional<ReplicaGroups> ReplicaGroupsOf(const Module& module, OpId op) {
  const std::string_view* text = module.attribute(op, "replica_groups");
  if (!text) return std::nullopt;
  auto groups = AsReplicaGroups(module, *text);
  if (!groups) return std::nullopt;
  return ReplicaGroups{.groups = std::move(*groups),
                       .channel = ChannelOf(module, op),
                       .use_global_device_ids = UsesGlobalIds(module, op),
                       .mode = GroupModeOf(module, op)};
}

GroupMode GroupModeOf(const Module& module, OpId op) {
  return ModeOf(module.kind(op), ChannelOf(module, op).has_value(), UsesGlobalIds(module, op));
}

std::optional<std::vector<std::pair<int64_t, int64_t>>> SourceTargetPairsOf(const Module& module, OpId op) {
  const std::string_view* text = module.attribute(op, "source_target_pairs");
  if (!text) return std::nullopt;
  const auto matrix = AsIntegerMatrix(*text);
  if (!matrix || (matrix->rows > 0 && matrix->columns != 2)) return std::nullopt;
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (int64_t row = 0; row < matrix->rows; ++row) pairs.emplace_back(matrix->at(row, 0), matrix->at(row, 1));
  return pairs;
}

}  // namespace hespas::ir
