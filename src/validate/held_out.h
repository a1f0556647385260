// The same comparisons with constants that have not seen what they predict.
//
// - Zero-shot: shared constants fitted without the device, and none of its own (leave one device out).
// - Calibrated: 24 kernels of each family drawn with fixed seeds fit the device's own constants; the rest is compared,
//   four draws together.
#pragma once

#include "validate/measured_sets.h"

namespace hespas::validate {

// Modes "zero-shot" and "calibrated" of the wanted sets; false where a file is damaged.
bool AddHeldOut(Groups& groups, const ValidateOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::validate
