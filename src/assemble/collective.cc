#include "assemble/collective.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/execution/async_start.h"
#include "ir/walk.h"

namespace hespas::assemble {
namespace {

using ir::OpKind;
using trace::Collective;

constexpr int64_t kMostDevices = int64_t{1} << 20;

struct KindRow {
  OpKind op;
  Collective kind;
};

// Broadcasts and reductions to one root are simulated as the half of an all-reduce that moves the same bytes.
constexpr KindRow kKinds[] = {
    {OpKind::kAllReduce, Collective::kAllReduce},         {OpKind::kCrossReplicaSum, Collective::kAllReduce},
    {OpKind::kAllGather, Collective::kAllGather},         {OpKind::kCollectiveBroadcast, Collective::kAllGather},
    {OpKind::kReduceScatter, Collective::kReduceScatter}, {OpKind::kCollectiveReduce, Collective::kReduceScatter},
    {OpKind::kAllToAll, Collective::kAllToAll},           {OpKind::kRaggedAllToAll, Collective::kAllToAll},
    {OpKind::kCustomCall, Collective::kAllToAll},  // @ragged_all_to_all
};

int64_t OperandBytes(const ir::Module& module, ir::OpId op) {
  int64_t bytes = 0;
  const auto operands = module.operands(op);
  // Of a ragged all-to-all only the first operand is data; the others are the output buffer and offsets.
  const bool ragged = module.kind(op) == OpKind::kRaggedAllToAll || module.kind(op) == OpKind::kCustomCall;
  const size_t count = ragged ? std::min<size_t>(operands.size(), 1) : operands.size();
  for (size_t i = 0; i < count; ++i) {
    bytes = internal::SaturatingAdd(bytes, ir::ByteSize(module.types(), module.type_id(operands[i])));
  }
  return bytes;
}

// Ids of one group -> device ids (StableHLO specification, "Process groups"). An id that is no replica (or partition)
// shows that the program means device ids.
class GroupReader {
 public:
  GroupReader(const DeviceCounts& devices, ir::GroupMode mode) : devices_(devices), mode_(mode) {}

  std::vector<Ranks> Read(const std::vector<ir::Dimensions>& groups) {
    int64_t largest = -1;
    for (const ir::Dimensions& group : groups) {
      for (const int64_t id : group) largest = std::max(largest, id);
    }
    const bool by_partition = mode_ == ir::GroupMode::kCrossPartition;
    if (largest >= (by_partition ? devices_.partitions : devices_.replicas)) mode_ = ir::GroupMode::kFlattenedIds;
    std::vector<Ranks> out;
    for (const ir::Dimensions& group : groups) Expand(group, out);
    return out;
  }

 private:
  void Expand(const ir::Dimensions& group, std::vector<Ranks>& out) const {
    const uint32_t p_count = devices_.partitions;
    switch (mode_) {
      case ir::GroupMode::kFlattenedIds:
        Add(group, 1, 0, 1, out);
        break;
      case ir::GroupMode::kCrossReplica:
        for (uint32_t p = 0; p < p_count; ++p) Add(group, p_count, p, 1, out);
        break;
      case ir::GroupMode::kCrossPartition:
        for (uint32_t r = 0; r < devices_.replicas; ++r) Add(group, 1, r * p_count, 1, out);
        break;
      case ir::GroupMode::kCrossReplicaAndPartition:
        Add(group, p_count, 0, p_count, out);
        break;
    }
  }

  // Members id * stride + offset, each with `run` consecutive devices; -1 pads groups to equal length.
  static void Add(const ir::Dimensions& group, uint32_t stride, uint32_t offset, uint32_t run,
                  std::vector<Ranks>& out) {
    Ranks ranks;
    for (const int64_t id : group) {
      if (id < 0) continue;
      for (uint32_t i = 0; i < run; ++i) ranks.push_back(static_cast<uint32_t>(id) * stride + offset + i);
    }
    if (!ranks.empty()) out.push_back(std::move(ranks));
  }

  DeviceCounts devices_;
  ir::GroupMode mode_;
};

Error Unreadable(const ir::Module& module, ir::OpId op, std::string_view what) {
  return MakeError(kUnreadableGroups, fmt::format("cannot read the {} of `{}`", what, module.name(op)),
                   module.location(op),
                   "lists of device numbers, dense<[[0, 1], [2, 3]]>, or axes of a mesh whose sizes they divide");
}

bool WithinLimit(const std::vector<Ranks>& groups) {
  for (const Ranks& group : groups) {
    for (const uint32_t rank : group) {
      if (rank >= kMostDevices) return false;
    }
  }
  return true;
}

std::optional<uint32_t> Repeated(const std::vector<Ranks>& groups) {
  Ranks all;
  for (const Ranks& group : groups) all.insert(all.end(), group.begin(), group.end());
  std::sort(all.begin(), all.end());
  const auto found = std::adjacent_find(all.begin(), all.end());
  if (found == all.end()) return std::nullopt;
  return *found;
}

bool IsMessage(OpKind kind) {
  return kind == OpKind::kCollectivePermute || kind == OpKind::kSend || kind == OpKind::kRecv;
}

// A collective that is written as a custom call keeps its groups in `backend_config`.
std::optional<ir::ReplicaGroups> GroupsInConfiguration(const ir::Module& module, ir::OpId op) {
  const std::string_view* text = module.attribute(op, "backend_config");
  if (text == nullptr) text = module.attribute(op, "mhlo.backend_config");
  if (text == nullptr) return std::nullopt;
  const auto written = ir::FindEntry(ir::Entries(*text), "replica_groups");
  const auto groups = written ? ir::AsReplicaGroups(module, *written) : std::nullopt;
  if (!groups) return std::nullopt;
  return ir::ReplicaGroups{.groups = *groups, .mode = ir::GroupMode::kFlattenedIds};
}

// Nothing where all devices are one group.
Result<Groups> ReadGroups(const ir::Module& module, ir::OpId op, const DeviceCounts& devices, GroupCache& cache) {
  const bool custom = module.kind(op) == OpKind::kCustomCall;
  const std::string_view* text = custom ? nullptr : module.attribute(op, "replica_groups");
  const ir::GroupMode mode = custom ? ir::GroupMode::kFlattenedIds : ir::GroupModeOf(module, op);
  if (text != nullptr) {
    if (const auto known = cache.find({*text, mode}); known != cache.end()) return known->second;
  }
  const auto groups = custom ? GroupsInConfiguration(module, op) : ir::ReplicaGroupsOf(module, op);
  if (!groups && module.attribute(op, "replica_groups") != nullptr) return Unreadable(module, op, "replica groups");
  if (!groups || groups->groups.empty()) return Groups();
  for (const ir::Dimensions& group : groups->groups) {
    for (const int64_t id : group) {
      if (id >= kMostDevices) return Unreadable(module, op, "replica groups");
    }
  }
  auto ranks = std::make_shared<std::vector<Ranks>>(GroupReader(devices, groups->mode).Read(groups->groups));
  if (!WithinLimit(*ranks)) return Unreadable(module, op, "replica groups");
  if (const auto repeated = Repeated(*ranks)) {
    return MakeError(kRepeatedMember,
                     fmt::format("device {} is twice in the replica groups of `{}`", *repeated, module.name(op)),
                     module.location(op));
  }
  if (text != nullptr) cache.emplace(std::pair(*text, mode), ranks);
  return Groups(std::move(ranks));
}

Result<Communication> DecodeMessages(const ir::Module& module, ir::OpId op, const DeviceCounts& devices,
                                     Diagnostics& diagnostics) {
  Communication out{.op = op, .size = Bytes(OperandBytes(module, op)), .point_to_point = true};
  const OpKind kind = module.kind(op);
  const auto pairs = ir::SourceTargetPairsOf(module, op);
  if (!pairs && kind == OpKind::kCollectivePermute) return Unreadable(module, op, "source-target pairs");
  // A receive is simulated where its send is.
  if (!pairs || kind == OpKind::kRecv) {
    if (!pairs) {
      diagnostics.Warning(kHostTransfer,
                          fmt::format("`{}` names no other device and is not simulated", module.name(op)),
                          module.location(op));
    }
    out.nothing = true;
    return out;
  }
  // Pairs of replica ids hold in every partition, pairs of partition ids in every replica.
  const bool by_partition = ir::ChannelOf(module, op).has_value();
  int64_t largest = -1;
  for (const auto& [from, to] : *pairs) {
    if (from < 0 || to < 0) return Unreadable(module, op, "source-target pairs");
    largest = std::max({largest, from, to});
  }
  if (largest >= kMostDevices) return Unreadable(module, op, "source-target pairs");
  const bool flat = largest >= (by_partition ? devices.partitions : devices.replicas);
  const uint32_t copies = flat ? 1 : by_partition ? devices.replicas : devices.partitions;
  const uint32_t stride = flat || by_partition ? 1 : devices.partitions;
  const uint32_t offset = by_partition ? devices.partitions : 1;
  for (uint32_t copy = 0; copy < copies; ++copy) {
    for (const auto& [from, to] : *pairs) {
      if (from == to) continue;
      out.messages.emplace_back(static_cast<uint32_t>(from) * stride + copy * offset,
                                static_cast<uint32_t>(to) * stride + copy * offset);
    }
  }
  out.nothing = out.messages.empty() || out.size.value == 0;
  return out;
}

}  // namespace

std::optional<Communication> DecodeOpenMessage(const ir::Module& module, ir::OpId op) {
  const OpKind kind = module.kind(op);
  if (kind != OpKind::kSend && kind != OpKind::kRecv) return std::nullopt;
  const auto channel = ir::ChannelOf(module, op);
  const auto pairs = ir::SourceTargetPairsOf(module, op);
  if (!channel || *channel > std::numeric_limits<int32_t>::max() || (pairs && !pairs->empty())) return std::nullopt;
  Communication out{.op = op, .size = Bytes(OperandBytes(module, op)), .point_to_point = true, .open = true};
  out.channel = static_cast<int32_t>(*channel);
  out.receives = kind == OpKind::kRecv;
  if (!out.receives) return out;
  out.size = Bytes();
  for (const ir::ValueId value : module.results(op)) {
    out.size += Bytes(ir::ByteSize(module.types(), module.type_id(value)));
  }
  return out;
}

ir::OpId CollectiveOfBlock(const ir::Module& module, const graph::Block& block) {
  for (const ir::OpId op : block.ops) {
    const OpKind kind = module.kind(op);
    if (ir::IsCollective(kind) || IsMessage(kind)) return op;
    if (kind == OpKind::kCustomCall && block.kind == graph::BlockKind::kCommunication) return op;
    if (kind != OpKind::kAsyncStart) continue;
    if (const ir::OpId found = ir::CollectiveInside(module, op); found.valid()) return found;
  }
  return ir::OpId();
}

DeviceCounts DeviceCountsOf(const ir::Module& module) {
  DeviceCounts counts;
  const auto read = [&](std::string_view name, uint32_t& count) {
    const auto value = module.root().valid() ? ir::IntegerAttribute(module, module.root(), name) : std::nullopt;
    if (value && *value > 0 && *value <= kMostDevices) count = static_cast<uint32_t>(*value);
  };
  read("mhlo.num_replicas", counts.replicas);
  read("mhlo.num_partitions", counts.partitions);
  if (uint64_t{counts.replicas} * counts.partitions > kMostDevices) return {};
  return counts;
}

Result<Communication> DecodeCommunication(const ir::Module& module, ir::OpId op, const DeviceCounts& devices,
                                          GroupCache& cache, Diagnostics& diagnostics) {
  const OpKind kind = module.kind(op);
  if (IsMessage(kind)) return DecodeMessages(module, op, devices, diagnostics);
  Communication out{.op = op, .size = Bytes(OperandBytes(module, op))};
  // The busiest device sends (or receives) so much more than the mean (driver: --moe-imbalance).
  if (const std::string_view* imbalance = module.attribute(op, "hespas.imbalance")) {
    const double factor = ir::AsFloat(*imbalance).value_or(1.0);
    out.size = Bytes(internal::SaturatingRound(factor * static_cast<double>(out.size.value)));
  }
  for (const KindRow& row : kKinds) {
    if (row.op == kind) out.kind = row.kind;
  }
  out.nothing = out.size.value == 0;
  auto read = ReadGroups(module, op, devices, cache);
  if (!read) return read.error();
  out.groups = *std::move(read);
  out.everyone = out.groups == nullptr;
  if (out.everyone) return out;
  // One fraction of the buffer comes from each member.
  if (kind == OpKind::kCollectiveBroadcast && !out.groups->empty()) {
    out.size = Bytes(std::max<int64_t>(1, out.size.value / static_cast<int64_t>(out.groups->front().size())));
  }
  return out;
}

}  // namespace hespas::assemble
