// Writes traces as Chakra execution traces, one `dev.<rank>.et` a rank, and the groups as comm_group.json: field order
// and framing of spec python-prototype section 8, so that ASTRA-sim reads them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/trace_graph.h"

namespace hespas::report {

// One .et file: length-delimited metadata, then nodes. Durations are rounded to microseconds, halves to even, carrying
// the error on; where that changes one, the attribute `duration_ps` keeps the exact time.
// `about`: names and texts that the file's metadata shall hold.
std::string EncodeChakra(const trace::Program& program,
                         const std::vector<std::pair<std::string, std::string>>& about = {});

// `{"<id>": [ranks]}` indented by 2; without groups {"1": [all ranks]}.
std::string EncodeGroups(const trace::TraceGraph& trace);

// Writes FOLDER/PREFIX.<rank>.et for all ranks; `folder` must exist. Ranks of one program share one file by hard links
// where the file system has them.
Status WriteChakra(const trace::TraceGraph& trace, const std::string& folder, const std::string& prefix = "dev");

}  // namespace hespas::report
