// Terms of the collectives of one rank, as JSON for the live report.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>

#include "hardware/device.h"
#include "hardware/system.h"
#include "trace/trace_graph.h"

namespace hespas::driver {

// Distinct collectives; `of_node` gets the index of each node. Null where ranks would see different prices.
nlohmann::json CollectiveTerms(const trace::TraceGraph& traces, const hardware::Device& device,
                               const hardware::System& system, std::map<uint64_t, size_t>& of_node);

}  // namespace hespas::driver
