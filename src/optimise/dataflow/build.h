// Small ops that passes insert. Shapes are those of the operands; nothing is checked here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

using Dimensions = std::vector<int64_t>;

ValueId Reshape(Dataflow& flow, ValueId input, Dimensions dims);
ValueId ReshapeTo(Dataflow& flow, ValueId input, ir::TypeId type);
// Result dimension i is the input's dimension permutation[i].
ValueId Transpose(Dataflow& flow, ValueId input, const Dimensions& permutation);
// The slice [start, limit) of one dimension.
ValueId SliceOf(Dataflow& flow, ValueId input, size_t dimension, int64_t start, int64_t limit);
// Result dimension to[i] is the input's dimension i.
ValueId BroadcastInDim(Dataflow& flow, ValueId input, ir::TypeId type, const Dimensions& to, ir::OpId origin = {});
// Grows to `dims` after the last elements, by a scalar.
ValueId PadTo(Dataflow& flow, ValueId input, ValueId value, Dimensions dims);
ValueId Concatenate(Dataflow& flow, const std::vector<ValueId>& inputs, size_t dimension);
// A constant; `type` is of floats.
ValueId Zeros(Dataflow& flow, ir::TypeId type);

bool Holds(const Dimensions& list, size_t dimension);
std::string ArrayText(const Dimensions& values);  // array<i64: 1, 2>
std::optional<Dimensions> IntegersOf(const Dataflow& flow, const Node& node, std::string_view name);
std::optional<int64_t> IntegerOf(const Dataflow& flow, const Node& node, std::string_view name);

// The number that a value holds in each element, where the program spells it out in decimals.
std::optional<double> NumberOf(const Dataflow& flow, ValueId value);

// The list of numbers behind `name` in a JSON text.
std::vector<int64_t> NumbersBehind(std::string_view json, std::string_view name);

Dimensions Inverse(const Dimensions& permutation);
Dimensions WithoutUnits(const Dimensions& dims);
bool EqualWithoutUnits(const Dimensions& a, const Dimensions& b);
int64_t Product(const Dimensions& dims);

}  // namespace hespas::optimise
