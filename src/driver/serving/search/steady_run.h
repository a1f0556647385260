// Whether what a run at a rate shows would last: a queue that grows takes longer than a short run to break limits.
#pragma once

#include "driver/serving/serve.h"

namespace hespas::driver {

// Whether the last answers come as soon as those of a server that follows.
bool Follows(const ServeAnswer& answer);

// Whether, in the last quarter of the requests, one of mean length takes much longer than in the second one.
bool Drifts(const ServeAnswer& answer);

// The mean duration by which a server is filled, in seconds: of the requests that are under way, not of those that
// come.
double SpanOf(const serve::Run& run);

// Tokens/s without the run's start and end, in which fewer requests are under way: as many are answered as come and are
// not refused.
double SteadyTokensPerS(const ServeAnswer& answer, const serve::Load& load);

}  // namespace hespas::driver
