// The what-if table: the same run with a faster device or network, without launch costs, with perfect overlap.
//
// - Each row is what `hespas run` answers with the options that the row names, to the picosecond.
// - Only stages that the change concerns are run again.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "driver/stages/fresh_stages.h"
#include "result/what_if.h"

namespace hespas::driver {

// What to ask, in the table's order.
enum class Change : uint8_t { kPeak, kMemory, kLaunch, kFlashAttention, kLinks, kLatency, kOverlap };
struct Question {
  Change change;
  std::string_view name;     // "2x memory bandwidth"
  std::string_view options;  // what to add to the command
};
// Without a network only those of the device.
std::vector<Question> Questions(bool network);

// `prepared` comes back as it was. `system` is nullptr where no network was simulated.
std::vector<result::WhatIf> WhatIfs(const RunOptions& options, Prepared& prepared, const Estimated& estimated,
                                    const trace::TraceGraph& traces, const hardware::System* system);

}  // namespace hespas::driver
