// A block as a program that a compiler takes.
#pragma once

#include "estimate/profile/block_profiler.h"
#include "graph/block_graph.h"
#include "ir/module.h"

namespace hespas::estimate {

inline constexpr DiagnosticKind kNotProfilable{
    "E0593",
    "The block cannot run on its own: it communicates, calls into a library of an accelerator, or has arguments of "
    "dynamic shape or without values (tokens). Profiling estimators leave it to the fallback.",
    Outcome::kUnsupported};

// Writes the block to `path`, with fusions replaced by what they hold, tuples at its borders by their members, and
// ragged_dot by dense matmuls. `whole`: communication is allowed.
Result<BlockProgram> WriteBlockProgram(const ir::Module& module, const graph::Block& block, const std::string& path,
                                       bool whole = false);

}  // namespace hespas::estimate
