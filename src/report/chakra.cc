#include "report/chakra.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <protozero/pbf_writer.hpp>

#include "base/file.h"

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

// Attributes are built aside and copied in: cheaper than protozero's nested writers, which move what they wrote.
class Attributes {
 public:
  explicit Attributes(pbf_writer& node) : node_(node) {}

  void Flag(const char* name, bool value) {
    Add(name, [&](pbf_writer& attribute) { attribute.add_bool(kBool, value); });
  }
  void Integer(const char* name, int64_t value, ValueField kind = kInt64) {
    Add(name, [&](pbf_writer& attribute) {
      if (kind == kInt32) {
        attribute.add_int32(kInt32, static_cast<int32_t>(value));
      } else if (kind == kUint32) {
        attribute.add_uint32(kUint32, static_cast<uint32_t>(value));
      } else if (kind == kUint64) {
        attribute.add_uint64(kUint64, static_cast<uint64_t>(value));
      } else {
        attribute.add_int64(kInt64, value);
      }
    });
  }
  void Text(const char* name, const std::string& value) {
    Add(name, [&](pbf_writer& attribute) { attribute.add_string(kString, value); });
  }
  void Flags(const char* name, uint32_t bits, size_t count) {
    std::vector<bool> values;
    for (size_t i = 0; i < count; ++i) values.push_back((bits >> i & 1u) != 0);
    Add(name, [&](pbf_writer& attribute) {
      pbf_writer list(attribute, kBoolList);
      list.add_packed_bool(1, values.begin(), values.end());
    });
  }

 private:
  void Add(const char* name, auto&& value) {
    scratch_.clear();
    pbf_writer attribute(scratch_);
    attribute.add_string(1, name);
    value(attribute);
    node_.add_message(kAttribute, scratch_);
  }

  pbf_writer& node_;
  std::string scratch_;
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
  if (!node.name.empty()) return node.name;
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

void AddKindAttributes(const Node& node, Attributes& attributes) {
  switch (node.kind) {
    case NodeKind::kCollective:
      attributes.Integer("comm_type", static_cast<int64_t>(node.collective));
      attributes.Integer("comm_size", node.size.value);
      if (node.group != 0) attributes.Text("pg_name", fmt::format("{}", node.group));
      if (node.involved_dimensions != ~0u) attributes.Flags("involved_dim", node.involved_dimensions, 8);
      if (node.priority != 0) attributes.Integer("comm_priority", node.priority, kUint32);
      break;
    case NodeKind::kSend:
    case NodeKind::kReceive:
      attributes.Integer(node.kind == NodeKind::kSend ? "comm_dst" : "comm_src", node.peer, kInt32);
      if (node.total_chunks == 0) attributes.Integer("comm_size", node.size.value);
      attributes.Integer("comm_tag", node.tag, kInt32);
      break;
    default:
      break;
  }
  if (node.total_chunks != 0) {
    attributes.Integer("msg_chunk_cnt", node.chunks, kInt32);
    attributes.Integer("total_chunk_cnt", node.total_chunks, kInt32);
  }
  if (node.operations != 0) attributes.Integer("num_ops", node.operations);
  if (node.tensor_size.value != 0) attributes.Integer("tensor_size", node.tensor_size.value, kUint64);
}

// `carried` is what rounding the durations before has left over; it is added here, so that the sum stays exact.
void EncodeNode(const Program& program, const Node& node, Time& carried, std::string& out) {
  out.clear();
  pbf_writer message(out);
  const uint64_t* data = program.dependencies.data() + node.first_dependency;
  const uint64_t* control = data + (node.dependency_count - node.control_dependency_count);
  const uint64_t* end = data + node.dependency_count;
  if (node.id != 0) message.add_uint64(kId, node.id);
  const std::string_view name = NameOf(node);
  message.add_string(kName, name.data(), name.size());
  if (node.kind != NodeKind::kInvalid) message.add_enum(kType, static_cast<int32_t>(node.kind));
  if (control != end) message.add_packed_uint64(kControl, control, end);
  if (data != control) message.add_packed_uint64(kData, data, control);
  const int64_t duration = Microseconds(node.duration + carried);
  carried = carried + node.duration - Time(duration * kMicrosecond);
  if (duration != 0) message.add_uint64(kDuration, static_cast<uint64_t>(duration));
  Attributes attributes(message);
  attributes.Flag("is_cpu_op", node.is_cpu);
  if (node.duration != Time(duration * kMicrosecond)) attributes.Integer("duration_ps", node.duration.value);
  AddKindAttributes(node, attributes);
}

// A second name for the file, in place of whatever had that name; false where the file system has no hard links.
bool LinkFile(const std::filesystem::path& from, const std::filesystem::path& to) {
  std::error_code error;
  std::filesystem::remove(to, error);
  std::filesystem::create_hard_link(from, to, error);
  return !error;
}

void AppendDelimited(std::string& out, std::string_view message) {
  protozero::add_varint_to_buffer(&out, message.size());
  out.append(message);
}

}  // namespace

std::string EncodeChakra(const Program& program, const std::vector<std::pair<std::string, std::string>>& about) {
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
  AppendDelimited(out, metadata);
  Time carried;
  std::string message;
  for (const Node& node : program.nodes) {
    EncodeNode(program, node, carried, message);
    AppendDelimited(out, message);
  }
  return out;
}

std::string EncodeGroups(const trace::TraceGraph& trace) {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  for (const auto& [id, ranks] : trace.groups) root[fmt::format("{}", id)] = ranks;
  if (trace.groups.empty()) {
    std::vector<uint32_t> all(trace.program_of_rank.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint32_t>(i);
    root["1"] = all;
  }
  return root.dump(2);
}

Status WriteChakra(const trace::TraceGraph& trace, const std::string& folder, const std::string& prefix) {
  namespace fs = std::filesystem;
  std::vector<fs::path> first(trace.programs.size());  // file of the program's first rank
  for (size_t rank = 0; rank < trace.program_of_rank.size(); ++rank) {
    const uint32_t program = trace.program_of_rank[rank];
    const fs::path path = fs::path(folder) / fmt::format("{}.{}.et", prefix, rank);
    if (first[program].empty()) {
      first[program] = path;
    } else if (LinkFile(first[program], path)) {
      continue;
    }
    if (Status written = WriteFileAtomically(path, EncodeChakra(trace.programs[program])); !written) return written;
  }
  return {};
}

}  // namespace hespas::report
