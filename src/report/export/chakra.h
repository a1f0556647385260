// Traces as Chakra execution traces, and the groups as comm_group.json: field order and framing of spec
// python-prototype section 8, so that ASTRA-sim reads them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trace/trace_graph.h"

namespace hespas::report {

// One .et file: length-delimited metadata, then nodes. Durations are rounded to microseconds, halves to even, carrying
// the error on; where that changes one, the attribute `duration_ps` keeps the exact time.
// `about`: names and texts that the file's metadata shall hold. `arguments`: of the rank, where nodes are `per_rank`.
std::string EncodeChakra(const trace::Program& program,
                         const std::vector<std::pair<std::string, std::string>>& about = {},
                         const trace::Arguments& arguments = {});

// The file of one rank.
std::string EncodeRank(const trace::TraceGraph& trace, uint32_t rank);

// `{"<id>": [ranks]}` indented by 2; without groups {"1": [all ranks]}.
std::string EncodeGroups(const trace::TraceGraph& trace);

}  // namespace hespas::report
