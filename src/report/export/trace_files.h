// The files of an execution trace: FOLDER/dev.<rank>.et, or one of them for each class of ranks and a manifest.
//
// The manifest dev.ranks.json (schema: data/schemas/ranks.schema.json) lists the classes: the trace of the first rank,
// all ranks, and for every communicator group or peer of the first rank those that the other ranks have in its places.
#pragma once

#include <cstdint>
#include <filesystem>

#include "base/result.h"
#include "trace/trace_graph.h"

namespace hespas::report {

enum class TraceFiles : uint8_t {
  kAuto,     // kLinks, or kClasses where more than 64 files would differ
  kLinks,    // a name for every rank; equal files are one by hard links where the file system has them
  kClasses,  // the manifest
  kCopies    // a file of its own for every rank
};

// `folder` must exist. Files of the other form that an earlier run left are removed.
Status WriteTraceFiles(const trace::TraceGraph& trace, const std::filesystem::path& folder,
                       TraceFiles form = TraceFiles::kAuto);

}  // namespace hespas::report
