// From a global program whose work is all written by hand for each device (shard_map) to what each device runs.
//
// - Applies where `main` holds manual computations over all axes of the mesh and nothing else that would have to be
//   partitioned: the bodies then say what each device does, and no partitioner is needed.
// - Shapes, results and types of `main` become the device's; shardings go. Both spellings: sdy.manual_computation, and
//   GSPMD's SPMDFullToShardShape and SPMDShardToFullShape.
#pragma once

#include "ir/module.h"

namespace hespas::transform {

// False, with the module as it was, where a partitioner is needed: work outside of manual computations, axes that are
// not manual, or values that would have to move between them.
bool UnwrapManual(ir::Module& module);

}  // namespace hespas::transform
