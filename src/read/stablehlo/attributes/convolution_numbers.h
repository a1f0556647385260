// Which dimension of a convolution is what: `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
#pragma once

#include "read/stablehlo/cursor.h"

namespace hespas::read {

// Reads the three lists. Each names its two letters once, and the spatial dimensions 0, 1, ... once.
bool ReadConvolutionNumbers(Cursor& c);

}  // namespace hespas::read
