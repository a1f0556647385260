// Copies of donated parameters, once the order is known.
#include <algorithm>

#include "optimise/dataflow/pass.h"
#include "optimise/passes/donated_buffers.h"
#include "optimise/schedule/schedule.h"

namespace hespas::optimise {

void CopyScheduled(Dataflow& flow, PassContext& context) {
  if (!context.is_main) return;
  const std::vector<int64_t> taken = TakenOver(flow.source(), flow.parameters.size());
  if (std::all_of(taken.begin(), taken.end(), [](int64_t result) { return result < 0; })) return;
  CopyInOrder(flow, ExpectedOrder(flow));
}

}  // namespace hespas::optimise
