// The blocks of a program as programs of their own, and how values pass between them.
#pragma once

#include <filesystem>

#include "driver/pipeline/run.h"

namespace hespas::driver {

// Writes block_N.mlir for each distinct block (fusions inlined, as a compiler of StableHLO takes it) and blocks.json:
//
//   {"arguments": [0, 1], "results": [7], "blocks": [{"file": "block_0.mlir", "kind": "compute", "inputs": [0, 1],
//    "outputs": [2], "not_profilable": "why"}, ...]}
//
// in program order; numbers name values, or members of tuples, which pass between blocks one by one. `not_profilable`
// stands where the block cannot run on its own.
Status WriteBlockPrograms(const Prepared& prepared, const std::filesystem::path& folder);

}  // namespace hespas::driver
