// The files that ASTRA-sim writes for `track-local-mem`, one a NPU, from the tensors that the traces name.
#pragma once

#include "engines/network_run.h"

namespace hespas::engines {

// Writes LOG_FOLDER/<local-mem-trace-filename>.<npu>.json and fills RankResult::peak_memory. The run has recorded its
// nodes.
Status WriteLocalMemory(const NetworkRunFiles& files, NetworkRun& run);

}  // namespace hespas::engines
