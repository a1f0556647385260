#include "read/chakra/chakra.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/system/file.h"
#include "base/text/hash.h"
#include "base/text/json.h"
#include "read/chakra/rank_manifest.h"

namespace hespas::read::chakra {
namespace {

using nlohmann::json;

Error BadGroups(const std::string& path, std::string message) {
  return MakeError(kBadGroups, std::move(message), {.file = path}, "write {\"1\": [0, 1], \"2\": [2, 3]}");
}

Result<uint32_t> GroupId(const std::string& key, const std::string& path) {
  uint32_t id = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), id);
  if (error != std::errc() || end != key.data() + key.size() || id == 0) {
    return BadGroups(path, fmt::format("`{}` is not the number of a group; 0 stands for all NPUs", key.substr(0, 50)));
  }
  return id;
}

Result<trace::Program> ReadFile(const std::string& file, bool in_graph = false) {
  const Result<std::string> bytes = ReadInput(file);
  if (!bytes) return bytes.error();
  return ReadProgram(*bytes, file, in_graph);
}

Result<trace::TraceGraph> ReadClasses(const std::string& manifest, uint32_t ranks) {
  const Result<std::vector<RankClass>> classes = ReadManifest(manifest, ranks);
  if (!classes) return classes.error();
  std::vector<std::pair<const RankClass*, size_t>> of_rank(ranks);
  for (const RankClass& of_class : *classes) {
    for (size_t i = 0; i < of_class.ranks.size(); ++i) {
      if (of_class.ranks[i] < ranks) of_rank[of_class.ranks[i]] = {&of_class, i};
    }
  }
  trace::RankClasses gathered;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const auto& [of_class, place] = of_rank[rank];
    if (place == 0) {
      Result<trace::Program> program = ReadFile(of_class->file);
      if (!program) return program.error();
      gathered.Add(*std::move(program));
    } else if (!gathered.AddLike(of_class->ranks[0], of_class->renaming[place])) {
      return MakeError(kBadManifest, fmt::format("NPU {} has one group or peer in the place of two", rank),
                       {.file = manifest});
    }
  }
  return gathered.Take();
}

}  // namespace

Result<trace::TraceGraph> ReadTraces(const std::string& prefix, uint32_t ranks) {
  const std::string manifest = prefix + ".ranks.json";
  std::error_code unused;
  if (std::filesystem::exists(manifest, unused)) return ReadClasses(manifest, ranks);
  trace::RankClasses gathered;
  std::unordered_map<Hash128, uint32_t> known;  // by content: the first rank
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string file = fmt::format("{}.{}.et", prefix, rank);
    const Result<std::string> bytes = ReadInput(file);
    if (!bytes) return bytes.error();
    const auto [at, added] = known.try_emplace(HashBytes(*bytes), rank);
    if (!added) {
      gathered.AddLike(at->second);
      continue;
    }
    Result<trace::Program> program = ReadProgram(*bytes, file);
    if (!program) return program.error();
    gathered.Add(*std::move(program));
  }
  return gathered.Take();
}

Status ReadGroups(const std::string& path, trace::TraceGraph& trace) {
  if (path.find("empty") != std::string::npos) return {};
  const Result<std::string> text = ReadInput(path);
  if (!text) return text.error();
  json root;
  try {
    root = ReadJsonOrThrow(*text);
  } catch (const json::exception& error) {
    return BadGroups(path, fmt::format("not valid JSON: {}", error.what()));
  }
  if (!root.is_object()) return BadGroups(path, "not an object of groups");
  for (const auto& [key, members] : root.items()) {
    const Result<uint32_t> id = GroupId(key, path);
    if (!id) return id.error();
    if (!members.is_array()) return BadGroups(path, fmt::format("group {} is not a list of ranks", key));
    std::vector<uint32_t>& ranks = trace.groups[*id];
    for (const json& member : members) {
      if (!member.is_number_integer() || member < 0 || member > 0x7FFFFFFF) {
        return BadGroups(path, fmt::format("group {} has `{}`, which is no rank", key, JsonText(member).substr(0, 50)));
      }
      ranks.push_back(member.get<uint32_t>());
    }
  }
  return {};
}

Status ReadCollective(const std::string& prefix, uint32_t ranks, trace::TraceGraph& trace) {
  trace::CollectiveGraph& graph = trace.collectives[prefix];
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string file = fmt::format("{}.{}.et", prefix, rank);
    std::error_code unused;
    if (!std::filesystem::exists(file, unused)) continue;
    Result<trace::Program> program = ReadFile(file, true);
    if (!program) return program.error();
    graph.ranks[rank] = *std::move(program);
  }
  return {};
}

}  // namespace hespas::read::chakra
