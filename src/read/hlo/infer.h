// The shape of an instruction that its text leaves out, as XLA infers it.
//
// - Not every opcode has one: constants, parameters, reshapes, collectives, calls into libraries and the like must say
//   their shape themselves.
// - Operands are not checked beyond what the shape depends on; verification compares the rest.
#pragma once

#include <optional>
#include <span>

#include "read/hlo/text/shape.h"
#include "read/hlo/text/syntax.h"

namespace hespas::read::hlo {

struct ShapelessInstruction {
  std::string_view opcode;
  std::span<const ShapeId> operands;
  std::span<const AttributeSyntax> attributes;
  std::optional<ShapeId> callee_root;  // of to_apply, or of the first branch
};

std::optional<ShapeId> InferShape(const ShapelessInstruction& instruction, ShapeTable& shapes);

}  // namespace hespas::read::hlo
