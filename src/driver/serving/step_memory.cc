#include "driver/serving/step_memory.h"

#include <cmath>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "memory/memory.h"

namespace hespas::driver {
namespace {

// Kernels are calls whose values are of bytes.
ir::Module ModuleOf(std::span<const serve::StepOp> step) {
  ir::Module module;
  const ir::BlockId block = module.AddBlock({});
  const ir::NameId call = module.InternName("stablehlo.custom_call");
  const ir::NameId target = module.InternName("call_target_name");
  const ir::Attribute over_first = {
      module.InternName("output_operand_aliases"),
      "[#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]"};
  const ir::Element byte = *ir::ElementFromText("i8");
  std::vector<ir::ValueId> made;
  for (const serve::StepOp& op : step) {
    std::vector<ir::ValueId> reads;
    for (const size_t i : op.reads) reads.push_back(made[i]);
    const ir::TypeId type = module.types().InternTensor({std::llround(std::ceil(op.bytes))}, byte);
    const ir::Attribute attributes[] = {{target, module.Keep("\"" + std::string(op.name) + "\"")}, over_first};
    const ir::OpId id = module.AddOp(block, {.name = call,
                                             .operands = reads,
                                             .result_types = {&type, 1},
                                             .attributes = {attributes, op.over_first ? size_t{2} : size_t{1}}});
    made.push_back(module.result(id));
  }
  module.AddOp(block, {.name = module.InternName("func.return")});
  const ir::RegionId body = module.AddRegion({&block, 1});
  const ir::BlockId top = module.AddBlock({});
  const ir::Attribute name = {module.InternName("sym_name"), "\"main\""};
  const ir::OpId main =
      module.AddOp(top, {.name = module.InternName("func.func"), .attributes = {&name, 1}, .regions = {&body, 1}});
  module.AddSymbol("main", main);
  const ir::RegionId outer = module.AddRegion({&top, 1});
  module.AddOp({}, {.name = module.InternName("builtin.module"), .regions = {&outer, 1}});
  return module;
}

}  // namespace

double PeakOfStep(std::span<const serve::StepOp> step) {
  return static_cast<double>(memory::MemoryOf(ModuleOf(step), {.keep_order = true, .largest = 0}).temporaries.value);
}

}  // namespace hespas::driver
