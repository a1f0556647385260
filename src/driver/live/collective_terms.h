// Terms of the collectives of one rank, as JSON for the live report.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>

#include "hardware/device.h"
#include "hardware/system.h"
#include "trace/trace_graph.h"

namespace hespas::driver {

struct CollectiveNodes {
  std::map<uint64_t, size_t> row;  // in the terms, by the node's id
  std::set<uint64_t> holding;      // ids of those that keep the device from computing (simulate::kHoldsCompute)
};

// Distinct collectives; `nodes` gets where each is. Null where ranks would see different prices, or some run at once.
nlohmann::json CollectiveTerms(const trace::TraceGraph& traces, const hardware::Device& device,
                               const hardware::System& system, CollectiveNodes& nodes);

}  // namespace hespas::driver
