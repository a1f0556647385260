#include "driver/inspect/collective_files.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/system/file.h"
#include "read/chakra/chakra.h"
#include "read/msccl/msccl.h"
#include "report/export/chakra.h"

namespace hespas::driver {
namespace {

using trace::NodeKind;

constexpr uint32_t kMostRanks = 1 << 16;

struct Source {
  trace::CollectiveGraph graph;
  std::vector<std::pair<std::string, std::string>> about;  // for the metadata of converted files
};

Result<Source> ReadGraph(const std::string& file, Bytes size) {
  std::error_code unused;
  if (std::filesystem::exists(file + ".0.et", unused)) {
    trace::TraceGraph trace;
    uint32_t ranks = 0;
    while (ranks < kMostRanks && std::filesystem::exists(fmt::format("{}.{}.et", file, ranks), unused)) ++ranks;
    if (Status read = read::chakra::ReadCollective(file, ranks, trace); !read) return read.error();
    return Source{std::move(trace.collectives[file]), {}};
  }
  const Result<std::string> xml = ReadInput(file);
  if (!xml) return xml.error();
  Result<read::msccl::Schedule> schedule = read::msccl::ReadSchedule(*xml, file, size);
  if (!schedule) return schedule.error();
  return Source{std::move(schedule->graph),
                {{"schema", "chakra-0.0.4"}, {"msccl_xml", *xml}, {"collective", schedule->collective}}};
}

std::string OperationOf(const trace::Node& node) {
  switch (node.kind) {
    case NodeKind::kSend:
      return "send";
    case NodeKind::kReceive:
      return "receive";
    default:
      return "compute";
  }
}

std::string SizeOf(const trace::Node& node, const trace::NodeDetails& details) {
  if (details.total_chunks == 0) return fmt::format("{}", node.size.value);
  return fmt::format("{}/{}", details.chunks, details.total_chunks);
}

std::vector<std::string> Row(uint32_t rank, const trace::Program& program, const trace::Node& node) {
  const bool message = trace::IsMessage(node.kind);
  std::string after;
  for (uint32_t i = 0; i < node.dependency_count; ++i) {
    after += fmt::format("{}{}", i == 0 ? "" : " ", program.dependencies[node.first_dependency + i]);
  }
  return {fmt::format("{}", rank),
          fmt::format("{}", node.id),
          OperationOf(node),
          message ? fmt::format("{}", node.peer) : "",
          message ? SizeOf(node, program.DetailsOf(node)) : "",
          message ? fmt::format("{}", node.tag) : "",
          message ? "" : fmt::format("{}", node.duration.value / 1'000'000),
          after};
}

}  // namespace

Result<size_t> ConvertCollective(const std::string& file, Bytes size, const std::string& prefix) {
  const Result<Source> source = ReadGraph(file, size);
  if (!source) return source.error();
  const std::filesystem::path folder = std::filesystem::path(prefix).parent_path();
  if (!folder.empty()) {
    if (Status made = MakeFolder(folder); !made) return made.error();
  }
  for (const auto& [rank, program] : source->graph.ranks) {
    const std::string bytes = report::EncodeChakra(program, source->about);
    const Status written = WriteFileAtomically(fmt::format("{}.{}.et", prefix, rank), bytes);
    if (!written) return written.error();
  }
  return source->graph.ranks.size();
}

Result<report::Table> CollectiveSchedule(const std::string& file, Bytes size) {
  const Result<Source> source = ReadGraph(file, size);
  if (!source) return source.error();
  using report::Align;
  report::Table table;
  table.columns = {{"npu", Align::kRight},   {"node", Align::kRight}, {"does", Align::kLeft}, {"peer", Align::kRight},
                   {"bytes", Align::kRight}, {"tag", Align::kRight},  {"us", Align::kRight},  {"after", Align::kLeft}};
  for (const auto& [rank, program] : source->graph.ranks) {
    for (const trace::Node& node : program.nodes) table.rows.push_back(Row(rank, program, node));
  }
  return table;
}

}  // namespace hespas::driver
