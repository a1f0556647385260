#include "report/page/graph_data.h"

#include "base/line_index.h"
#include "report/step/kernel_name.h"
#include "report/step/op_labels.h"
#include "report/step/scope_path.h"

namespace hespas::report {

std::string GraphData(const StepView& step, Strings& strings) {
  const ir::Module& module = *step.blocks.module;
  const LineIndex lines(module.source());
  NumberColumn ops, from, id, name, layer, line;
  for (uint32_t i = 0; i < step.blocks.blocks.size(); ++i) {
    const graph::Block& block = step.blocks.blocks[i];
    const ir::OpId op = block.ops.back();
    ops.Add(op.index());
    from.Add(block.predecessors.size());
    for (const graph::BlockId before : block.predecessors) from.Add(i - before.index());
    if (step.estimates.of_block[i] != graph::EstimateTable::kNone) continue;
    id.Add(i);
    name.Add(strings.Of(ContentName(module, op)));
    layer.Add(strings.Of(ScopePath(FrameworkName(module, op))));
    line.Add(lines.Line(module.op(op).source));
  }
  return fmt::format(R"({{"op":{},"from":{},"other":{{"id":{},"name":{},"layer":{},"line":{}}}}})", ops.text(),
                     from.text(), id.text(), name.text(), layer.text(), line.text());
}

}  // namespace hespas::report
