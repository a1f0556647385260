// Matrices of one row as vectors, as XLA:TPU has them before broadcasts.
#pragma once

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

// Whether a reshape moves data on a TPU: a matrix of one row, as the program was given it, becomes a vector.
bool SqueezesUnitDimensions(const Dataflow& flow, const Node& node);

}  // namespace hespas::optimise
