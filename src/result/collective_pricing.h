// How the network model came to the time of a collective or message.
#pragma once

#include <cstdint>
#include <string>

namespace hespas::result {

struct CollectivePricing {
  std::string model;  // a word of --network-model
  std::string algorithm;
  std::string levels;  // "dimension 0: 8 ranks, dimension 1: 4 ranks"
  std::string bound;   // "latency", "bandwidth of dimension 1"
  bool operator==(const CollectivePricing&) const = default;
};

// With a node that was priced so.
struct PricedNode {
  uint64_t node = 0;
  uint32_t rank = 0;
  CollectivePricing pricing;
};

}  // namespace hespas::result
