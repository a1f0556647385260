// What the HLO parser hands to the lowering: computations and instructions as flat lists of views into the text.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "read/hlo/text/shape.h"

namespace hespas::read::hlo {

inline constexpr DiagnosticKind kSyntaxError{
    "E0201", "The text does not follow the grammar of HLO: a bracket, a name, an operand list or an `=` is missing."};
inline constexpr DiagnosticKind kUnknownOperand{
    "E0202",
    "An operand names no earlier instruction of the same computation; HLO lists instructions after what they use."};
inline constexpr DiagnosticKind kBadShape{"E0203",
                                          "A shape could not be read. Shapes look like `bf16[4,8]{1,0}` or `(f32[], "
                                          "s32[2])`; the element types are pred, s4 ... "
                                          "u64, f8e4m3fn ... f64, c64, c128, token and opaque."};
inline constexpr DiagnosticKind kDuplicateName{
    "E0204", "Two instructions of one computation, or two computations, have one name."};
inline constexpr DiagnosticKind kShapeMismatch{
    "E0211",
    "A shape is written where another one follows: of an operand, of a computation's result, of a value taken from a "
    "tuple or handed to a computation, or of what the module's entry_computation_layout says of its entry."};
inline constexpr DiagnosticKind kNoComputation{"E0205",
                                               "The module holds no computation, so there is no program to read."};

struct AttributeSyntax {
  std::string_view key;
  std::string_view value;
};

struct InstructionSyntax {
  std::string_view name;
  std::string_view opcode;
  std::string_view literal;  // constant: the literal; parameter: the number
  ShapeId shape;
  uint32_t first_operand = 0;  // into ModuleSyntax::operands
  uint32_t operand_count = 0;
  uint32_t first_attribute = 0;
  uint32_t attribute_count = 0;
  uint32_t source = 0;  // byte offset of the name
};

struct ComputationSyntax {
  std::string_view name;
  uint32_t first_instruction = 0;
  uint32_t instruction_count = 0;
  uint32_t root = 0;  // relative to first_instruction
  uint32_t source = 0;
  bool is_entry = false;
};

struct ModuleSyntax {
  std::string_view name;
  std::vector<AttributeSyntax> module_attributes;
  std::vector<ComputationSyntax> computations;
  std::vector<InstructionSyntax> instructions;
  std::vector<uint32_t> operands;  // relative to the computation's first instruction
  std::vector<AttributeSyntax> attributes;
  std::deque<std::string> made_texts;  // what some of the views point into
  size_t entry = 0;
  std::optional<ShapeId> entry_parameters;  // a tuple, by the header's entry_computation_layout
  std::optional<ShapeId> entry_result;

  std::span<const InstructionSyntax> instructions_of(const ComputationSyntax& c) const {
    return {instructions.data() + c.first_instruction, c.instruction_count};
  }
  std::span<const uint32_t> operands_of(const InstructionSyntax& i) const {
    return {operands.data() + i.first_operand, i.operand_count};
  }
  std::span<const AttributeSyntax> attributes_of(const InstructionSyntax& i) const {
    return {attributes.data() + i.first_attribute, i.attribute_count};
  }
};

// The value of `key`, or an empty view.
std::string_view ValueOf(std::span<const AttributeSyntax> attributes, std::string_view key);

}  // namespace hespas::read::hlo
