// Whether requests arrive faster than a server answers them: by the queue alone, since answers may be long without one.
//
// - A queue of a server that answers C of R requests/s makes a request wait (R - C) / C seconds longer for each second
//   that it comes later. That growth is taken between the second and the last quarter of the arrivals, and must exceed
//   both a twentieth and twice the standard deviation of what chance, of arrivals and of lengths, makes of a half run.
// - C is what is answered while the queue lasts, in the later half of that time: then as many leave as join. A run in
//   which too few do cannot tell.
#pragma once

#include <optional>
#include <vector>

#include "driver/serving/serve.h"

namespace hespas::driver {

// Requests/s that a server with a queue answers, where that grows and those that come are more: `rate` is what was
// asked for, without which what came counts.
std::optional<double> CapacityIfExceeded(const serve::Workload& workload, const serve::Run& run,
                                         std::optional<double> rate);

// Whether a run's warnings say so.
bool Overloaded(const std::vector<Diagnostic>& warnings);

}  // namespace hespas::driver
