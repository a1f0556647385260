// Device and system files as objects, and the fields of a system by the names that a sweep gives them.
//
// - topology, npus, bandwidth, latency: one value for all dimensions or a list; algorithm: of all four collectives;
//   chunks, active_chunks; any key of the file's `system` (scheduling-policy, all-reduce-implementation, ...) or, as
//   `remote_memory.KEY`, of its remote memory.
#pragma once

#include <string>

#include "base/result.h"
#include "sweep/file/sweep_source.h"

namespace hespas::sweep {

Result<Json> ReadDeviceFile(const std::string& name_or_text);
// A folder of ASTRA-sim's three files becomes one object.
Result<Json> ReadSystemFile(const std::string& name_or_text);

Status SetSystemField(const std::string& field, const Json& value, Json& file);
// Gives every list of the network, and every algorithm, as many entries as there are dimensions: the last is repeated.
Status FitDimensions(Json& file);

}  // namespace hespas::sweep
