// A block as a program of its own: `main` with the block's ops, and the functions that it calls.
#pragma once

#include "graph/block_graph.h"
#include "ir/module.h"

namespace hespas::graph {

// As it is; or as a compiler of StableHLO needs it: the ops of fusions in their places, of tuples that come in or go
// out the members.
enum class Form : uint8_t { kAsItIs, kPortable };

// The new module's attribute texts are views into `module`, which must outlive it. Values that only regions of the
// block use become arguments like the others.
ir::Module BlockModule(const ir::Module& module, const Block& block, Form form = Form::kAsItIs);

// What the arguments of its `main` are, in order.
std::vector<ir::ValueId> BlockInputs(const ir::Module& module, const Block& block);

// Every function of the program but `main`.
ir::Module PrivateFunctions(const ir::Module& module);

}  // namespace hespas::graph
