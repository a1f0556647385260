// The blocks of a run with the numbers and names that the prototype gives them, and the files that describe them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/compat/configuration.h"
#include "driver/compat/log.h"
#include "graph/block_graph.h"
#include "ir/module.h"
#include "split/prototype.h"

namespace hespas::driver::compat {

struct Blocks {
  std::unique_ptr<ir::Module> module;
  split::PrototypeGraph graph;     // nodes as dependency_graph.dot shows them
  graph::BlockGraph in_order;      // in trace order
  std::vector<size_t> file_index;  // of mini_module_N, by position in trace order
  size_t edge_count = 0;           // between blocks that are not empty

  std::string FileName(size_t position) const {
    return "mini_module_" + std::to_string(file_index[position]) + ".mlir";
  }
};

// Reads and splits the program and writes dependency_graph.dot and private_functions.mlir.
Result<Blocks> MakeBlocks(const Settings& settings, const Log& log, Diagnostics& diagnostics);

// mini_module_N.mlir and mini_module_N.json of every compute block.
Status WriteBlockModules(const Settings& settings, const Blocks& blocks);

// Creates the output folder, emptied first where that was asked for.
Status PrepareOutput(const Settings& settings, const Log& log);

// Ops with calls and fusions replaced by what they hold, as the prototype counts.
size_t ExpandedCount(const ir::Module& module, ir::OpId op);

}  // namespace hespas::driver::compat
