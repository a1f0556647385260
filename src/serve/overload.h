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

#include "serve/cluster.h"

namespace hespas::serve {

struct Overload {
  double arrive_per_s = 0;
  double answered_per_s = 0;  // while the queue lasts
  bool at_most = false;       // a bound of that, where requests came for too short a time
};

// Of answered requests in the order in which they came; `rate` is what was asked for, without which what came counts.
std::optional<Overload> OverloadOf(const std::vector<Record>& records, std::optional<double> rate);

}  // namespace hespas::serve
