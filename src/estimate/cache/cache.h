// Where estimates are kept between runs: an interface, so that runs without a cache pay nothing.
#pragma once

#include <optional>

#include "base/text/hash.h"
#include "graph/estimate.h"

namespace hespas::estimate {

// Keys combine a block's structural hash with Estimator::key(). Implementations are safe to use from several threads.
class EstimateCache {
 public:
  virtual ~EstimateCache() = default;
  virtual std::optional<graph::Estimate> Find(Hash128 key) = 0;
  virtual void Store(Hash128 key, const graph::Estimate& estimate) = 0;
};

}  // namespace hespas::estimate
