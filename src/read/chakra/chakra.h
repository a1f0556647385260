// Reads Chakra execution traces (.et files) and communicator groups (comm_group.json): spec astra-sim
// sections 1.5, 1.6.
//
// - Ranks whose programs differ in the numbers of groups and peers alone share one (trace/rank_classes.h).
// - Damaged files, missing attributes and values out of range are errors that name file, node and byte offset.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/trace_graph.h"

namespace hespas::read::chakra {

inline constexpr DiagnosticKind kDamagedTrace{
    "E0620", "A Chakra execution trace (.et) is not a stream of length-delimited protobuf messages, or is cut off."};
inline constexpr DiagnosticKind kBadNode{
    "E0621", "A node of a Chakra execution trace lacks an attribute that its type needs, or has one of a wrong kind."};
inline constexpr DiagnosticKind kBadGroups{
    "E0622",
    "A file of communicator groups (comm_group.json) is not a JSON object of group ids above 0 and rank lists."};

// One file's nodes. `file` is named in messages; `in_graph`: a collective graph, whose sizes may be given as parts.
Result<trace::Program> ReadProgram(std::string_view bytes, const std::string& file, bool in_graph = false);

// PREFIX.0.et to PREFIX.<ranks-1>.et, or the files that the manifest PREFIX.ranks.json names.
Result<trace::TraceGraph> ReadTraces(const std::string& prefix, uint32_t ranks);

// Adds the groups in `path` to `trace`; a path containing "empty" means none, as for ASTRA-sim.
Status ReadGroups(const std::string& path, trace::TraceGraph& trace);

// Adds the custom collective `prefix` (files PREFIX.<rank>.et, as many as there are below `ranks`).
Status ReadCollective(const std::string& prefix, uint32_t ranks, trace::TraceGraph& trace);

}  // namespace hespas::read::chakra
