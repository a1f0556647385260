// The manifest of a trace whose ranks share files (report/export/trace_files.h writes it).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/rank_classes.h"

namespace hespas::read::chakra {

inline constexpr DiagnosticKind kBadManifest{
    "E0624",
    "The manifest PREFIX.ranks.json of a trace does not list every NPU once with the numbers of its groups and peers. "
    "`hespas schema ranks` prints its form; `hespas trace --expand` writes a file for every NPU instead."};

struct RankClass {
  std::string file;                       // the trace of ranks[0]
  std::vector<uint32_t> ranks;            // ascending
  std::vector<trace::Renaming> renaming;  // of each, from the numbers in the file
};

Result<std::vector<RankClass>> ReadManifest(const std::string& path, uint32_t ranks);

}  // namespace hespas::read::chakra
