// Traces as the prototype numbers them: nodes from 0 on, each behind what it waits for.
#include <gmock/gmock.h>

#include "driver/pipeline/run.h"

namespace hespas {
namespace {

TEST(Traces, NodesAreNumberedFromZeroBehindWhatTheyWaitFor) {
  const driver::RunOptions options{.program = {.path = HESPAS_SOURCE_DIR "/examples/llama3-100m-4dev.mlir.gz"},
                                   .device = {.name = "A100_SXM_40GB"},
                                   .estimate = {.estimator = "roofline"}};
  Diagnostics diagnostics;
  const auto prepared = driver::Prepare(options, diagnostics);
  ASSERT_TRUE(prepared);
  const auto estimated = driver::EstimateBlocks(options, *prepared, diagnostics);
  ASSERT_TRUE(estimated);
  const auto traces = driver::AssembleTraces(options, *prepared, *estimated, nullptr, diagnostics);
  ASSERT_TRUE(traces);
  for (const trace::Program& program : traces->programs) {
    for (size_t i = 0; i < program.nodes.size(); ++i) {
      const trace::Node& node = program.nodes[i];
      ASSERT_EQ(node.id, i);
      for (uint32_t d = 0; d < node.dependency_count; ++d) {
        ASSERT_LT(program.dependencies[node.first_dependency + d], i);
      }
    }
  }
}

}  // namespace
}  // namespace hespas
