// How reports call an operation: its kind in everyday terms, the layer it belongs to, the types it works on.
#pragma once

#include <string>
#include <string_view>

#include "graph/block_graph.h"
#include "ir/facts/framework_name.h"
#include "ir/module.h"
#include "report/step/step_view.h"

namespace hespas::report {

// "matmul", "elementwise", "reduction", "all_reduce", ...; a fusion is called by its heaviest operation.
std::string_view KindLabel(const ir::Module& module, ir::OpId op);

// The operation that gives a fusion its kind and name; what an asynchronous start or done runs; the op itself for any
// other.
ir::OpId HeroOf(const ir::Module& module, ir::OpId op);

// "add" of "stablehlo.add".
inline std::string_view ShortName(std::string_view op_name) { return op_name.substr(op_name.rfind('.') + 1); }

// "stablehlo.add"; of a fusion "fusion of stablehlo.add".
std::string OpText(const ir::Module& module, ir::OpId op);

// The framework's name of a kernel: of the matmul or reduction that a fusion is about, else of its result
// (ir/facts/framework_name.h); "" where the program has none.
std::string FrameworkName(const ir::Module& module, ir::OpId op);

// The same for many ops of one module.
class FrameworkNames {
 public:
  explicit FrameworkNames(const ir::Module* module)
      : module_(module), any_(module != nullptr && ir::HasNames(*module)) {}
  bool any() const { return any_; }
  std::string Of(ir::OpId op) const { return any_ ? FrameworkName(*module_, op) : std::string(); }

 private:
  const ir::Module* module_;
  bool any_;
};

// "f32[4096,1024]".
std::string TypeText(const ir::TypeTable& types, ir::TypeId id);

// "(bf16[8,128], f32[]) -> f32[8]" of what a block reads and makes; long lists are cut.
std::string Shapes(const graph::BlockGraph& blocks, const graph::Block& block);

// The op of a distinct block that takes longest.
ir::OpId CostliestOp(const StepView& step, size_t distinct);

}  // namespace hespas::report
