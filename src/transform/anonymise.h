// Strips what tells whose program it is: names, locations and the values of constants. What Hespas looks at stays -
// operations, types, wiring, shardings, replica groups, trip counts - so that a bug report shows the same bug.
#pragma once

#include <string>

#include "ir/module.h"

namespace hespas::transform {

// The program in MLIR's generic form:
// - functions but `main`, meshes and their axes get numbers for names; the module loses its name;
// - locations, metadata and attributes of other tools go; library calls keep their targets and settings;
// - constants become 2, 3, ... (equal ones alike), aside from zeros, ones and infinities, and integers of at most 16
//   elements, which may steer loops and slices.
std::string Anonymise(ir::Module module);

}  // namespace hespas::transform
