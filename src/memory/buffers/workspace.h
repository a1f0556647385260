// Memory that an op needs while it runs, beside operands and results, where the program does not say it.
//
// - Calls of a matrix library get a workspace beside their result (XLA's GemmWorkspaceRewriter): 4 MiB, from Hopper on
//   32 MiB, at most what their operands take.
// - A stable sort carries the numbers of its elements along (XLA's StableSortExpander).
#pragma once

#include <cstdint>

#include "ir/module.h"

namespace hespas::memory {

// Library calls return a tuple of result and workspace.
bool ReturnsWorkspace(const ir::Module& module, ir::OpId op);

// Bytes; `gemm`: the most that a call of a matrix library takes.
int64_t WorkspaceOf(const ir::Module& module, ir::OpId op, int64_t gemm);

}  // namespace hespas::memory
