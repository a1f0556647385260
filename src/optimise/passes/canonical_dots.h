// What later passes ask of canonical dots.
#pragma once

#include <optional>
#include <vector>

#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

// What a dot asks beyond the default precision: whatever stands for the dot asks the same.
std::vector<ir::Attribute> PrecisionAttributes(const Dataflow& flow, const Node& node);

// The dimension lists of a canonical dot, from its own attribute.
std::optional<ir::DotDimensions> CanonicalDimensions(const Dataflow& flow, const Node& node);

// A transpose of rows for columns, whatever the batches.
bool SwapsMatrix(const Dataflow& flow, const Node& node);

}  // namespace hespas::optimise
