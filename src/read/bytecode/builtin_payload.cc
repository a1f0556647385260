// Encodings of MLIR's builtin dialect (spec: mlir-bytecode, "Payload encodings to support").
#include <fmt/format.h>

#include "read/bytecode/elements.h"
#include "read/bytecode/payloads.h"

namespace hespas::read::bytecode {
namespace {

enum AttributeCode : uint64_t {
  kArray,
  kDictionary,
  kString,
  kTypedString,
  kFlatSymbol,
  kSymbol,
  kType,
  kUnit,
  kInteger,
  kFloat,
  kCallSite,
  kFileLine,
  kFused,
  kFusedWithMetadata,
  kNameLocation,
  kUnknownLocation,
  kDenseResource,
  kDenseArray,
  kDense,
  kDenseString,
  kSparse,
  kDistinct,
  kFileRange,
};

enum TypeCode : uint64_t {
  kIntegerType,
  kIndexType,
  kFunctionType,
  kBf16,
  kF16,
  kF32,
  kF64,
  kF80,
  kF128,
  kComplex,
  kMemref,
  kMemrefWithSpace,
  kNone,
  kRankedTensor,
  kRankedTensorWithEncoding,
  kTuple,
  kUnrankedTensor,
  kUnrankedMemref,
  kUnrankedMemrefWithSpace,
  kVector,
  kScalableVector,
};

std::string SymbolPath(ByteReader& reader, Decoder& decoder) {
  std::string out = SymbolText(Unquoted(decoder.Attribute(reader.Varint())));
  const size_t leaves = reader.Count();
  for (size_t i = 0; i < leaves && reader.ok(); ++i) out += fmt::format("::{}", decoder.Attribute(reader.Varint()));
  return out;
}

std::string DenseArray(ByteReader& reader, Decoder& decoder) {
  const ir::Type type = decoder.types()[decoder.Type(reader.Varint())];
  const uint64_t count = reader.Varint();
  const std::string_view blob = reader.Bytes(reader.Varint());
  std::string text = reader.ok() ? ArrayText(type.element, count, blob) : "";
  if (text.empty()) decoder.Fail(kMalformed, "the values of an array do not fit its type");
  return text;
}

std::string DenseStrings(ByteReader& reader, Decoder& decoder) {
  const std::string type = decoder.TypeText(reader.Varint());
  const bool is_splat = reader.Varint() != 0;
  const size_t count = reader.Count();
  std::string list;
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    if (i > 0) list += ", ";
    list += StringText(reader, decoder);
  }
  return is_splat ? fmt::format("dense<{}> : {}", list, type) : fmt::format("dense<[{}]> : {}", list, type);
}

std::string Resource(ByteReader& reader, Decoder& decoder) {
  const std::string type = decoder.TypeText(reader.Varint());
  const uint64_t handle = reader.Varint();
  const auto& keys = decoder.container().resources;
  if (handle < keys.size()) return fmt::format("dense_resource<{}> : {}", KeyText(keys[handle]), type);
  decoder.Fail(kMalformed, fmt::format("resource {} does not exist", handle));
  return {};
}

std::string Sparse(ByteReader& reader, Decoder& decoder) {
  const std::string type = decoder.TypeText(reader.Varint());
  const std::string indices(decoder.Attribute(reader.Varint()));
  return fmt::format("#builtin.sparse<{}, {}, {}>", indices, decoder.Attribute(reader.Varint()), type);
}

ir::Type Integer(uint64_t width_and_sign, Decoder& decoder) {
  constexpr ir::ElementKind kKinds[] = {ir::ElementKind::kInteger, ir::ElementKind::kSigned,
                                        ir::ElementKind::kUnsigned};
  constexpr uint64_t kMaximumWidth = (uint64_t{1} << 16) - 1;
  const uint64_t sign = width_and_sign & 3;
  if (sign < 3 && (width_and_sign >> 2) <= kMaximumWidth) {
    return ScalarType(kKinds[sign], static_cast<uint16_t>(width_and_sign >> 2));
  }
  decoder.Fail(kMalformed, "an integer type is too wide");
  return {};
}

ir::Type Function(ByteReader& reader, Decoder& decoder) {
  ir::Type type;
  type.kind = ir::TypeKind::kFunction;
  type.nested = TypeList(reader, decoder);
  type.input_count = static_cast<uint32_t>(type.nested.size());
  for (const ir::TypeId result : TypeList(reader, decoder)) type.nested.push_back(result);
  return type;
}

ir::Type Complex(ByteReader& reader, Decoder& decoder) {
  ir::Type type = decoder.types()[decoder.Type(reader.Varint())];
  if (type.kind != ir::TypeKind::kScalar) decoder.Fail(kMalformed, "a complex type has no scalar element");
  type.element.complex = true;
  return type;
}

ir::Type Shaped(ir::TypeKind kind, ByteReader& reader, Decoder& decoder) {
  std::vector<int64_t> dims = SignedVarints(reader);
  return ShapedType(kind, decoder.types()[decoder.Type(reader.Varint())], std::move(dims));
}

ir::Type Encoded(ByteReader& reader, Decoder& decoder) {
  const std::string encoding(decoder.Attribute(reader.Varint()));
  ir::Type type = Shaped(ir::TypeKind::kTensor, reader, decoder);
  type.encoding = encoding;
  return type;
}

ir::Type ScalableVector(ByteReader& reader, Decoder& decoder) {
  const size_t flags = reader.Count();
  for (size_t i = 0; i < flags; ++i) reader.Byte();
  return Shaped(ir::TypeKind::kVector, reader, decoder);
}

ir::Type Memref(bool has_space, ByteReader& reader, Decoder& decoder) {
  std::string layout;
  if (has_space) layout = decoder.Attribute(reader.Varint());
  ir::Type type = Shaped(ir::TypeKind::kMemref, reader, decoder);
  const std::string_view map = decoder.Attribute(reader.Varint());
  // The identity map is what a memref has anyway; MLIR leaves it out.
  type.encoding = layout.empty() ? "" : layout;
  (void)map;
  return type;
}

}  // namespace

std::string BuiltinAttribute(uint64_t code, ByteReader& reader, Decoder& decoder) {
  switch (code) {
    case kArray:
      return AttributeList(reader, decoder);
    case kDictionary:
      return DictionaryText(reader, decoder);
    case kString:
      return StringText(reader, decoder);
    case kTypedString: {
      const std::string text = StringText(reader, decoder);
      return fmt::format("{} : {}", text, decoder.TypeText(reader.Varint()));
    }
    case kFlatSymbol:
      return SymbolText(Unquoted(decoder.Attribute(reader.Varint())));
    case kSymbol:
      return SymbolPath(reader, decoder);
    case kType:
      return decoder.TypeText(reader.Varint());
    case kUnit:
      return "unit";
    case kInteger:
    case kFloat:
      return NumberAttribute(reader, decoder);
    case kNameLocation: {
      const std::string_view name = decoder.Attribute(reader.Varint());
      return fmt::format("loc({}({}))", name, decoder.Attribute(reader.Varint()));
    }
    case kFused:
      return fmt::format("loc(fused{})", AttributeList(reader, decoder));
    case kCallSite:  // tracebacks and lines name no scope
    case kFileLine:
    case kFusedWithMetadata:
    case kUnknownLocation:
    case kFileRange:
      return "loc(unknown)";
    case kDenseResource:
      return Resource(reader, decoder);
    case kDenseArray:
      return DenseArray(reader, decoder);
    case kDense:
      return DenseAttribute(reader, decoder);
    case kDenseString:
      return DenseStrings(reader, decoder);
    case kSparse:
      return Sparse(reader, decoder);
    case kDistinct:
      return fmt::format("distinct[0]<{}>", decoder.Attribute(reader.Varint()));
    default:
      decoder.Fail(kMalformed, fmt::format("builtin attribute code {} is not known", code));
      return {};
  }
}

ir::Type BuiltinType(uint64_t code, ByteReader& reader, Decoder& decoder) {
  using ir::ElementKind;
  ir::Type type;
  switch (code) {
    case kIntegerType:
      return Integer(reader.Varint(), decoder);
    case kIndexType:
      return ScalarType(ElementKind::kIndex, 64);
    case kFunctionType:
      return Function(reader, decoder);
    case kBf16:
      return ScalarType(ElementKind::kBF16, 16);
    case kF16:
      return ScalarType(ElementKind::kF16, 16);
    case kF32:
      return ScalarType(ElementKind::kF32, 32);
    case kF64:
      return ScalarType(ElementKind::kF64, 64);
    case kF80:
      return ScalarType(ElementKind::kF80, 80);
    case kF128:
      return ScalarType(ElementKind::kF128, 128);
    case kComplex:
      return Complex(reader, decoder);
    case kMemref:
    case kMemrefWithSpace:
      return Memref(code == kMemrefWithSpace, reader, decoder);
    case kNone:
      return type;
    case kRankedTensor:
      return Shaped(ir::TypeKind::kTensor, reader, decoder);
    case kRankedTensorWithEncoding:
      return Encoded(reader, decoder);
    case kTuple:
      type.kind = ir::TypeKind::kTuple;
      type.nested = TypeList(reader, decoder);
      return type;
    case kUnrankedMemrefWithSpace:
      decoder.Attribute(reader.Varint());
      [[fallthrough]];
    case kUnrankedTensor:
    case kUnrankedMemref:
      return ShapedType(ir::TypeKind::kUnrankedTensor, decoder.types()[decoder.Type(reader.Varint())], {});
    case kVector:
      return Shaped(ir::TypeKind::kVector, reader, decoder);
    case kScalableVector:
      return ScalableVector(reader, decoder);
    default:
      decoder.Fail(kMalformed, fmt::format("builtin type code {} is not known", code));
      return type;
  }
}

}  // namespace hespas::read::bytecode
