#include "driver/compat/trace_bytes.h"

#include <fmt/format.h>

#include <cmath>
#include <protozero/pbf_writer.hpp>

namespace hespas::driver::compat {
namespace {

// Field numbers of Chakra's et_def.proto.
enum NodeField : uint32_t { kId = 1, kName = 2, kType = 3, kDataDeps = 5, kDuration = 7, kAttribute = 10 };
enum AttributeField : uint32_t { kAttributeName = 1, kInt64 = 9, kBool = 27, kString = 29 };

constexpr int32_t kComputeType = 4;
constexpr int32_t kCollectiveType = 7;

void AddMessage(std::string& out, const std::string& message) {
  protozero::write_varint(std::back_inserter(out), message.size());
  out += message;
}

template <class Fill>
void AddAttribute(protozero::pbf_writer& node, std::string_view name, Fill fill) {
  protozero::pbf_writer attribute(node, kAttribute);
  attribute.add_string(kAttributeName, name.data(), name.size());
  fill(attribute);
}

std::string NodeBytes(uint64_t id, const TraceNode& node, const assemble::PrototypeGroups& groups, int64_t device) {
  std::string bytes;
  protozero::pbf_writer writer(bytes);
  if (id != 0) writer.add_uint64(kId, id);
  writer.add_string(kName, node.communication ? "COMM_COLL_NODE" : "COMP_NODE");
  writer.add_enum(kType, node.communication ? kCollectiveType : kComputeType);
  writer.add_packed_uint64(kDataDeps, node.dependencies.begin(), node.dependencies.end());
  if (!node.communication && node.duration_micros != 0)
    writer.add_uint64(kDuration, static_cast<uint64_t>(node.duration_micros));
  AddAttribute(writer, "is_cpu_op", [](auto& a) { a.add_bool(kBool, false); });
  if (!node.communication) return bytes;
  AddAttribute(writer, "comm_type", [&](auto& a) { a.add_int64(kInt64, static_cast<int64_t>(node.what.kind)); });
  AddAttribute(writer, "comm_size", [&](auto& a) { a.add_int64(kInt64, node.what.size); });
  const uint32_t group = groups.GroupOf(node.what.pattern, device);
  if (group != 0) AddAttribute(writer, "pg_name", [&](auto& a) { a.add_string(kString, std::to_string(group)); });
  return bytes;
}

}  // namespace

int64_t Microseconds(double seconds) {
  const double micros = std::nearbyint(seconds * 1e6);  // the default rounding mode is half to even
  return micros >= 0 && micros < 9e18 ? static_cast<int64_t>(micros) : 0;
}

std::string TraceBytes(const std::vector<TraceNode>& nodes, const assemble::PrototypeGroups& groups, int64_t device) {
  std::string out;
  std::string metadata;
  protozero::pbf_writer(metadata).add_string(1, "0.0.4");
  AddMessage(out, metadata);
  for (uint64_t id = 0; id < nodes.size(); ++id) AddMessage(out, NodeBytes(id, nodes[id], groups, device));
  return out;
}

std::string CommGroupJson(const assemble::PrototypeGroups& groups, uint32_t npus) {
  std::vector<std::vector<int64_t>> all = groups.all();
  if (all.empty()) {
    auto& everyone = all.emplace_back();
    for (uint32_t device = 0; device < npus; ++device) everyone.push_back(device);
  }
  std::string out = "{";
  for (size_t i = 0; i < all.size(); ++i) {
    out += fmt::format("{}\n  \"{}\": [", i == 0 ? "" : ",", i + 1);
    for (size_t j = 0; j < all[i].size(); ++j) out += fmt::format("{}\n    {}", j == 0 ? "" : ",", all[i][j]);
    out += all[i].empty() ? "]" : "\n  ]";
  }
  return out + "\n}";
}

std::string DotText(const split::PrototypeGraph& graph) {
  std::string out = "strict digraph {\n";
  for (size_t i = 0; i < graph.blocks.size(); ++i) {
    const split::PrototypeBlock& block = graph.blocks[i];
    if (!block.coloured) {
      out += fmt::format("{};\n", i);
    } else if (block.kind == graph::BlockKind::kCompute) {
      out += fmt::format("{} [color=blue, style=filled, fillcolor=lightblue];\n", i);
    } else {
      out += fmt::format("{} [color=red, style=filled, fillcolor=lightcoral];\n", i);
    }
  }
  for (size_t i = 0; i < graph.blocks.size(); ++i) {
    for (const uint32_t s : graph.blocks[i].successors) out += fmt::format("{} -> {};\n", i, s);
  }
  return out + "}\n";
}

}  // namespace hespas::driver::compat
