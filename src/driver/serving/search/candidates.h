// Which servers a search compares: every device, format and layout that its options leave open.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "driver/serving/server.h"

namespace hespas::driver {

// `options.device.name` and `options.weights` may be lists with commas; layouts are powers of two for tensor and
// pipeline ranks, and what they leave as replicas or engines apart.
std::vector<ServeOptions> Candidates(const ServeOptions& options);

// What decides how long steps take: candidates of one key differ in their number of engines alone.
using StepsKey = std::tuple<std::string, std::string, int64_t, int64_t>;
StepsKey StepsKeyOf(const ServeOptions& candidate);

// Equal parts of the layout: replicas, or as many engines for prompts and for tokens as a part needs.
int64_t EqualParts(const Layout& layout);

// One of them. A rate that they share in turn is its own with thinned arrivals.
ServeOptions PartOf(const ServeOptions& whole, const Layout& layout, int64_t parts);

}  // namespace hespas::driver
