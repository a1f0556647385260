// Estimates as JSON texts, for the cache.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "graph/estimate.h"

namespace hespas::estimate {

std::string EstimateToText(const graph::Estimate& estimate);
std::optional<graph::Estimate> EstimateFromText(std::string_view text);

}  // namespace hespas::estimate
