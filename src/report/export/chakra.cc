#include "report/export/chakra.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>
#include <span>
#include <string_view>

#include "base/text/json.h"

namespace hespas::report {
namespace {

using protozero::pbf_writer;
using trace::Node;
using trace::NodeKind;
using trace::Program;

constexpr std::string_view kVersion = "0.0.4";

// Field numbers of et_def.proto.
constexpr uint32_t kMetadataAttribute = 2;
enum NodeField : uint32_t { kId = 1, kName = 2, kType = 3, kControl = 4, kData = 5, kDuration = 7, kAttribute = 10 };
enum ValueField : uint32_t {
  kInt32 = 7,
  kInt64 = 9,
  kUint32 = 11,
  kUint64 = 13,
  kBool = 27,
  kBoolList = 28,
  kString = 29
};

// A message under way in memory that is large enough from the start: protozero's writers ask for room at every byte.
class Message {
 public:
  // Forgets what was written; `size` bytes at most follow.
  void Begin(size_t size) {
    if (room_.size() < size) room_.resize(size);
    at_ = room_.data();
  }
  std::string_view text() const { return {room_.data(), static_cast<size_t>(at_ - room_.data())}; }

  void Varint(uint64_t value) { at_ += protozero::add_varint_to_buffer(at_, value); }
  void Integer(uint32_t field, uint64_t value) {
    Varint(field << 3);
    Varint(value);
  }
  void Bytes(uint32_t field, std::string_view bytes) {
    Varint(field << 3 | 2);
    Varint(bytes.size());
    at_ = std::copy(bytes.begin(), bytes.end(), at_);
  }
  void Integers(uint32_t field, std::span<const uint64_t> values) {
    size_t size = 0;
    for (const uint64_t value : values) size += LengthOf(value);
    Varint(field << 3 | 2);
    Varint(size);
    for (const uint64_t value : values) Varint(value);
  }

  static size_t LengthOf(uint64_t value) { return static_cast<size_t>(protozero::length_of_varint(value)); }

 private:
  std::string room_;
  char* at_ = nullptr;
};

constexpr size_t kMostVarint = 10;
constexpr size_t kMostAttributes = 1024;  // bytes of all attributes of a node: a dozen of short names

class Attributes {
 public:
  explicit Attributes(Message& node) : node_(node) {}

  void Flag(std::string_view name, bool value) { Number(name, kBool, value ? 1 : 0); }
  void Integer(std::string_view name, int64_t value, ValueField kind = kInt64) {
    // A negative int32 takes ten bytes, as an int64 does.
    if (kind == kInt32) value = static_cast<int32_t>(value);
    if (kind == kUint32) value = static_cast<uint32_t>(value);
    Number(name, kind, static_cast<uint64_t>(value));
  }
  void Text(std::string_view name, std::string_view value) { Bytes(name, kString, value); }
  void Flags(std::string_view name, uint32_t bits, size_t count) {
    std::string list = {'\x0a', static_cast<char>(count)};  // a message whose field 1 is the packed list
    for (size_t i = 0; i < count; ++i) list += static_cast<char>(bits >> i & 1u);
    Bytes(name, kBoolList, list);
  }

 private:
  void Number(std::string_view name, ValueField field, uint64_t value) {
    Begin(name, Message::LengthOf(field << 3) + Message::LengthOf(value));
    node_.Integer(field, value);
  }
  void Bytes(std::string_view name, ValueField field, std::string_view value) {
    Begin(name, Message::LengthOf(field << 3) + Message::LengthOf(value.size()) + value.size());
    node_.Bytes(field, value);
  }
  // `size`: bytes of the value, its key included.
  void Begin(std::string_view name, size_t size) {
    node_.Varint(kAttribute << 3 | 2);
    node_.Varint(1 + Message::LengthOf(name.size()) + name.size() + size);
    node_.Bytes(1, name);
  }

  Message& node_;
};

constexpr int64_t kMicrosecond = 1'000'000;

// Halves to even; 0 for negative times.
int64_t Microseconds(Time time) {
  if (time.value <= 0) return 0;
  const int64_t whole = time.value / kMicrosecond;
  const int64_t rest = time.value % kMicrosecond;
  const bool up = rest > kMicrosecond / 2 || (rest == kMicrosecond / 2 && whole % 2 == 1);
  return whole + (up ? 1 : 0);
}

std::string_view NameOf(const Node& node) {
  if (*node.name != 0) return node.name;
  switch (node.kind) {
    case NodeKind::kCollective:
      return "COMM_COLL_NODE";
    case NodeKind::kSend:
      return "COMM_SEND_NODE";
    case NodeKind::kReceive:
      return "COMM_RECV_NODE";
    default:
      return "COMP_NODE";
  }
}

void AddKindAttributes(const Node& node, const trace::Arguments& arguments, const trace::NodeDetails& details,
                       Attributes& attributes) {
  switch (node.kind) {
    case NodeKind::kCollective:
      attributes.Integer("comm_type", static_cast<int64_t>(node.collective));
      attributes.Integer("comm_size", node.size.value);
      if (const uint32_t group = arguments.GroupOf(node); group != 0) {
        attributes.Text("pg_name", fmt::format("{}", group));
      }
      if (details.involved_dimensions != ~0u) attributes.Flags("involved_dim", details.involved_dimensions, 8);
      if (details.priority != 0) attributes.Integer("comm_priority", details.priority, kUint32);
      break;
    case NodeKind::kSend:
    case NodeKind::kReceive:
      attributes.Integer(node.kind == NodeKind::kSend ? "comm_dst" : "comm_src", arguments.PeerOf(node), kInt32);
      if (details.total_chunks == 0) attributes.Integer("comm_size", node.size.value);
      attributes.Integer("comm_tag", node.tag, kInt32);
      break;
    default:
      break;
  }
  if (details.total_chunks != 0) {
    attributes.Integer("msg_chunk_cnt", details.chunks, kInt32);
    attributes.Integer("total_chunk_cnt", details.total_chunks, kInt32);
  }
  if (details.operations != 0) attributes.Integer("num_ops", details.operations);
  if (details.tensor_size.value != 0) attributes.Integer("tensor_size", details.tensor_size.value, kUint64);
}

// `carried` is what rounding the durations before has left over; it is added here, so that the sum stays exact.
void EncodeNode(const Program& program, const Node& node, const trace::Arguments& arguments, Time& carried,
                Message& message) {
  const std::span<const uint64_t> dependencies(program.dependencies.data() + node.first_dependency,
                                               node.dependency_count);
  const auto data = dependencies.first(dependencies.size() - node.control_dependency_count);
  const auto control = dependencies.last(node.control_dependency_count);
  const std::string_view name = NameOf(node);
  message.Begin(kMostAttributes + name.size() + kMostVarint * (8 + dependencies.size()));
  if (node.id != 0) message.Integer(kId, node.id);
  message.Bytes(kName, name);
  if (node.kind != NodeKind::kInvalid) message.Integer(kType, static_cast<uint64_t>(node.kind));
  if (!control.empty()) message.Integers(kControl, control);
  if (!data.empty()) message.Integers(kData, data);
  const int64_t duration = Microseconds(node.duration + carried);
  carried = carried + node.duration - Time(duration * kMicrosecond);
  if (duration != 0) message.Integer(kDuration, static_cast<uint64_t>(duration));
  Attributes attributes(message);
  attributes.Flag("is_cpu_op", node.is_cpu);
  if (node.duration != Time(duration * kMicrosecond)) attributes.Integer("duration_ps", node.duration.value);
  if (node.tag != 0 && !trace::IsMessage(node.kind)) attributes.Integer("schedule_mark", node.tag);
  AddKindAttributes(node, arguments, program.DetailsOf(node), attributes);
}

void AppendDelimited(std::string& out, std::string_view message) {
  char size[kMostVarint];
  out.append(size, static_cast<size_t>(protozero::add_varint_to_buffer(size, message.size())));
  out.append(message);
}

}  // namespace

std::string EncodeChakra(const Program& program, const std::vector<std::pair<std::string, std::string>>& about,
                         const trace::Arguments& arguments) {
  std::string metadata;
  pbf_writer(metadata).add_string(1, kVersion.data(), kVersion.size());
  for (const auto& [name, text] : about) {
    std::string attribute;
    pbf_writer writer(attribute);
    writer.add_string(1, name);
    writer.add_string(kString, text);
    pbf_writer(metadata).add_message(kMetadataAttribute, attribute);
  }
  std::string out;
  constexpr size_t kUsual = 160;  // bytes of a node
  out.reserve(metadata.size() + kUsual * program.nodes.size());
  AppendDelimited(out, metadata);
  Time carried;
  Message message;
  for (const Node& node : program.nodes) {
    EncodeNode(program, node, arguments, carried, message);
    AppendDelimited(out, message.text());
  }
  return out;
}

std::string EncodeRank(const trace::TraceGraph& trace, uint32_t rank) {
  return EncodeChakra(trace.ProgramOf(rank), {}, trace.arguments.empty() ? trace::Arguments() : trace.arguments[rank]);
}

std::string EncodeGroups(const trace::TraceGraph& trace) {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  for (const auto& [id, ranks] : trace.groups) root[fmt::format("{}", id)] = ranks;
  if (trace.groups.empty()) {
    std::vector<uint32_t> all(trace.program_of_rank.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(i);
    root["1"] = all;
  }
  return JsonText(root, 2);
}

}  // namespace hespas::report
