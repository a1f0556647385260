// Whether a run's requests arrived faster than they were answered (serve/overload.h).
#pragma once

#include <optional>
#include <vector>

#include "driver/serving/serve.h"
#include "driver/serving/server.h"
#include "serve/overload.h"

namespace hespas::driver {

// Nothing of closed loops. `rate` is what was asked for, without which what came counts.
std::optional<serve::Overload> OverloadOf(const serve::Workload& workload, const serve::Run& run,
                                          std::optional<double> rate);

// By the least time of steps with that many tokens, whatever waits: of requests that came in a shorter time than half
// of the run.
std::optional<serve::Overload> BeyondSteps(const Server& server, const serve::Workload& workload, const serve::Run& run,
                                           double rate);

// Whether a run's warnings say so.
bool Overloaded(const std::vector<Diagnostic>& warnings);

}  // namespace hespas::driver
