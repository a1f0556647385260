// What every device does with the time of a step, by block.
//
// - computed + exposed + idle = step time x devices, to the picosecond. Exposed: the device communicates and computes
//   nothing; of communications in flight at once the one that began first counts.
// - Where one device was simulated in the place of all, it counts for all.
#pragma once

#include <optional>
#include <vector>

#include "report/step/step_view.h"

namespace hespas::report {

struct Account {
  std::vector<Time> computed;  // by block, summed over devices; last: by programs that are not this one
  std::vector<Time> exposed;
  Time idle;
  Time total;
};

// `npu`: of this one alone, `total` is then the step time.
Account MakeAccount(const StepView& step, std::optional<uint32_t> npu = {});

// The nodes of a program by id.
class NodeIndex {
 public:
  explicit NodeIndex(const trace::TraceGraph& traces);
  const trace::Node& at(uint32_t rank, uint64_t id) const;

 private:
  const trace::TraceGraph& traces_;
  std::vector<std::vector<uint32_t>> by_program_;  // id -> position, where ids are dense
};

}  // namespace hespas::report
