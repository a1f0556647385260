// What single ops have to do with layouts (xla/service/layout_assignment.cc, gpu/transforms/layout_assignment.cc).
#pragma once

#include <optional>

#include "optimise/dataflow/dataflow.h"
#include "optimise/gpu/layout/layout.h"

namespace hespas::optimise {

// How an op stands to layouts.
enum class LayoutRule : uint8_t {
  kSame,   // operands of the result's rank lie as the result does
  kFree,   // each operand and the result for itself
  kAlias,  // results are the operands
  kFixed,  // default layouts
};
LayoutRule LayoutRuleOf(const Dataflow& flow, const Node& node);

// The layout of the op's operand with which the op moves least; nothing where it does not matter.
std::optional<Layout> OperandFromResult(const Dataflow& flow, const Node& node, const Layout& layout);
std::optional<Layout> ResultFromOperand(const Dataflow& flow, const Node& node, const Layout& layout);

// The layout of a transpose's result with which it moves nothing.
std::optional<Layout> ThroughTranspose(const Dataflow& flow, const Node& node, const Layout& layout);

// Whether cuBLAS could write a matmul's result so.
bool DotCanLeave(const Dataflow& flow, const Node& dot, size_t batch, const Layout& layout);

// Transposes, gathers, and reshapes of unit dimensions: what they pass on is followed before anything else.
bool IsFollowedAtOnce(const Dataflow& flow, const Node& node);

// A reshape of a dynamic slice.
bool ReshapesPiece(const Dataflow& flow, const Node& node);

// Neither batch nor contracted.
Dimensions FreeDimensions(size_t rank, const Dimensions& batch, const Dimensions& contracted);

}  // namespace hespas::optimise
