// One .et file: framing, nodes, attributes.
#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <optional>

#include "base/protozero_reader.h"
#include "read/chakra/chakra.h"
#include "trace/asynchronous.h"
#include "trace/priority.h"

namespace hespas::read::chakra {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;
using trace::Node;
using trace::NodeKind;
using trace::Program;

// Field numbers of et_def.proto.
enum NodeField : uint32_t { kId = 1, kName = 2, kType = 3, kControl = 4, kData = 5, kDuration = 7, kAttribute = 10 };
enum ValueField : uint32_t {
  kDouble = 3,
  kFloat = 5,
  kInt32 = 7,
  kInt64 = 9,
  kUint32 = 11,
  kUint64 = 13,
  kSint32 = 15,
  kSint64 = 17,
  kFixed32 = 19,
  kFixed64 = 21,
  kSfixed32 = 23,
  kSfixed64 = 25,
  kBool = 27,
  kBoolList = 28,
  kString = 29,
};

struct Attribute {
  std::string_view name;
  std::optional<int64_t> integer;
  std::optional<std::string_view> text;
  std::optional<std::vector<bool>> flags;
};

std::string_view View(protozero::data_view view) { return {view.data(), view.size()}; }

std::vector<bool> ReadFlags(pbf_reader list) {
  std::vector<bool> flags;
  while (list.next(1)) {
    if (list.wire_type() != pbf_wire_type::length_delimited) {
      flags.push_back(list.get_uint64() != 0);
      continue;
    }
    for (const bool flag : list.get_packed_bool()) flags.push_back(flag);
  }
  return flags;
}

Attribute ReadAttribute(pbf_reader message) {
  Attribute out;
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        out.name = View(message.get_view());
        break;
      case kInt32:
        out.integer = message.get_int32();
        break;
      case kInt64:
        out.integer = message.get_int64();
        break;
      case kUint32:
        out.integer = message.get_uint32();
        break;
      case kUint64:
        out.integer = static_cast<int64_t>(message.get_uint64());
        break;
      case kSint32:
        out.integer = message.get_sint32();
        break;
      case kSint64:
        out.integer = message.get_sint64();
        break;
      case kFixed32:
        out.integer = message.get_fixed32();
        break;
      case kFixed64:
        out.integer = static_cast<int64_t>(message.get_fixed64());
        break;
      case kSfixed32:
        out.integer = message.get_sfixed32();
        break;
      case kSfixed64:
        out.integer = message.get_sfixed64();
        break;
      case kBool:
        out.integer = message.get_uint64() != 0 ? 1 : 0;  // get_bool looks behind a cut-off field
        break;
      case kBoolList:
        out.flags = ReadFlags(message.get_message());
        break;
      case kString:
        out.text = View(message.get_view());
        break;
      default:
        message.skip();
    }
  }
  return out;
}

// Which attributes a node had, beside the values put into it.
struct Seen {
  bool type = false;
  bool size = false;
  bool peer = false;
  bool tag = false;
  bool tensor = false;
};

class NodeReader {
 public:
  NodeReader(Program& program, bool in_graph) : program_(program), in_graph_(in_graph) {}

  // The error's text, empty if the node is good.
  std::string Read(pbf_reader message) {
    node_.first_dependency = static_cast<uint32_t>(program_.dependencies.size());
    while (message.next()) {
      if (std::string error = Field(message); !error.empty()) return Named(error);
    }
    program_.dependencies.insert(program_.dependencies.end(), control_.begin(), control_.end());
    node_.control_dependency_count = static_cast<uint32_t>(control_.size());
    node_.dependency_count = static_cast<uint32_t>(program_.dependencies.size()) - node_.first_dependency;
    if (std::string error = Complete(); !error.empty()) return Named(error);
    if (details_ != trace::NodeDetails()) program_.SetDetails(program_.nodes.size(), details_);
    program_.nodes.push_back(node_);
    return {};
  }

 private:
  std::string Named(const std::string& error) const {
    return fmt::format("node {}{}: {}", node_.id, *node_.name == 0 ? "" : fmt::format(" (`{}`)", node_.name), error);
  }

  std::string Field(pbf_reader& message) {
    switch (message.tag()) {
      case kId:
        node_.id = message.get_uint64();
        return {};
      case kName:
        node_.name = program_.Name(View(message.get_view()));
        return {};
      case kType:
        return SetKind(message.get_enum());
      case kControl:
        return Dependencies(message, control_);
      case kData:
        return Dependencies(message, program_.dependencies);
      case kDuration:
        return SetDuration(message.get_uint64());
      case kAttribute:
        return Apply(ReadAttribute(message.get_message()));
      default:
        message.skip();
        return {};
    }
  }

  std::string SetKind(int32_t kind) {
    if (kind < 0 || kind > static_cast<int32_t>(NodeKind::kCollective))
      return fmt::format("unknown node type {}", kind);
    node_.kind = static_cast<NodeKind>(kind);
    return {};
  }

  std::string SetDuration(uint64_t microseconds) {
    constexpr uint64_t kLongest = static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) / 1'000'000;
    if (microseconds > kLongest) return fmt::format("a duration of {} microseconds is too long", microseconds);
    node_.duration = Time(static_cast<int64_t>(microseconds * 1'000'000));
    return {};
  }

  static std::string Dependencies(pbf_reader& message, std::vector<uint64_t>& out) {
    if (message.wire_type() != pbf_wire_type::length_delimited) {
      out.push_back(message.get_uint64());
      return {};
    }
    for (const uint64_t id : message.get_packed_uint64()) out.push_back(id);
    return {};
  }

  std::string Apply(const Attribute& attribute);
  std::string SetGroup(const Attribute& attribute);
  std::string SetInteger(const Attribute& attribute, int64_t value);
  std::string Complete();

  Program& program_;
  bool in_graph_;
  Node node_;
  trace::NodeDetails details_;
  Seen seen_;
  std::vector<uint64_t> control_;
  int64_t sent_to_ = -1;
  int64_t received_from_ = -1;
  int32_t mark_ = 0;
  std::optional<Time> exact_duration_;  // our own attribute; wins over the whole microseconds
};

constexpr std::string_view kIntegerAttributes[] = {
    "is_cpu_op", "num_ops",       "tensor_size",   "comm_type",       "comm_size",   "comm_tag",     "comm_src",
    "comm_dst",  "comm_priority", "msg_chunk_cnt", "total_chunk_cnt", "duration_ps", "schedule_mark"};

std::string NodeReader::Apply(const Attribute& attribute) {
  if (attribute.name == "pg_name") return SetGroup(attribute);
  if (attribute.name == "involved_dim") {
    if (!attribute.flags) return "`involved_dim` is not a list of booleans";
    details_.involved_dimensions = 0;
    for (size_t d = 0; d < attribute.flags->size() && d < 32; ++d) {
      if ((*attribute.flags)[d]) details_.involved_dimensions |= 1u << d;
    }
    return {};
  }
  for (const std::string_view name : kIntegerAttributes) {
    if (attribute.name != name) continue;
    if (!attribute.integer) return fmt::format("`{}` is not an integer", name);
    return SetInteger(attribute, *attribute.integer);
  }
  return {};
}

// A decimal number, of which the leading digits count; "" and "0" mean all NPUs.
std::string NodeReader::SetGroup(const Attribute& attribute) {
  if (!attribute.text) return "`pg_name` is not a string";
  if (attribute.text->empty()) return {};
  const char* end = attribute.text->data() + attribute.text->size();
  if (std::from_chars(attribute.text->data(), end, node_.group).ec == std::errc()) return {};
  return fmt::format("`pg_name` must hold the number of a communicator group, not `{}`", attribute.text->substr(0, 50));
}

std::string NodeReader::SetInteger(const Attribute& attribute, int64_t value) {
  const std::string_view name = attribute.name;
  const auto within = [&](int64_t low, int64_t high) { return value >= low && value <= high; };
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  bool good = true;
  if (name == "is_cpu_op") {
    node_.is_cpu = value != 0;
  } else if (name == "num_ops") {
    details_.operations = value;
    good = value >= 0;
  } else if (name == "tensor_size") {
    details_.tensor_size = Bytes(value);
    seen_.tensor = true;
    good = value >= 0;
  } else if (name == "comm_type") {
    seen_.type = true;
    good = within(0, static_cast<int64_t>(trace::Collective::kBarrier));
    if (good) node_.collective = static_cast<trace::Collective>(value);
  } else if (name == "comm_size") {
    node_.size = Bytes(value);
    seen_.size = true;
    good = value >= 0;
  } else if (name == "comm_tag") {
    node_.tag = static_cast<int32_t>(value);
    seen_.tag = true;
    good = within(-kMost, kMost);
  } else if (name == "comm_src" || name == "comm_dst") {
    (name == "comm_src" ? received_from_ : sent_to_) = value;
    good = within(0, kMost);
  } else if (name == "schedule_mark") {
    mark_ = static_cast<int32_t>(value);
    good = within(trace::kRunsFirst, trace::kInComputeStream);
  } else if (name == "duration_ps") {
    exact_duration_ = Time(value);
    good = value >= 0;
  } else if (name == "comm_priority") {
    details_.priority = static_cast<uint32_t>(value);
    good = within(0, kMost);
  } else {
    (name == "msg_chunk_cnt" ? details_.chunks : details_.total_chunks) = static_cast<uint32_t>(value);
    good = within(0, kMost);
  }
  return good ? std::string() : fmt::format("`{}` cannot be {}", name, value);
}

std::string NodeReader::Complete() {
  const bool message = trace::IsMessage(node_.kind);
  const bool collective = node_.kind == NodeKind::kCollective;
  const int64_t peer = node_.kind == NodeKind::kSend ? sent_to_ : received_from_;
  node_.peer = static_cast<int32_t>(peer);
  if (!message) node_.tag = mark_;
  if (exact_duration_) node_.duration = *exact_duration_;
  if (seen_.size) details_.total_chunks = 0;
  if (collective && !seen_.type) return "`comm_type` is missing";
  if (message && peer < 0) return node_.kind == NodeKind::kSend ? "`comm_dst` is missing" : "`comm_src` is missing";
  if (message && !seen_.tag) return "`comm_tag` is missing";
  const bool in_parts = in_graph_ && details_.total_chunks > 0;
  if ((message || collective) && !seen_.size && !in_parts) return "`comm_size` is missing";
  const bool memory = node_.kind == NodeKind::kMemoryLoad || node_.kind == NodeKind::kMemoryStore;
  if (memory && !seen_.tensor) return "`tensor_size` is missing";
  return {};
}

// The number of whole messages in the stream; stops at damage.
size_t CountMessages(std::string_view bytes) {
  size_t count = 0;
  const char* at = bytes.data();
  const char* end = bytes.data() + bytes.size();
  try {
    while (at != end) {
      const uint64_t length = protozero::decode_varint(&at, end);
      if (length > static_cast<uint64_t>(end - at)) break;
      at += length;
      ++count;
    }
  } catch (const std::exception&) {
    return count;
  }
  return count;
}

}  // namespace

Result<Program> ReadProgram(std::string_view bytes, const std::string& file, bool in_graph) {
  Program program;
  program.nodes.reserve(CountMessages(bytes));
  bool first = true;  // the metadata of the file
  const char* at = bytes.data();
  const char* end = bytes.data() + bytes.size();
  const auto offset = [&](const char* p) { return p - bytes.data(); };
  while (at != end) {
    const char* start = at;
    try {
      const uint64_t length = protozero::decode_varint(&at, end);
      if (length > static_cast<uint64_t>(end - at)) {
        return MakeError(kDamagedTrace,
                         fmt::format("the message at byte {} has {} bytes, but the file ends after {}", offset(start),
                                     length, end - at),
                         {.file = file}, "the file is cut off or not a Chakra trace; write it again");
      }
      const pbf_reader message(at, length);
      at += length;
      if (first) {
        first = false;
        pbf_reader metadata = message;
        while (metadata.next()) metadata.skip();
        continue;
      }
      if (std::string error = NodeReader(program, in_graph).Read(message); !error.empty()) {
        return MakeError(kBadNode, fmt::format("{} (byte {})", error, offset(start)), {.file = file});
      }
    } catch (const std::exception& error) {
      return MakeError(kDamagedTrace, fmt::format("damaged message at byte {}: {}", offset(start), error.what()),
                       {.file = file}, "the file is damaged or not a Chakra trace; write it again");
    }
  }
  if (first) {
    return MakeError(kDamagedTrace, "the file is empty", {.file = file}, "a Chakra trace starts with its metadata");
  }
  program.dependencies.shrink_to_fit();
  return program;
}

}  // namespace hespas::read::chakra
