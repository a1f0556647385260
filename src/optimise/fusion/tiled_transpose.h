// A transpose that an emitter walks in tiles, normalised to few dimensions.
#pragma once

#include "optimise/dataflow/build.h"

namespace hespas::optimise {

// Without dimensions of size one; neighbours that stay neighbours are one.
struct TiledTranspose {
  Dimensions from;   // sizes of the operand
  Dimensions order;  // which of them is at each place of the result
  bool operator==(const TiledTranspose&) const = default;
};

}  // namespace hespas::optimise
