// One pair of functions per dialect whose attributes and types have encodings of their own. Each reads one payload
// behind its code; a code that it does not know is a failure.
#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "read/bytecode/decoder.h"

namespace hespas::read::bytecode {

std::string BuiltinAttribute(uint64_t code, ByteReader& reader, Decoder& decoder);
ir::Type BuiltinType(uint64_t code, ByteReader& reader, Decoder& decoder);

std::string VhloAttribute(uint64_t code, ByteReader& reader, Decoder& decoder);
ir::Type VhloType(uint64_t code, ByteReader& reader, Decoder& decoder);

std::string StableHloAttribute(uint64_t code, ByteReader& reader, Decoder& decoder);
ir::Type StableHloType(uint64_t code, ByteReader& reader, Decoder& decoder);

std::string ChloAttribute(uint64_t code, ByteReader& reader, Decoder& decoder);
std::string SdyAttribute(uint64_t code, ByteReader& reader, Decoder& decoder);

// --- shared pieces
// -----------------------------------------------------------------------------------------------------

std::vector<int64_t> SignedVarints(ByteReader& reader);
std::string IntegerList(const std::vector<int64_t>& values);  // "[1, 2]"
// "[a, b]" of a counted list of attribute references.
std::string AttributeList(ByteReader& reader, Decoder& decoder);
// "{a = 1, b}" of a counted list of references to names and values.
std::string DictionaryText(ByteReader& reader, Decoder& decoder);
std::vector<ir::TypeId> TypeList(ByteReader& reader, Decoder& decoder);
// A value of a known integer or float type, as a number's text; empty and a failure for other types.
std::string NumberText(ByteReader& reader, const ir::Type& type);
double ReadDouble(ByteReader& reader);
// "1 : i32" of a reference to a type and its number; booleans without their type.
std::string NumberAttribute(ByteReader& reader, Decoder& decoder);
// The quoted string that a reference into the container's strings names.
std::string StringText(ByteReader& reader, Decoder& decoder);
// `dense<...>` of a reference to a type and the counted bytes of its values.
std::string DenseAttribute(ByteReader& reader, Decoder& decoder);
std::string BoundsText(ByteReader& reader);  // `#stablehlo.bounds<...>`

// `!quant.uniform<...>` from its parts; per axis where `axis` is not negative.
struct Quantisation {
  uint64_t flags = 0;
  ir::Type storage;
  std::string expressed;
  int64_t minimum = 0;
  int64_t maximum = 0;
  int64_t axis = -1;
  std::vector<double> scales;
  std::vector<int64_t> zero_points;
};
ir::Type QuantisedType(const Quantisation& quantisation);
// The row of an enum, or a failure.
std::string EnumText(std::string_view dialect, std::string_view name, std::span<const std::string_view> rows,
                     uint64_t value, Decoder& decoder);

// The enums that StableHLO and VHLO number alike.
inline constexpr std::string_view kComparisonDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
inline constexpr std::string_view kComparisonTypes[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
inline constexpr std::string_view kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
inline constexpr std::string_view kPrecisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
inline constexpr std::string_view kRngAlgorithms[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
inline constexpr std::string_view kRngDistributions[] = {"", "UNIFORM", "NORMAL"};
inline constexpr std::string_view kTransposes[] = {"TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};
inline constexpr std::string_view kAccuracyModes[] = {"DEFAULT", "HIGHEST", "TOLERANCE"};

// Dimension numbers, from the lists and numbers that StableHLO and VHLO write in different places.
struct ConvolutionSide {
  int64_t first = 0;   // batch; input feature of the kernel
  int64_t second = 0;  // feature; output feature of the kernel
  std::vector<int64_t> spatial;
};
struct ConvolutionNumbers {
  ConvolutionSide input, kernel, output;
};
std::string ConvolutionText(const ConvolutionNumbers& numbers);  // empty where they do not fit together
std::string DotText(std::string_view lhs_batch, std::string_view rhs_batch, std::string_view lhs, std::string_view rhs);
using FiveLists = std::array<std::string, 5>;  // in the order of the printed fields
std::string GatherText(const FiveLists& lists, int64_t index_vector_dim);
std::string ScatterText(const FiveLists& lists, int64_t index_vector_dim);
struct DotAlgorithmParts {
  std::string lhs_type, rhs_type, accumulation_type;
  std::string lhs_components, rhs_components, operations;
  bool is_imprecise = false;
};
std::string DotAlgorithmText(const DotAlgorithmParts& parts);

// `#stablehlo.result_accuracy<...>`, `#stablehlo.output_operand_alias<...>`: their fields read in one order everywhere.
std::string AccuracyText(ByteReader& reader, Decoder& decoder);
std::string OutputOperandAliasText(ByteReader& reader);

}  // namespace hespas::read::bytecode
