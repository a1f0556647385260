// What later passes ask of canonical dots.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

// What a dot asks beyond the default precision: whatever stands for the dot asks the same.
std::vector<ir::Attribute> PrecisionAttributes(const Dataflow& flow, const Node& node);

// The dimension lists of a canonical dot, from its own attribute.
std::optional<ir::DotDimensions> CanonicalDimensions(const Dataflow& flow, const Node& node);

// The dot `like` of other operands, with its precision.
ValueId AddDot(Dataflow& flow, NodeId like, const std::array<ValueId, 2>& operands, const ir::DotDimensions& dims,
               ir::TypeId result);

// A transpose of rows for columns, whatever the batches.
bool SwapsMatrix(const Dataflow& flow, const Node& node);

}  // namespace hespas::optimise
