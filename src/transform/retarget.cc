#include "transform/retarget.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <optional>
#include <set>
#include <string>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/shardings.h"
#include "ir/verify/verify.h"
#include "ir/walk.h"
#include "transform/shard_dimensions.h"

namespace hespas::transform {
namespace {

using ir::OpId;
using ir::OpKind;

constexpr int64_t kMostDevices = int64_t{1} << 20;

constexpr int64_t kMostListed = 1024;  // devices whose groups are written out

// Which devices a group joins: all, those of the data axis, or the neighbours within (tensor parallelism).
enum class Span : uint8_t { kAll, kData, kWithin };

struct Mesh {
  int64_t devices = 1;
  int64_t within = 1;
  int64_t replicas = 1;  // outermost
  int64_t data() const { return devices / within; }
  int64_t shards() const { return data() / replicas; }
};

// The axes that a collective runs over; of a mesh without replicas `replica` is 1.
std::string MeshAxes(const Mesh& mesh, const std::vector<std::string_view>& axes) {
  std::vector<std::string> references;
  references.reserve(axes.size());
  for (const std::string_view axis : axes) references.push_back(fmt::format("<name = \"{}\">", axis));
  return fmt::format(
      "#stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [<name = \"replica\", size = {}>, <name = "
      "\"data\", "
      "size = {}>, <name = \"within\", size = {}>]>, axes = [{}]>",
      mesh.replicas, mesh.shards(), mesh.within, fmt::join(references, ", "));
}

std::vector<ir::Dimensions> GroupsOf(const Mesh& mesh, Span span) {
  const bool within = span == Span::kWithin;
  const int64_t count = span == Span::kAll ? 1 : within ? mesh.data() : mesh.within;
  std::vector<ir::Dimensions> groups(static_cast<size_t>(count));
  for (int64_t device = 0; device < mesh.devices; ++device) {
    const int64_t group = span == Span::kAll ? 0 : within ? device / mesh.within : device % mesh.within;
    groups[static_cast<size_t>(group)].push_back(device);
  }
  return groups;
}

std::string GroupsText(const std::vector<ir::Dimensions>& groups) {
  return fmt::format("dense<[{}]> : tensor<{}x{}xi64>", fmt::join(groups, ", "), groups.size(), groups[0].size());
}

constexpr const char* kRemedy = "`hespas export --devices N` makes the program for another number of devices";

class Retargeter {
 public:
  Retargeter(ir::Module& module, int64_t devices) : module_(module) {
    to_.devices = devices;
    ops_.push_back(module.root());
    ir::WalkNested(module, module.root(), [&](OpId op) { ops_.push_back(op); });
  }

  Result<Retargeted> Run() {
    if (to_.devices < 1 || to_.devices > kMostDevices) {
      return MakeError(kCannotRetarget, fmt::format("{} devices", to_.devices), {.file = module_.path()}, kRemedy);
    }
    if (ir::AwaitsPartitioner(module_)) {
      return MakeError(kCannotRetarget, "the program's shardings have not been applied", {.file = module_.path()},
                       "`hespas shard --mesh AXIS=SIZE,...` partitions it for any number of devices");
    }
    if (Status read = ReadMesh(); !read) return read.error();
    if (to_.devices == from_.devices) return Retargeted{.sharded = from_.data()};
    const auto over_data = [&](OpId op) { return SpanOf(op) != Span::kWithin; };
    const std::function<bool(OpId)> data = over_data;
    const ShardDimensions shards(module_, data, from_.data());
    Replicate(shards);
    if (Status cut = CutTypes(shards); !cut) return cut.error();
    const std::vector<OpId> reduced = to_.replicas > 1 ? ReducedToShards(shards) : std::vector<OpId>();
    if (Status sums = AreSingle(); !sums) return sums.error();
    for (const OpId op : ops_) Rewrite(op);
    for (const OpId op : reduced) ReduceAmongReplicas(op);
    for (const OpId table : shards.offset_tables()) {
      if (Status grown = GrowTable(table); !grown) return grown.error();
    }
    if (Status verified = Verified(); !verified) return verified.error();
    return Retargeted{.sharded = to_.shards(), .replicas = to_.replicas};
  }

 private:
  Error Cannot(OpId op, std::string why) const {
    return MakeError(kCannotRetarget, std::move(why), module_.location(op), kRemedy);
  }

  std::optional<int64_t> Count(std::string_view attribute) const {
    return ir::IntegerAttribute(module_, module_.root(), attribute);
  }

  // Devices from the module's attributes, or else from the groups; neighbours from the smallest groups.
  Status ReadMesh() {
    from_.devices = Count("mhlo.num_partitions").value_or(1) * Count("mhlo.num_replicas").value_or(1);
    for (const OpId op : ops_) {
      if (!ir::IsCollective(module_.kind(op)) && module_.kind(op) != OpKind::kCollectivePermute) continue;
      const auto groups = ir::ReplicaGroupsOf(module_, op);
      channels_ = std::max(channels_, ir::ChannelOf(module_, op).value_or(0));
      const bool known = IsKnown(module_.kind(op));
      if (!known || !groups)
        return Cannot(op, fmt::format("`{}` cannot be converted to another number of devices", module_.name(op)));
      int64_t members = 0;
      for (const ir::Dimensions& group : groups->groups) members += static_cast<int64_t>(group.size());
      from_.devices = std::max(from_.devices, members);
      if (groups->groups.size() > 1 && groups->groups[0].size() > 1 &&
          groups->groups[0][1] == groups->groups[0][0] + 1) {
        from_.within = static_cast<int64_t>(groups->groups[0].size());
      }
    }
    if (from_.devices % from_.within != 0 || to_.devices % from_.within != 0) {
      return MakeError(
          kCannotRetarget,
          fmt::format("{} devices are no multiple of the {} that share a tensor", to_.devices, from_.within),
          {.file = module_.path()}, kRemedy);
    }
    to_.within = from_.within;
    for (const OpId op : ops_) {
      if (ir::IsCollective(module_.kind(op)) && !SpanOf(op)) {
        return Cannot(op, "the replica groups belong to no data-parallel or FSDP axis");
      }
    }
    return {};
  }

  static bool IsKnown(OpKind kind) {
    return kind == OpKind::kAllReduce || kind == OpKind::kAllGather || kind == OpKind::kReduceScatter ||
           kind == OpKind::kCollectiveBroadcast;
  }

  std::optional<Span> SpanOf(OpId op) const {
    const auto groups = ir::ReplicaGroupsOf(module_, op);
    if (!groups) return std::nullopt;
    if (groups->groups.empty()) return Span::kAll;
    for (const Span span : {Span::kAll, Span::kData, Span::kWithin}) {
      if (groups->groups == GroupsOf(from_, span)) return span;
    }
    return std::nullopt;
  }

  // The most devices that all shards divide among share them, at least as many as before.
  void Replicate(const ShardDimensions& shards) {
    int64_t most = to_.data();
    for (size_t v = 0; v < module_.value_count(); ++v) {
      const ir::Type& type = module_.type(ir::ValueId(v));
      for (size_t d = 0; d < type.dims.size(); ++d) {
        if (shards.Is(ir::ValueId(v), d) && type.dims[d] != ir::kDynamic)
          most = std::gcd(most, type.dims[d] * from_.data());
      }
    }
    if (most >= from_.data()) to_.replicas = to_.data() / most;
  }

  Status CutTypes(const ShardDimensions& shards) {
    for (size_t v = 0; v < module_.value_count(); ++v) {
      const ir::ValueId value(v);
      ir::Type type = module_.type(value);
      bool changed = false;
      for (size_t d = 0; d < type.dims.size(); ++d) {
        if (!shards.Is(value, d) || type.dims[d] == ir::kDynamic) continue;
        const int64_t whole = type.dims[d] * from_.data();
        if (whole % to_.shards() != 0) {
          const OpId at = module_.defining_op(value).valid() ? module_.defining_op(value) : module_.main();
          return Cannot(at, fmt::format("{} elements do not divide among {} devices", whole, to_.data()));
        }
        type.dims[d] = whole / to_.shards();
        changed = true;
      }
      if (changed) module_.SetValueType(value, module_.types().Intern(std::move(type)));
    }
    return {};
  }

  // Gradients of shards: what is scattered over the data axis, or reduced over it and then cut.
  std::vector<OpId> ReducedToShards(const ShardDimensions& shards) {
    std::vector<OpId> found;
    for (const OpId op : ops_) {
      const bool scattered = module_.kind(op) == OpKind::kReduceScatter && SpanOf(op) != Span::kWithin;
      if (scattered && module_.op(op).result_count == 1) found.push_back(op);
      if (module_.kind(op) != OpKind::kDynamicSlice) continue;
      const OpId whole = module_.defining_op(module_.operands(op)[0]);
      if (!whole.valid() || module_.kind(whole) != OpKind::kAllReduce || SpanOf(whole) == Span::kWithin) continue;
      const ir::ValueId part = module_.result(op);
      for (size_t d = 0; d < module_.type(part).dims.size(); ++d) {
        if (!shards.Is(part, d) || shards.Is(module_.operands(op)[0], d)) continue;
        within_replica_.insert(whole);
        found.push_back(op);
        break;
      }
    }
    return found;
  }

  // Sums of several values at once would lose those among replicas.
  Status AreSingle() const {
    if (to_.replicas == 1) return {};
    for (const OpId op : ops_) {
      const bool scattered = module_.kind(op) == OpKind::kReduceScatter && SpanOf(op) != Span::kWithin;
      if ((scattered || within_replica_.contains(op)) && module_.op(op).result_count > 1)
        return Cannot(op, "one collective reduces several gradients, and shards have replicas");
    }
    return {};
  }

  // Adds an all-reduce among the devices that hold the same shard behind `op`.
  void ReduceAmongReplicas(OpId op) {
    const ir::ValueId part = module_.result(op);
    const ir::TypeId type = module_.type_id(part);
    ir::Type scalar = module_.type(part);
    scalar.dims.clear();
    const ir::TypeId element = module_.types().Intern(std::move(scalar));
    const ir::BlockId body = module_.AddBlock(std::vector<ir::TypeId>{element, element});
    const auto arguments = module_.arguments(body);
    const std::vector<ir::ValueId> both{arguments[0], arguments[1]};
    const uint32_t source = module_.op(op).source;
    const std::vector<ir::TypeId> one{element};
    const OpId sum = module_.AddOp(
        body, {.name = module_.InternName("stablehlo.add"), .operands = both, .result_types = one, .source = source});
    const std::vector<ir::ValueId> returned{module_.result(sum)};
    module_.AddOp(body, {.name = module_.InternName("stablehlo.return"), .operands = returned, .source = source});
    const std::vector<ir::RegionId> regions{module_.AddRegion(std::vector<ir::BlockId>{body})};
    const std::vector<ir::Attribute> attributes = {
        {module_.InternName("channel_handle"),
         module_.Keep(fmt::format("#stablehlo.channel_handle<handle = {}, type = 0>", ++channels_))},
        {module_.InternName("replica_groups"), module_.Keep(MeshAxes(to_, {"replica"}))},
        {module_.InternName("use_global_device_ids"), ""}};
    const std::vector<ir::ValueId> operands{part};
    const std::vector<ir::TypeId> types{type};
    const ir::BlockId block = module_.op(op).block;
    std::vector<OpId> order = module_.block(block).ops;
    const OpId reduce = module_.AddOp(block, {.name = module_.InternName("stablehlo.all_reduce"),
                                              .operands = operands,
                                              .result_types = types,
                                              .attributes = attributes,
                                              .regions = regions,
                                              .source = source});
    for (const OpId user : ops_) {
      for (size_t i = 0; i < module_.operands(user).size(); ++i) {
        if (module_.operands(user)[i] == part) module_.SetOperand(user, i, module_.result(reduce));
      }
    }
    order.insert(std::ranges::find(order, op) + 1, reduce);
    module_.SetBlockOps(block, std::move(order));
  }

  // Over the data axis: all of it, or what shares the shards.
  std::string GroupsFor(OpId op, Span span) const {
    const bool shares = module_.kind(op) != OpKind::kAllReduce || within_replica_.contains(op);
    if (to_.devices <= kMostListed && to_.replicas == 1) return GroupsText(GroupsOf(to_, span));
    std::vector<std::string_view> axes;
    if (span != Span::kWithin && !shares) axes.push_back("replica");
    if (span != Span::kWithin) axes.push_back("data");
    if (span != Span::kData) axes.push_back("within");
    return MeshAxes(to_, axes);
  }

  void Set(OpId op, std::string_view name, std::string text) {
    const auto old = module_.attributes(op);
    std::vector<ir::Attribute> attributes(old.begin(), old.end());
    for (ir::Attribute& attribute : attributes) {
      if (module_.name(attribute.name) != name) continue;
      attribute.text = module_.Keep(std::move(text));
      break;
    }
    module_.SetAttributes(op, attributes);
  }

  // "bf16[144,9,128]{0,2,1}" of an op's only result.
  void RewriteShape(OpId op) {
    const std::string_view* text = module_.attribute(op, "xla_shape");
    if (text == nullptr || module_.op(op).result_count != 1 || text->starts_with("\"(")) return;
    const size_t open = text->find('[');
    const size_t close = text->find(']');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return;
    const ir::Dimensions& dims = module_.type(module_.result(op)).dims;
    Set(op, "xla_shape", fmt::format("{}{}{}", text->substr(0, open + 1), fmt::join(dims, ","), text->substr(close)));
  }

  // Attributes that repeat what the types say.
  void Rewrite(OpId op) {
    const OpKind kind = module_.kind(op);
    RewriteShape(op);
    if (ir::IsCollective(kind)) {
      const Span span = *SpanOf(op);
      if (!ir::ReplicaGroupsOf(module_, op)->groups.empty()) Set(op, "replica_groups", GroupsFor(op, span));
    } else if (kind == OpKind::kDynamicSlice) {
      const ir::Dimensions& dims = module_.type(module_.result(op)).dims;
      Set(op, "slice_sizes", fmt::format("array<i64: {}>", fmt::join(dims, ", ")));
    } else if (kind == OpKind::kSlice) {
      RewriteSlice(op);
    } else if (kind == OpKind::kConstant) {
      RewriteConstant(op);
    } else if (kind == OpKind::kFunc) {
      RewriteFunction(op);
    } else if (kind == OpKind::kModule) {
      const std::string_view counted =
          Count("mhlo.num_partitions").value_or(1) > 1 ? "mhlo.num_partitions" : "mhlo.num_replicas";
      if (Count(counted).value_or(1) == from_.devices) Set(op, counted, fmt::format("{} : i32", to_.devices));
    }
  }

  // Whole dimensions stay whole.
  void RewriteSlice(OpId op) {
    auto bounds = ir::SliceBoundsOf(module_, op);
    const ir::Dimensions& in = module_.type(module_.operands(op)[0]).dims;
    const ir::Dimensions& out = module_.type(module_.result(op)).dims;
    if (!bounds || bounds->limit.size() != in.size()) return;
    for (size_t d = 0; d < in.size(); ++d) {
      if (bounds->start[d] == 0 && bounds->strides[d] == 1 && in[d] == out[d]) bounds->limit[d] = in[d];
    }
    Set(op, "limit_indices", fmt::format("array<i64: {}>", fmt::join(bounds->limit, ", ")));
  }

  // A number for all elements takes any shape.
  void RewriteConstant(OpId op) {
    const std::string_view* text = module_.attribute(op, "value");
    if (text == nullptr || !text->starts_with("dense<")) return;
    const size_t colon = text->rfind(" : ");
    if (colon == std::string_view::npos || text->substr(0, colon).find('[') != std::string_view::npos) return;
    Set(op, "value",
        fmt::format("{} : {}", text->substr(0, colon), module_.types().Text(module_.type_id(module_.result(op)))));
  }

  void RewriteFunction(OpId op) {
    const ir::BlockId body = module_.body(op);
    if (!body.valid() || module_.block(body).ops.empty()) return;
    std::vector<ir::TypeId> inputs;
    std::vector<ir::TypeId> results;
    for (const ir::ValueId argument : module_.arguments(body)) inputs.push_back(module_.type_id(argument));
    for (const ir::ValueId value : module_.operands(module_.block(body).ops.back()))
      results.push_back(module_.type_id(value));
    const ir::TypeId type = module_.types().InternFunction(inputs, results);
    Set(op, "function_type", module_.types().Text(type));
    for (const std::string_view name : {"arg_attrs", "res_attrs"}) {
      if (const std::string_view* text = module_.attribute(op, name)) Set(op, name, Shardings(std::string(*text)));
    }
  }

  // Replicas are a last dimension, along which nothing is cut.
  std::string TilingText(const ir::Dimensions& tiles) const {
    if (to_.replicas == 1) return fmt::format("{}]<=[{}]", fmt::join(tiles, ","), to_.devices);
    return fmt::format("{},{}]<=[{},{}]T(1,0) last_tile_dim_replicate", fmt::join(tiles, ","), to_.replicas,
                       to_.replicas, to_.devices / to_.replicas);
  }

  // `{devices=[4,1]<=[4]}` for more or fewer devices; of other forms nothing is changed.
  std::string Shardings(std::string text) const {
    constexpr std::string_view kOpen = "devices=[";
    const std::string old_end = fmt::format("]<=[{}]", from_.devices);
    for (size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at + 1)) {
      const size_t begin = at + kOpen.size();
      const size_t end = text.find(']', begin);
      if (end == std::string::npos || text.compare(end, old_end.size(), old_end) != 0) continue;
      auto tiles = ir::AsIntegers("[" + text.substr(begin, end - begin) + "]");
      const auto cut = tiles ? std::find(tiles->begin(), tiles->end(), from_.data()) : decltype(tiles->begin())();
      if (!tiles || cut == tiles->end()) continue;
      *cut = to_.shards();
      text.replace(begin, end + old_end.size() - begin, TilingText(*tiles));
    }
    return text;
  }

  // Offsets by device, i * step along one axis and constant along the other, for more or fewer devices.
  Status GrowTable(OpId table) {
    const std::string_view* text = module_.attribute(table, "value");
    const ir::ValueId value = module_.result(table);
    ir::Type type = module_.type(value);
    if (type.dims.size() != 1 || type.dims[0] != from_.devices) return {};
    const auto old = text == nullptr ? std::nullopt : ir::AsIntegers(*text);
    if (!old || static_cast<int64_t>(old->size()) != from_.devices)
      return Cannot(table, "a table of offsets cannot be read");
    ir::Dimensions offsets;
    for (int64_t device = 0; device < to_.devices; ++device) {
      const int64_t within = device % to_.within;
      const int64_t along = device / to_.within;
      const int64_t base = (*old)[static_cast<size_t>(within)];
      const int64_t step = from_.data() > 1 ? (*old)[static_cast<size_t>(from_.within)] - (*old)[0] : 0;
      offsets.push_back(base + along % to_.shards() * step * from_.data() / to_.shards());
    }
    for (int64_t device = 0; device < from_.devices; ++device) {
      const int64_t expected =
          (*old)[static_cast<size_t>(device % from_.within)] +
          device / from_.within * ((*old)[static_cast<size_t>(from_.data() > 1 ? from_.within : 0)] - (*old)[0]);
      if ((*old)[static_cast<size_t>(device)] != expected) return Cannot(table, "a table of offsets follows no axis");
    }
    type.dims[0] = to_.devices;
    module_.SetValueType(value, module_.types().Intern(std::move(type)));
    Set(table, "value",
        fmt::format("dense<[{}]> : {}", fmt::join(offsets, ", "), module_.types().Text(module_.type_id(value))));
    return {};
  }

  Status Verified() const {
    Diagnostics found;
    ir::Verify(module_, ir::Origin::kMlir, found);
    for (const Diagnostic& defect : found.all()) {
      if (!defect.is_warning()) {
        return MakeError(kCannotRetarget, fmt::format("on {} devices: {}", to_.devices, defect.message),
                         defect.location, kRemedy);
      }
    }
    return {};
  }

  ir::Module& module_;
  std::vector<OpId> ops_;
  Mesh from_;
  Mesh to_;
  std::set<OpId> within_replica_;  // all-reduces that do not leave a replica
  int64_t channels_ = 0;           // the largest handle
};

}  // namespace

Result<Retargeted> Retarget(ir::Module& module, int64_t devices) { return Retargeter(module, devices).Run(); }

}  // namespace hespas::transform
