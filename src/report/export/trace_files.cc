#include "report/export/trace_files.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "base/system/file.h"
#include "base/text/json.h"
#include "report/export/chakra.h"

namespace hespas::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using trace::TraceGraph;

constexpr size_t kMostFiles = 64;
constexpr std::string_view kManifest = "dev.ranks.json";

// Ranks with equal keys have equal files.
using Key = std::pair<uint32_t, trace::Arguments>;

Key KeyOf(const TraceGraph& trace, uint32_t rank) {
  return {trace.program_of_rank[rank], trace.arguments.empty() ? trace::Arguments() : trace.arguments[rank]};
}

std::string NameOf(uint32_t rank) { return fmt::format("dev.{}.et", rank); }

size_t DifferentFiles(const TraceGraph& trace) {
  std::set<Key> keys;
  for (uint32_t rank = 0; rank < trace.program_of_rank.size(); ++rank) keys.insert(KeyOf(trace, rank));
  return keys.size();
}

// Number of the first rank -> numbers in its places, rank by rank.
template <class Number>
void AddNumbers(const TraceGraph& trace, const std::vector<uint32_t>& ranks,
                std::vector<Number> trace::Arguments::*numbers, const char* key, ordered_json& out) {
  const std::vector<Number>& first = trace.arguments[ranks[0]].*numbers;
  for (size_t i = 0; i < first.size(); ++i) {
    ordered_json& list = out[key][fmt::format("{}", first[i])] = ordered_json::array();
    for (const uint32_t rank : ranks) list.push_back((trace.arguments[rank].*numbers)[i]);
  }
}

ordered_json DescribeClass(const TraceGraph& trace, const std::vector<uint32_t>& ranks) {
  ordered_json out = {{"file", NameOf(ranks[0])}, {"ranks", ranks}};
  if (trace.arguments.empty()) return out;
  AddNumbers(trace, ranks, &trace::Arguments::groups, "groups", out);
  AddNumbers(trace, ranks, &trace::Arguments::peers, "peers", out);
  return out;
}

Status WriteClasses(const TraceGraph& trace, const fs::path& folder) {
  std::vector<std::vector<uint32_t>> classes(trace.programs.size());
  for (uint32_t rank = 0; rank < trace.program_of_rank.size(); ++rank) {
    classes[trace.program_of_rank[rank]].push_back(rank);
  }
  ordered_json manifest = {{"schema_version", 1}, {"npus", trace.program_of_rank.size()}};
  manifest["classes"] = ordered_json::array();
  std::error_code unused;
  for (const std::vector<uint32_t>& ranks : classes) {
    if (ranks.empty()) continue;
    const Status written = WriteFileAtomically(folder / NameOf(ranks[0]), EncodeRank(trace, ranks[0]));
    if (!written) return written;
    for (size_t i = 1; i < ranks.size(); ++i) fs::remove(folder / NameOf(ranks[i]), unused);
    manifest["classes"].push_back(DescribeClass(trace, ranks));
  }
  return WriteFileAtomically(folder / kManifest, JsonText(manifest) + "\n");
}

// A second name for a file, in place of whatever had that name; false where the file system has no hard links.
bool LinkFile(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::remove(to, error);
  fs::create_hard_link(from, to, error);
  return !error;
}

}  // namespace

Status WriteTraceFiles(const TraceGraph& trace, const fs::path& folder, TraceFiles form) {
  if (form == TraceFiles::kAuto && DifferentFiles(trace) > kMostFiles) form = TraceFiles::kClasses;
  if (form == TraceFiles::kClasses) return WriteClasses(trace, folder);
  std::error_code unused;
  fs::remove(folder / kManifest, unused);
  std::map<Key, fs::path> first;
  for (uint32_t rank = 0; rank < trace.program_of_rank.size(); ++rank) {
    const fs::path path = folder / NameOf(rank);
    const auto [same, is_new] = first.try_emplace(KeyOf(trace, rank), path);
    if (!is_new && form != TraceFiles::kCopies && LinkFile(same->second, path)) continue;
    if (Status written = WriteFileAtomically(path, EncodeRank(trace, rank)); !written) return written;
  }
  return {};
}

}  // namespace hespas::report
