// What no run of a candidate can exceed, before it is simulated.
//
// - From the least that the candidate's own steps cost: attention, head and host left out, blocks and requests counted
//   as if none were ever preempted. A simulated rate or speed is never above; infinite where lengths vary.
#pragma once

#include <limits>

#include "driver/serving/server.h"

namespace hespas::driver {

struct SearchBounds {
  double requests_per_s = std::numeric_limits<double>::infinity();
  double tokens_per_s_per_user = std::numeric_limits<double>::infinity();
};

SearchBounds BoundsOf(const Server& server, const serve::Load& load);

}  // namespace hespas::driver
