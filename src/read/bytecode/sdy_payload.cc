// Encodings of Shardy (sdy) attributes, with the text that its dialect prints.
#include <fmt/format.h>

#include <functional>

#include "read/bytecode/payloads.h"

namespace hespas::read::bytecode {
namespace {

enum AttributeCode : uint64_t {
  kManualAxes,
  kMeshAxis,
  kMesh,
  kSubAxis,
  kAxisRef,
  kDimensionSharding,
  kTensorSharding,
  kShardingPerValue,
  kDimensionMapping,
  kTensorMapping,
  kOpShardingRule,
  kAxisRefList,
  kListOfAxisRefLists,
  kAllToAllParameter,
  kAllToAllParameterList,
  kTensorShardingUnreduced,
  kShardingPerValueUnreduced,
  kTensorShardingReduction,
};

// Attributes that are inside others print without `#sdy.name`; what is in front is cut off again there.
std::string_view Body(std::string_view text) {
  if (!text.starts_with("#sdy.")) return text;
  const size_t open = text.find_first_of("<{[");
  return open == std::string_view::npos ? text : text.substr(open);
}

std::string Bodies(ByteReader& reader, Decoder& decoder) {
  std::string out;
  const size_t count = reader.Count();
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    if (i > 0) out += ", ";
    out += Body(decoder.Attribute(reader.Varint()));
  }
  return out;
}

std::string Mesh(ByteReader& reader, Decoder& decoder) {
  const std::string axes = Bodies(reader, decoder);
  const std::vector<int64_t> devices = SignedVarints(reader);
  const bool maximal = axes.empty() && devices.size() == 1;
  if (maximal) return fmt::format("#sdy.mesh<[], device_ids={}>", IntegerList(devices));
  if (devices.empty()) return fmt::format("#sdy.mesh<[{}]>", axes);
  return fmt::format("#sdy.mesh<[{}], device_ids={}>", axes, IntegerList(devices));
}

std::string AxisRef(ByteReader& reader, Decoder& decoder) {
  std::string name = StringText(reader, decoder);
  const auto [sub_axis, given] = reader.VarintWithFlag();
  if (given) name += decoder.Attribute(sub_axis);
  return name;
}

std::string DimensionSharding(ByteReader& reader, Decoder& decoder) {
  std::string out = Bodies(reader, decoder);
  const bool is_closed = reader.Byte() != 0;
  if (!is_closed) out += out.empty() ? "?" : ", ?";
  const auto [priority, given] = reader.VarintWithFlag();
  return given ? fmt::format("{{{}}}p{}", out, priority) : fmt::format("{{{}}}", out);
}

std::string TensorSharding(uint64_t code, ByteReader& reader, Decoder& decoder) {
  const std::string mesh(Body(decoder.Attribute(reader.Varint())));
  const std::string dimensions = Bodies(reader, decoder);
  std::string out = fmt::format("#sdy.sharding<{}{}, [{}]", mesh.starts_with('<') ? "mesh" : "", mesh, dimensions);
  const std::string replicated = Bodies(reader, decoder);
  if (!replicated.empty()) out += fmt::format(", replicated={{{}}}", replicated);
  if (code == kTensorSharding) return out + '>';
  const std::string unreduced = Bodies(reader, decoder);
  if (!unreduced.empty()) out += fmt::format(", unreduced={{{}}}", unreduced);
  if (code == kTensorShardingReduction) out += fmt::format(", reduction={}", reader.SignedVarint());
  return out + '>';
}

// Factor i is called i, j, k, ..., z, then z_1 and so on.
std::string FactorName(int64_t factor) {
  constexpr int64_t kLetters = 'z' - 'i' + 1;
  if (factor < kLetters) return std::string(1, static_cast<char>('i' + factor));
  return fmt::format("z_{}", factor - kLetters + 1);
}

std::string DimensionMapping(ByteReader& reader) {
  std::string out;
  for (const int64_t factor : SignedVarints(reader)) out += FactorName(factor);
  return out;
}

std::string FactorSet(std::string_view name, const std::vector<int64_t>& factors) {
  std::string out;
  for (const int64_t factor : factors) {
    if (!out.empty()) out += ", ";
    out += FactorName(factor);
  }
  return out.empty() ? "" : fmt::format(" {}={{{}}}", name, out);
}

std::string ShardingRule(ByteReader& reader, Decoder& decoder) {
  std::string sizes;
  int64_t factor = 0;
  for (const int64_t size : SignedVarints(reader)) {
    sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ", ", FactorName(factor++), size);
  }
  const std::string operands = Bodies(reader, decoder);
  std::string out = fmt::format("#sdy.op_sharding_rule<({})->({}) {{{}}}", operands, Bodies(reader, decoder), sizes);
  for (const std::string_view name : {"reduction", "need_replication", "permutation", "blocked_propagation"}) {
    out += FactorSet(name, SignedVarints(reader));
  }
  if (reader.Byte() != 0) out += ", custom";
  return out + '>';
}

std::string AllToAllParameter(ByteReader& reader, Decoder& decoder) {
  const std::string axes = Bodies(reader, decoder);
  const int64_t source = reader.SignedVarint();
  return fmt::format("{{{}}}: {}->{}", axes, source, reader.SignedVarint());
}

}  // namespace

std::string SdyAttribute(uint64_t code, ByteReader& reader, Decoder& decoder) {
  switch (code) {
    case kManualAxes:
      return fmt::format("#sdy<manual_axes{{{}}}>", Bodies(reader, decoder));
    case kMeshAxis: {
      const std::string name = StringText(reader, decoder);
      return fmt::format("{}={}", name, reader.SignedVarint());
    }
    case kMesh:
      return Mesh(reader, decoder);
    case kSubAxis: {
      const int64_t before = reader.SignedVarint();
      return fmt::format(":({}){}", before, reader.SignedVarint());
    }
    case kAxisRef:
      return AxisRef(reader, decoder);
    case kDimensionSharding:
      return DimensionSharding(reader, decoder);
    case kTensorSharding:
    case kTensorShardingUnreduced:
    case kTensorShardingReduction:
      return TensorSharding(code, reader, decoder);
    case kShardingPerValue:
    case kShardingPerValueUnreduced:
      return fmt::format("#sdy.sharding_per_value<[{}]>", Bodies(reader, decoder));
    case kDimensionMapping:
      return DimensionMapping(reader);
    case kTensorMapping:
      return fmt::format("[{}]", Bodies(reader, decoder));
    case kOpShardingRule:
      return ShardingRule(reader, decoder);
    case kAxisRefList:
      return fmt::format("{{{}}}", Bodies(reader, decoder));
    case kListOfAxisRefLists:
      return fmt::format("[{}]", Bodies(reader, decoder));
    case kAllToAllParameter:
      return AllToAllParameter(reader, decoder);
    case kAllToAllParameterList:
      return fmt::format("[{}]", Bodies(reader, decoder));
    default:
      decoder.Fail(kMalformed, fmt::format("Shardy attribute code {} is not known", code));
      return {};
  }
}

}  // namespace hespas::read::bytecode
