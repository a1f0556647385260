#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>

#include "read/bytecode/elements.h"
#include "read/bytecode/payloads.h"

namespace hespas::read::bytecode {

std::vector<int64_t> SignedVarints(ByteReader& reader) {
  std::vector<int64_t> values(reader.Count());
  for (int64_t& v : values) v = reader.SignedVarint();
  return values;
}

std::string IntegerList(const std::vector<int64_t>& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

std::string AttributeList(ByteReader& reader, Decoder& decoder) {
  std::string out = "[";
  const size_t count = reader.Count();
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    if (i > 0) out += ", ";
    out += decoder.Attribute(reader.Varint());
  }
  out += ']';
  return out;
}

std::string DictionaryText(ByteReader& reader, Decoder& decoder) {
  std::string out = "{";
  const size_t count = reader.Count();
  for (size_t i = 0; i < count && reader.ok(); ++i) {
    if (i > 0) out += ", ";
    out += KeyText(Unquoted(decoder.Attribute(reader.Varint())));
    const std::string_view value = decoder.Attribute(reader.Varint());
    if (value != "unit") out += fmt::format(" = {}", value);
  }
  out += '}';
  return out;
}

std::vector<ir::TypeId> TypeList(ByteReader& reader, Decoder& decoder) {
  std::vector<ir::TypeId> out;
  const size_t count = reader.Count();
  for (size_t i = 0; i < count && reader.ok(); ++i) out.push_back(decoder.Type(reader.Varint()));
  return out;
}

// Narrow values take a byte, those up to 64 bits a zig-zag varint, wider ones a count of such.
std::string NumberText(ByteReader& reader, const ir::Type& type) {
  const ir::Element& element = type.element;
  const int64_t bits = element.kind == ir::ElementKind::kIndex ? 64 : element.bits;
  if (type.kind != ir::TypeKind::kScalar || bits <= 0 || element.complex) {
    reader.Fail(kMalformed, "a number has no numeric type");
    return {};
  }
  if (bits <= 8) return ElementNumber(element, reader.Byte());
  const uint64_t mask = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  if (bits <= 64) return ElementNumber(element, static_cast<uint64_t>(reader.SignedVarint()) & mask);
  const size_t words = reader.Count();
  std::string digits;
  for (size_t i = 0; i < words && reader.ok(); ++i) {
    digits.insert(0, fmt::format("{:016X}", static_cast<uint64_t>(reader.SignedVarint())));
  }
  return "0x" + (digits.empty() ? "0" : digits);
}

double ReadDouble(ByteReader& reader) { return std::bit_cast<double>(reader.SignedVarint()); }

std::string NumberAttribute(ByteReader& reader, Decoder& decoder) {
  const ir::Type type = decoder.types()[decoder.Type(reader.Varint())];
  std::string number = NumberText(reader, type);
  const bool is_boolean = type.element.kind == ir::ElementKind::kInteger && type.element.bits == 1;
  return is_boolean ? number : fmt::format("{} : {}", number, ir::ElementText(type.element));
}

std::string StringText(ByteReader& reader, Decoder& decoder) {
  const uint64_t index = reader.Varint();
  if (index < decoder.container().strings.size()) return QuotedText(decoder.container().strings[index]);
  decoder.Fail(kMalformed, fmt::format("string {} does not exist", index));
  return {};
}

std::string DenseAttribute(ByteReader& reader, Decoder& decoder) {
  const ir::TypeId type = decoder.Type(reader.Varint());
  const std::string_view blob = reader.Bytes(reader.Varint());
  std::string text = reader.ok() ? DenseText(decoder.types(), type, blob) : "";
  if (text.empty()) decoder.Fail(kMalformed, "the values of a constant do not fit its type");
  return text;
}

std::string BoundsText(ByteReader& reader) {
  std::string out;
  for (const int64_t bound : SignedVarints(reader)) {
    if (!out.empty()) out += ", ";
    out += bound < 0 ? "?" : fmt::format("{}", bound);
  }
  return fmt::format("#stablehlo.bounds<{}>", out);
}

std::string EnumText(std::string_view dialect, std::string_view name, std::span<const std::string_view> rows,
                     uint64_t value, Decoder& decoder) {
  if (value < rows.size() && !rows[value].empty()) return fmt::format("#{}<{} {}>", dialect, name, rows[value]);
  decoder.Fail(kMalformed, fmt::format("{} has no value {}", name, value));
  return {};
}

std::string AccuracyText(ByteReader& reader, Decoder& decoder) {
  const double absolute = ReadDouble(reader);
  const double relative = ReadDouble(reader);
  const int64_t ulps = reader.SignedVarint();
  const std::string_view mode = decoder.Attribute(reader.Varint());
  std::string fields;
  if (absolute != 0) fields += fmt::format("atol = {}, ", FloatText(absolute, kDoubleDigits));
  if (relative != 0) fields += fmt::format("rtol = {}, ", FloatText(relative, kDoubleDigits));
  if (ulps != 0) fields += fmt::format("ulps = {}, ", ulps);
  return fmt::format("#stablehlo.result_accuracy<{}mode = {}>", fields, mode);
}

std::string OutputOperandAliasText(ByteReader& reader) {
  const std::string output = IntegerList(SignedVarints(reader));
  const int64_t operand = reader.SignedVarint();
  return fmt::format(
      "#stablehlo.output_operand_alias<output_tuple_indices = {}, operand_index = {}, operand_tuple_indices = {}>",
      output, operand, IntegerList(SignedVarints(reader)));
}

ir::Type QuantisedType(const Quantisation& q) {
  const int bits = q.storage.element.bits;
  const bool is_signed = (q.flags & 1) != 0;
  ir::Type type = ScalarType(ir::ElementKind::kQuantised, static_cast<uint16_t>(bits));
  type.element.text = "!quant.any<i8>";
  if (bits < 1 || bits > 32 || q.scales.size() != q.zero_points.size()) return type;
  const int64_t lowest = is_signed ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t highest = (int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  std::string storage = fmt::format("{}{}", is_signed ? 'i' : 'u', bits);
  if (q.minimum != lowest || q.maximum != highest) storage += fmt::format("<{}:{}>", q.minimum, q.maximum);
  std::string parameters;
  for (size_t i = 0; i < q.scales.size(); ++i) {
    if (i > 0) parameters += ", ";
    parameters += FloatText(q.scales[i], kDoubleDigits);
    if (q.zero_points[i] != 0) parameters += fmt::format(":{}", q.zero_points[i]);
  }
  const bool per_axis = q.axis >= 0;
  type.element.text = per_axis
                          ? fmt::format("!quant.uniform<{}:{}:{}, {{{}}}>", storage, q.expressed, q.axis, parameters)
                          : fmt::format("!quant.uniform<{}:{}, {}>", storage, q.expressed, parameters);
  return type;
}

}  // namespace hespas::read::bytecode
