// A block as a program of its own: `main` with the block's ops, and the functions that it calls.
#pragma once

#include "graph/block_graph.h"
#include "ir/module.h"

namespace hespas::graph {

// The new module's attribute texts are views into `module`, which must outlive it. Values that only regions of the
// block use become arguments like the others.
ir::Module BlockModule(const ir::Module& module, const Block& block);

// Every function of the program but `main`.
ir::Module PrivateFunctions(const ir::Module& module);

}  // namespace hespas::graph
