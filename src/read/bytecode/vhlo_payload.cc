// Encodings of VHLO, the versioned dialect of portable artifacts, in the spelling of StableHLO and builtin.
#include <fmt/format.h>

#include "read/bytecode/elements.h"
#include "read/bytecode/payloads.h"

namespace hespas::read::bytecode {
namespace {

enum AttributeCode : uint64_t {
  kArray = 1,
  kBoolean,
  kComparisonDirection,
  kComparisonType,
  kApiVersion,
  kDictionary,
  kFftType,
  kFloat,
  kInteger,
  kOutputOperandAlias,
  kPrecision,
  kRngAlgorithm,
  kRngDistribution,
  kString,
  kTensor,
  kTranspose,
  kType,
  kTypeExtensions,
  kAccuracyMode,
  kAccuracy,
  kSubAxis,
  kAxisRef,
  kReplicaGroupMeshAxes,
  kMeshAxis,
  kMesh,
};

using ir::ElementKind;

struct ScalarCode {
  ElementKind kind = ElementKind::kNone;
  uint16_t bits = 0;
};

// Type codes that represent a scalar by themselves; the others have payloads.
constexpr ScalarCode Scalar(uint64_t code) {
  switch (code) {
    case 0:
      return {ElementKind::kInteger, 1};
    case 2:
      return {ElementKind::kBF16, 16};
    case 3:
      return {ElementKind::kF16, 16};
    case 4:
      return {ElementKind::kF32, 32};
    case 5:
      return {ElementKind::kF64, 64};
    case 6:
      return {ElementKind::kF8E4M3FN, 8};
    case 7:
      return {ElementKind::kF8E5M2, 8};
    case 9:
      return {ElementKind::kIndex, 64};
    case 10:
      return {ElementKind::kInteger, 4};
    case 11:
      return {ElementKind::kInteger, 8};
    case 12:
      return {ElementKind::kInteger, 16};
    case 13:
      return {ElementKind::kInteger, 32};
    case 14:
      return {ElementKind::kInteger, 64};
    case 15:
      return {ElementKind::kUnsigned, 4};
    case 16:
      return {ElementKind::kUnsigned, 8};
    case 17:
      return {ElementKind::kUnsigned, 16};
    case 18:
      return {ElementKind::kUnsigned, 32};
    case 19:
      return {ElementKind::kUnsigned, 64};
    case 27:
      return {ElementKind::kF8E4M3FNUZ, 8};
    case 28:
      return {ElementKind::kF8E5M2FNUZ, 8};
    case 29:
      return {ElementKind::kF8E4M3B11FNUZ, 8};
    case 31:
      return {ElementKind::kInteger, 2};
    case 32:
      return {ElementKind::kUnsigned, 2};
    case 34:
      return {ElementKind::kTF32, 32};
    case 35:
      return {ElementKind::kF8E4M3, 8};
    case 36:
      return {ElementKind::kF8E3M4, 8};
    case 37:
      return {ElementKind::kF4E2M1FN, 4};
    case 38:
      return {ElementKind::kF6E2M3FN, 6};
    case 39:
      return {ElementKind::kF6E3M2FN, 6};
    case 40:
      return {ElementKind::kF8E8M0FNU, 8};
    default:
      return {};
  }
}

enum TypeCode : uint64_t {
  kComplex = 1,
  kFunction = 8,
  kRankedTensor = 20,
  kRankedTensorWithEncoding = 21,
  kToken = 22,
  kTuple = 23,
  kQuantised = 24,
  kUnrankedTensor = 25,
  kWitness = 26,
  kQuantisedPerAxis = 30,
  kNone = 33,
  kBuffer = 41,
  kFuture = 42,
};

std::string SubAxis(ByteReader& reader) {
  const int64_t before = reader.SignedVarint();
  return fmt::format("({}){}", before, reader.SignedVarint());
}

std::string AxisRef(ByteReader& reader, Decoder& decoder) {
  const std::string name(decoder.Attribute(reader.Varint()));
  if (reader.Varint() == 0) return fmt::format("#stablehlo.axis_ref<name = {}>", name);
  return fmt::format("#stablehlo.axis_ref<name = {}, sub_axis_info = {}>", name, decoder.Attribute(reader.Varint()));
}

std::string MeshAxes(ByteReader& reader, Decoder& decoder) {
  std::string mesh(decoder.Attribute(reader.Varint()));
  if (mesh.starts_with('"')) mesh = SymbolText(Unquoted(mesh));
  return fmt::format("#stablehlo.replica_group_mesh_axes<mesh = {}, axes = {}>", mesh,
                     decoder.Attribute(reader.Varint()));
}

std::string MeshAxis(ByteReader& reader, Decoder& decoder) {
  const std::string name(decoder.Attribute(reader.Varint()));
  return fmt::format("<name = {}, size = {}>", name, reader.SignedVarint());
}

std::string Mesh(ByteReader& reader, Decoder& decoder) {
  const std::string axes(decoder.Attribute(reader.Varint()));
  const auto [devices, given] = reader.VarintWithFlag();
  if (!given) return fmt::format("#stablehlo.mesh<axes = {}>", axes);
  return fmt::format("#stablehlo.mesh<axes = {}, device_ids = {}>", axes, decoder.Attribute(devices));
}

Quantisation QuantisedParts(ByteReader& reader, Decoder& decoder) {
  Quantisation q{.flags = reader.Varint()};
  q.storage = decoder.types()[decoder.Type(reader.Varint())];
  q.expressed = decoder.TypeText(reader.Varint());
  return q;
}

ir::Type PerTensor(ByteReader& reader, Decoder& decoder) {
  Quantisation q = QuantisedParts(reader, decoder);
  q.scales = {ReadDouble(reader)};
  q.zero_points = {reader.SignedVarint()};
  q.minimum = reader.SignedVarint();
  q.maximum = reader.SignedVarint();
  return QuantisedType(q);
}

ir::Type PerAxis(ByteReader& reader, Decoder& decoder) {
  Quantisation q = QuantisedParts(reader, decoder);
  q.axis = static_cast<int64_t>(reader.Varint());
  q.minimum = reader.SignedVarint();
  q.maximum = reader.SignedVarint();
  q.scales.resize(reader.Count());
  for (double& scale : q.scales) scale = ReadDouble(reader);
  q.zero_points = SignedVarints(reader);
  return QuantisedType(q);
}

ir::Type Nested(ir::TypeKind kind, ByteReader& reader, Decoder& decoder) {
  ir::Type type;
  type.kind = kind;
  type.nested = TypeList(reader, decoder);
  type.input_count = kind == ir::TypeKind::kFunction ? static_cast<uint32_t>(type.nested.size()) : 0;
  if (kind != ir::TypeKind::kFunction) return type;
  for (const ir::TypeId result : TypeList(reader, decoder)) type.nested.push_back(result);
  return type;
}

ir::Type Shaped(ir::TypeKind kind, bool has_encoding, ByteReader& reader, Decoder& decoder) {
  const std::string encoding(has_encoding ? decoder.Attribute(reader.Varint()) : std::string_view());
  std::vector<int64_t> dims = SignedVarints(reader);
  ir::Type type = ShapedType(kind, decoder.types()[decoder.Type(reader.Varint())], std::move(dims));
  type.encoding = encoding;
  return type;
}

ir::Type Named(ir::TypeKind kind, std::string_view text) {
  ir::Type type;
  type.kind = kind;
  type.text = text;
  return type;
}

}  // namespace

std::string VhloAttribute(uint64_t code, ByteReader& reader, Decoder& decoder) {
  const auto of_enum = [&](std::string_view name, std::span<const std::string_view> rows) {
    return EnumText("stablehlo", name, rows, reader.Varint(), decoder);
  };
  switch (code) {
    case kArray:
      return AttributeList(reader, decoder);
    case kBoolean:
      return reader.Varint() != 0 ? "true" : "false";
    case kComparisonDirection:
      return of_enum("comparison_direction", kComparisonDirections);
    case kComparisonType:
      return of_enum("comparison_type", kComparisonTypes);
    case kApiVersion:
      return fmt::format("{} : i32", reader.Varint());
    case kDictionary:
      return DictionaryText(reader, decoder);
    case kFftType:
      return of_enum("fft_type", kFftTypes);
    case kFloat:
    case kInteger:
      return NumberAttribute(reader, decoder);
    case kOutputOperandAlias:
      return OutputOperandAliasText(reader);
    case kPrecision:
      return of_enum("precision", kPrecisions);
    case kRngAlgorithm:
      return of_enum("rng_algorithm", kRngAlgorithms);
    case kRngDistribution:
      return of_enum("rng_distribution", kRngDistributions);
    case kString:
      return StringText(reader, decoder);
    case kTensor:
      return DenseAttribute(reader, decoder);
    case kTranspose:
      return of_enum("transpose", kTransposes);
    case kType:
      return decoder.TypeText(reader.Varint());
    case kTypeExtensions:
      return BoundsText(reader);
    case kAccuracyMode:
      return of_enum("result_accuracy_mode", kAccuracyModes);
    case kAccuracy:
      return AccuracyText(reader, decoder);
    case kSubAxis:
      return SubAxis(reader);
    case kAxisRef:
      return AxisRef(reader, decoder);
    case kReplicaGroupMeshAxes:
      return MeshAxes(reader, decoder);
    case kMeshAxis:
      return MeshAxis(reader, decoder);
    case kMesh:
      return Mesh(reader, decoder);
    default:
      decoder.Fail(kMalformed, fmt::format("VHLO attribute code {} is not known", code));
      return {};
  }
}

ir::Type VhloType(uint64_t code, ByteReader& reader, Decoder& decoder) {
  if (const ScalarCode scalar = Scalar(code); scalar.bits > 0) return ScalarType(scalar.kind, scalar.bits);
  switch (code) {
    case kComplex: {
      ir::Type type = decoder.types()[decoder.Type(reader.Varint())];
      if (type.kind != ir::TypeKind::kScalar) decoder.Fail(kMalformed, "a complex type has no scalar element");
      type.element.complex = true;
      return type;
    }
    case kFunction:
      return Nested(ir::TypeKind::kFunction, reader, decoder);
    case kRankedTensor:
    case kRankedTensorWithEncoding:
      return Shaped(ir::TypeKind::kTensor, code == kRankedTensorWithEncoding, reader, decoder);
    case kToken:
      return Named(ir::TypeKind::kToken, "!stablehlo.token");
    case kTuple:
      return Nested(ir::TypeKind::kTuple, reader, decoder);
    case kQuantised:
      return PerTensor(reader, decoder);
    case kUnrankedTensor:
      return ShapedType(ir::TypeKind::kUnrankedTensor, decoder.types()[decoder.Type(reader.Varint())], {});
    case kWitness:
      return Named(ir::TypeKind::kOpaque, "!shape.witness");
    case kQuantisedPerAxis:
      return PerAxis(reader, decoder);
    case kNone:
      return {};
    case kBuffer:
      return Shaped(ir::TypeKind::kMemref, false, reader, decoder);
    case kFuture:
      return Nested(ir::TypeKind::kFuture, reader, decoder);
    default:
      decoder.Fail(kMalformed, fmt::format("VHLO type code {} is not known", code));
      return {};
  }
}

}  // namespace hespas::read::bytecode
