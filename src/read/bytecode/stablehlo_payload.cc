// Encodings of StableHLO and CHLO attributes in MLIR bytecode that is not a portable artifact.
#include <fmt/format.h>

#include "read/bytecode/payloads.h"

namespace hespas::read::bytecode {
namespace {

enum AttributeCode : uint64_t {
  kChannelHandle = 1,
  kComparisonDirection,
  kComparisonType,
  kConvolutionDimensions,
  kDotDimensions,
  kFftType,
  kGatherDimensions,
  kPrecision,
  kRngAlgorithm,
  kRngDistribution,
  kScatterDimensions,
  kTranspose,
  kTypeExtensions,
  kOutputOperandAlias,
  kDotAlgorithm,
  kAccuracyMode,
  kAccuracy,
  kReplicaGroupMeshAxes,
  kSubAxis,
  kAxisRef,
  kMeshAxis,
  kMesh,
};

std::string ChannelHandle(ByteReader& reader) {
  const int64_t handle = reader.SignedVarint();
  return fmt::format("#stablehlo.channel_handle<handle = {}, type = {}>", handle, reader.SignedVarint());
}

// `[b, 0, 1, f]` from where the two named dimensions and the spatial ones stand; empty where they do not fit together.
std::string Dimensions(int64_t first, char first_letter, int64_t second, char second_letter,
                       const std::vector<int64_t>& spatial) {
  const size_t rank = spatial.size() + 2;
  std::vector<std::string> at(rank);
  const auto put = [&](int64_t position, std::string label) {
    const bool fits =
        position >= 0 && position < static_cast<int64_t>(rank) && at[static_cast<size_t>(position)].empty();
    if (fits) at[static_cast<size_t>(position)] = std::move(label);
    return fits;
  };
  bool good = put(first, std::string(1, first_letter)) && put(second, std::string(1, second_letter));
  for (size_t i = 0; i < spatial.size(); ++i) good = good && put(spatial[i], fmt::format("{}", i));
  if (!good) return {};
  std::string out = "[";
  for (size_t i = 0; i < rank; ++i) {
    if (i > 0) out += ", ";
    out += at[i];
  }
  out += ']';
  return out;
}

std::string ConvolutionDimensions(ByteReader& reader, Decoder& decoder) {
  ConvolutionNumbers numbers;
  for (ConvolutionSide* side : {&numbers.input, &numbers.kernel, &numbers.output}) {
    side->first = reader.SignedVarint();
    side->second = reader.SignedVarint();
    side->spatial = SignedVarints(reader);
  }
  std::string text = ConvolutionText(numbers);
  if (text.empty()) decoder.Fail(kMalformed, "the dimension numbers of a convolution do not fit together");
  return text;
}

std::string DotDimensions(ByteReader& reader) {
  const std::string lhs_batch = IntegerList(SignedVarints(reader));
  const std::string rhs_batch = IntegerList(SignedVarints(reader));
  const std::string lhs = IntegerList(SignedVarints(reader));
  return DotText(lhs_batch, rhs_batch, lhs, IntegerList(SignedVarints(reader)));
}

FiveLists FiveIntegerLists(ByteReader& reader) {
  FiveLists lists;
  for (std::string& list : lists) list = IntegerList(SignedVarints(reader));
  return lists;
}

std::string GatherDimensions(ByteReader& reader) {
  const FiveLists lists = FiveIntegerLists(reader);
  return GatherText(lists, reader.SignedVarint());
}

std::string ScatterDimensions(ByteReader& reader) {
  const FiveLists lists = FiveIntegerLists(reader);
  return ScatterText(lists, reader.SignedVarint());
}

std::string DotAlgorithm(ByteReader& reader, Decoder& decoder) {
  DotAlgorithmParts parts;
  parts.lhs_type = decoder.TypeText(reader.Varint());
  parts.rhs_type = decoder.TypeText(reader.Varint());
  parts.accumulation_type = decoder.TypeText(reader.Varint());
  parts.lhs_components = fmt::format("{}", reader.SignedVarint());
  parts.rhs_components = fmt::format("{}", reader.SignedVarint());
  parts.operations = fmt::format("{}", reader.SignedVarint());
  parts.is_imprecise = reader.Byte() != 0;
  return DotAlgorithmText(parts);
}

std::string AxisRef(ByteReader& reader, Decoder& decoder) {
  const std::string name = StringText(reader, decoder);
  if (reader.Byte() == 0) return fmt::format("#stablehlo.axis_ref<name = {}>", name);
  return fmt::format("#stablehlo.axis_ref<name = {}, sub_axis_info = {}>", name, decoder.Attribute(reader.Varint()));
}

std::string Mesh(ByteReader& reader, Decoder& decoder) {
  const std::string axes(decoder.Attribute(reader.Varint()));
  if (reader.Byte() == 0) return fmt::format("#stablehlo.mesh<axes = {}>", axes);
  return fmt::format("#stablehlo.mesh<axes = {}, device_ids = {}>", axes, decoder.Attribute(reader.Varint()));
}

}  // namespace

std::string ConvolutionText(const ConvolutionNumbers& n) {
  const std::string input = Dimensions(n.input.first, 'b', n.input.second, 'f', n.input.spatial);
  const std::string kernel = Dimensions(n.kernel.first, 'i', n.kernel.second, 'o', n.kernel.spatial);
  const std::string output = Dimensions(n.output.first, 'b', n.output.second, 'f', n.output.spatial);
  if (input.empty() || kernel.empty() || output.empty()) return {};
  return fmt::format("#stablehlo.conv<{}x{}->{}>", input, kernel, output);
}

std::string DotText(std::string_view lhs_batch, std::string_view rhs_batch, std::string_view lhs,
                    std::string_view rhs) {
  return fmt::format(
      "#stablehlo.dot<lhs_batching_dimensions = {}, rhs_batching_dimensions = {}, lhs_contracting_dimensions = {}, "
      "rhs_contracting_dimensions = {}>",
      lhs_batch, rhs_batch, lhs, rhs);
}

std::string GatherText(const FiveLists& lists, int64_t index_vector_dim) {
  return fmt::format(
      "#stablehlo.gather<offset_dims = {}, collapsed_slice_dims = {}, operand_batching_dims = {}, "
      "start_indices_batching_dims = {}, start_index_map = {}, index_vector_dim = {}>",
      lists[0], lists[1], lists[2], lists[3], lists[4], index_vector_dim);
}

std::string ScatterText(const FiveLists& lists, int64_t index_vector_dim) {
  return fmt::format(
      "#stablehlo.scatter<update_window_dims = {}, inserted_window_dims = {}, input_batching_dims = {}, "
      "scatter_indices_batching_dims = {}, scatter_dims_to_operand_dims = {}, index_vector_dim = {}>",
      lists[0], lists[1], lists[2], lists[3], lists[4], index_vector_dim);
}

std::string DotAlgorithmText(const DotAlgorithmParts& p) {
  return fmt::format(
      "#stablehlo.dot_algorithm<lhs_precision_type = {}, rhs_precision_type = {}, accumulation_type = {}, "
      "lhs_component_count = {}, rhs_component_count = {}, num_primitive_operations = {}, "
      "allow_imprecise_accumulation = {}>",
      p.lhs_type, p.rhs_type, p.accumulation_type, p.lhs_components, p.rhs_components, p.operations, p.is_imprecise);
}

std::string StableHloAttribute(uint64_t code, ByteReader& reader, Decoder& decoder) {
  const auto of_enum = [&](std::string_view name, std::span<const std::string_view> rows) {
    return EnumText("stablehlo", name, rows, reader.Varint(), decoder);
  };
  switch (code) {
    case kChannelHandle:
      return ChannelHandle(reader);
    case kComparisonDirection:
      return of_enum("comparison_direction", kComparisonDirections);
    case kComparisonType:
      return of_enum("comparison_type", kComparisonTypes);
    case kConvolutionDimensions:
      return ConvolutionDimensions(reader, decoder);
    case kDotDimensions:
      return DotDimensions(reader);
    case kFftType:
      return of_enum("fft_type", kFftTypes);
    case kGatherDimensions:
      return GatherDimensions(reader);
    case kPrecision:
      return of_enum("precision", kPrecisions);
    case kRngAlgorithm:
      return of_enum("rng_algorithm", kRngAlgorithms);
    case kRngDistribution:
      return of_enum("rng_distribution", kRngDistributions);
    case kScatterDimensions:
      return ScatterDimensions(reader);
    case kTranspose:
      return of_enum("transpose", kTransposes);
    case kTypeExtensions:
      return BoundsText(reader);
    case kOutputOperandAlias:
      return OutputOperandAliasText(reader);
    case kDotAlgorithm:
      return DotAlgorithm(reader, decoder);
    case kAccuracyMode:
      return of_enum("result_accuracy_mode", kAccuracyModes);
    case kAccuracy:
      return AccuracyText(reader, decoder);
    case kReplicaGroupMeshAxes: {
      const std::string mesh(decoder.Attribute(reader.Varint()));
      return fmt::format("#stablehlo.replica_group_mesh_axes<mesh = {}, axes = {}>", mesh,
                         AttributeList(reader, decoder));
    }
    case kSubAxis: {
      const int64_t before = reader.SignedVarint();
      return fmt::format("({}){}", before, reader.SignedVarint());
    }
    case kAxisRef:
      return AxisRef(reader, decoder);
    case kMeshAxis: {
      const std::string name = StringText(reader, decoder);
      return fmt::format("<name = {}, size = {}>", name, reader.SignedVarint());
    }
    case kMesh:
      return Mesh(reader, decoder);
    default:
      decoder.Fail(kMalformed, fmt::format("StableHLO attribute code {} is not known", code));
      return {};
  }
}

ir::Type StableHloType(uint64_t code, ByteReader& reader, Decoder& decoder) {
  ir::Type type;
  if (code == 0) {
    type.kind = ir::TypeKind::kToken;
    type.text = "!stablehlo.token";
  } else if (code == 1) {
    type.kind = ir::TypeKind::kFuture;
    type.nested = TypeList(reader, decoder);
  } else {
    decoder.Fail(kMalformed, fmt::format("StableHLO type code {} is not known", code));
  }
  return type;
}

std::string ChloAttribute(uint64_t code, ByteReader& reader, Decoder& decoder) {
  if (code == 0) return EnumText("chlo", "comparison_direction", kComparisonDirections, reader.Varint(), decoder);
  if (code == 1) return EnumText("chlo", "comparison_type", kComparisonTypes, reader.Varint(), decoder);
  decoder.Fail(kMalformed, fmt::format("CHLO attribute code {} is not known", code));
  return {};
}

}  // namespace hespas::read::bytecode
