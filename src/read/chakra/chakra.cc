#include "read/chakra/chakra.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/file.h"
#include "base/hash.h"

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

}  // namespace

Result<trace::TraceGraph> ReadTraces(const std::string& prefix, uint32_t ranks) {
  trace::TraceGraph trace;
  std::unordered_map<Hash128, uint32_t> known;  // by content
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const std::string file = fmt::format("{}.{}.et", prefix, rank);
    const Result<std::string> bytes = ReadInput(file);
    if (!bytes) return bytes.error();
    const auto [at, added] = known.try_emplace(HashBytes(*bytes), static_cast<uint32_t>(trace.programs.size()));
    if (added) {
      Result<trace::Program> program = ReadProgram(*bytes, file);
      if (!program) return program.error();
      trace.programs.push_back(*std::move(program));
    }
    trace.program_of_rank.push_back(at->second);
  }
  return trace;
}

Status ReadGroups(const std::string& path, trace::TraceGraph& trace) {
  if (path.find("empty") != std::string::npos) return {};
  const Result<std::string> text = ReadInput(path);
  if (!text) return text.error();
  json root;
  try {
    root = json::parse(*text);
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
        return BadGroups(path, fmt::format("group {} has `{}`, which is no rank", key, member.dump().substr(0, 50)));
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
    const Result<std::string> bytes = ReadInput(file);
    if (!bytes) return bytes.error();
    Result<trace::Program> program = ReadProgram(*bytes, file, true);
    if (!program) return program.error();
    graph.ranks[rank] = *std::move(program);
  }
  return {};
}

}  // namespace hespas::read::chakra
