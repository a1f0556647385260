// Operations as a StableHLO program of their own that iree-compile takes.
#pragma once

#include <optional>
#include <string>

#include "graph/block_graph.h"
#include "ir/module.h"

namespace hespas::estimate::ptx {

// - Matmuls with 16- or 8-bit floating-point results are summed in single precision and converted, as GPUs do;
// iree-compile
//   3.13 refuses other sums.
// - A fusion becomes what it holds, a library call the matmul that it is. Attributes of other dialects (shardings) go.
// Nothing for what is no computation of one device: collectives, calls and loops, constants, renamings.
std::optional<std::string> IreeProgram(const ir::Module& module, const graph::Block& block);
std::optional<std::string> IreeProgram(const ir::Module& module, ir::OpId op);

}  // namespace hespas::estimate::ptx
