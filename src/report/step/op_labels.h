// How reports call an operation: its kind in everyday terms, the layer it belongs to, the types it works on.
#pragma once

#include <string>
#include <string_view>

#include "graph/block_graph.h"
#include "ir/module.h"
#include "report/step/step_view.h"

namespace hespas::report {

// "matmul", "elementwise", "reduction", "all_reduce", ...; a fusion is called by its heaviest operation.
std::string_view KindLabel(const ir::Module& module, ir::OpId op);

// The operation that gives a fusion its kind and name; the op itself for any other.
ir::OpId HeroOf(const ir::Module& module, ir::OpId op);

// "add" of "stablehlo.add".
inline std::string_view ShortName(std::string_view op_name) { return op_name.substr(op_name.rfind('.') + 1); }

// "stablehlo.add"; of a fusion "fusion of stablehlo.add".
std::string OpText(const ir::Module& module, ir::OpId op);

// The framework's name of an op ("jit(step)/decoder/layers_0/mlp/dot_general"), from a location or HLO metadata; ""
// where the program has none.
std::string_view FrameworkName(const ir::Module& module, ir::OpId op);

// The numbered part of a framework name ("layers_0"), else the first that is no wrapper, else "".
std::string_view LayerOf(std::string_view framework_name);

// "(bf16[8,128], f32[]) -> f32[8]" of what a block reads and makes; long lists are cut.
std::string Shapes(const graph::BlockGraph& blocks, const graph::Block& block);

// The op of a distinct block that takes longest.
ir::OpId CostliestOp(const StepView& step, size_t distinct);

}  // namespace hespas::report
