// Custom collectives: conversion of MSCCL-IR as recorded, and of TACOS schedules by what they must deliver.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "base/system/file.h"
#include "case_file.h"
#include "read/chakra/chakra.h"
#include "read/msccl/msccl.h"
#include "report/export/chakra.h"
#include "trace/rank_classes.h"

namespace hespas::network_test {
namespace {

using nlohmann::json;
using trace::Node;
using trace::NodeKind;
using trace::Program;

std::string Line(const Program& program, const Node& node) {
  std::string out = fmt::format("{} kind {} peer {} size {} tag {} time {} after", node.id, static_cast<int>(node.kind),
                                node.peer, node.size.value, node.tag, node.duration.value);
  for (uint32_t i = 0; i < node.dependency_count; ++i) {
    out += fmt::format(" {}", program.dependencies[node.first_dependency + i]);
  }
  return out;
}

std::vector<std::string> Lines(const Program& program) {
  std::vector<std::string> lines;
  for (const Node& node : program.nodes) lines.push_back(Line(program, node));
  return lines;
}

TEST(Msccl, ConvertsAsRecorded) {
  const Result<std::string> text = ReadInput(HESPAS_NETWORK_DATA "/golden.jsonl.gz");
  ASSERT_TRUE(text.ok());
  std::istringstream lines(*text);
  size_t compared = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"id\":\"H1/") == std::string::npos) continue;
    const json row = json::parse(line);
    std::istringstream parts(row["id"].get<std::string>());
    std::vector<std::string> names;
    for (std::string part; std::getline(parts, part, '/');) names.push_back(part);
    const std::string file = HESPAS_NETWORK_DATA "/msccl/" + names[2] + ".xml";
    const auto schedule = read::msccl::ReadSchedule(*ReadInput(file), file, Bytes(std::stoll(names[4])));
    ASSERT_TRUE(schedule.ok()) << schedule.error().message;
    const Result<Case> built = BuildCase(row["in"]);
    ASSERT_TRUE(built.ok());
    for (const auto& [rank, program] : built->trace.collectives.at("cc").ranks) {
      EXPECT_EQ(Lines(schedule->graph.ranks.at(rank)), Lines(program)) << row["id"] << " rank " << rank;
      ++compared;
    }
  }
  EXPECT_GT(compared, 300u);
}

// A ring all-gather of 4 NPUs as TACOS writes it: one block for each directed link.
std::string TacosRing(int npus) {
  std::string out =
      fmt::format("<algo name=\"tacos\" coll=\"allgather\" ngpus=\"{}\" outofplace=\"1\" minBytes=\"0\">", npus);
  for (int g = 0; g < npus; ++g) {
    const auto chunk = [&](int k) { return (g + npus - k) % npus; };
    out += fmt::format("<gpu id=\"{}\" i_chunks=\"0\" o_chunks=\"1\" s_chunks=\"0\">", g);
    out += fmt::format("<tb id=\"0\" send=\"-1\" recv=\"{}\" chan=\"0\">", (g + npus - 1) % npus);
    for (int k = 1; k < npus; ++k) {
      out += fmt::format(
          "<step s=\"{0}\" type=\"r\" srcbuf=\"o\" srcoff=\"{1}\" dstbuf=\"o\" dstoff=\"{1}\" cnt=\"1\" "
          "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>",
          k - 1, chunk(k));
    }
    out += fmt::format("</tb><tb id=\"1\" send=\"{}\" recv=\"-1\" chan=\"0\">", (g + 1) % npus);
    for (int k = 0; k + 1 < npus; ++k) {
      out += fmt::format(
          "<step s=\"{0}\" type=\"s\" srcbuf=\"o\" srcoff=\"{1}\" dstbuf=\"o\" dstoff=\"{1}\" cnt=\"1\" "
          "depid=\"{2}\" deps=\"{3}\" hasdep=\"0\"/>",
          k, chunk(k), k == 0 ? -1 : 0, k == 0 ? -1 : k - 1);
    }
    out += "</tb></gpu>";
  }
  return out + "</algo>";
}

// Runs the sends of the schedule in dependency order and follows which NPU holds which chunk.
TEST(Tacos, DeliversEveryChunkToEveryNpu) {
  constexpr int kNpus = 5;
  const auto schedule = read::msccl::ReadSchedule(TacosRing(kNpus), "tacos.xml", Bytes(1000));
  ASSERT_TRUE(schedule.ok()) << schedule.error().message;
  std::vector<std::set<int>> holds(kNpus);
  std::map<std::pair<int, int>, std::vector<int>> in_flight;  // chunks on a link, in order
  std::vector<std::set<uint64_t>> done(kNpus);
  for (int g = 0; g < kNpus; ++g) holds[g].insert(g);
  for (bool moved = true; moved;) {
    moved = false;
    for (int g = 0; g < kNpus; ++g) {
      const Program& program = schedule->graph.ranks.at(static_cast<uint32_t>(g));
      for (const Node& node : program.nodes) {
        if (done[g].contains(node.id)) continue;
        bool ready = true;
        for (uint32_t i = 0; i < node.dependency_count; ++i) {
          ready = ready && done[g].contains(program.dependencies[node.first_dependency + i]);
        }
        if (!ready) continue;
        if (node.kind == NodeKind::kSend) {
          const int chunk = (g + kNpus - static_cast<int>(in_flight[{g, node.peer}].size())) % kNpus;
          EXPECT_TRUE(holds[g].contains(chunk)) << "NPU " << g << " sends chunk " << chunk << " before it has it";
          in_flight[{g, node.peer}].push_back(chunk);
        } else {
          const std::vector<int>& link = in_flight[{node.peer, g}];
          const size_t taken = holds[g].size() - 1;
          if (link.size() <= taken) continue;
          holds[g].insert(link[taken]);
        }
        done[g].insert(node.id);
        moved = true;
      }
    }
  }
  for (int g = 0; g < kNpus; ++g) EXPECT_EQ(holds[g].size(), static_cast<size_t>(kNpus)) << "NPU " << g;
}

TEST(Msccl, SaysWhatIsWrong) {
  const auto message = [](const std::string& xml) {
    const auto schedule = read::msccl::ReadSchedule(xml, "x.xml", Bytes(1024));
    return schedule.ok() ? std::string("no error") : schedule.error().message;
  };
  EXPECT_THAT(message(""), testing::HasSubstr("not well-formed XML"));
  EXPECT_THAT(message("<algo name='a' coll='allreduce' ngpus='1'><gpu id='0'"),
              testing::HasSubstr("not well-formed XML"));
  EXPECT_THAT(message("<algo name='a' coll='allreduce' ngpus='2'></algo>"), testing::HasSubstr("0 GPUs instead of 2"));
  const std::string open =
      "<algo name='a' coll='allreduce' ngpus='2'><gpu id='0' i_chunks='1' o_chunks='0'><tb id='0' send='-1' recv='-1'>";
  const std::string close = "</tb></gpu><gpu id='1' i_chunks='1' o_chunks='0'/></algo>";
  EXPECT_THAT(message(open + "<step type='s' cnt='1'/>" + close), testing::HasSubstr("has no GPU to send to"));
  EXPECT_THAT(message(open + "<step type='xyz' cnt='1'/>" + close), testing::HasSubstr("unknown step type `xyz`"));
  EXPECT_THAT(message(open + "<step type='nop' cnt='1' depid='3' deps='0'/>" + close),
              testing::HasSubstr("to wait for"));
}

TEST(ChakraFiles, ReadBackWhatWasWritten) {
  const Result<std::string> text = ReadInput(HESPAS_NETWORK_DATA "/golden.jsonl.gz");
  std::istringstream lines(*text);
  size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    if (number++ % 23 != 0) continue;
    const json row = json::parse(line);
    const Result<Case> built = BuildCase(row["in"]);
    if (!built) continue;
    Case again = *built;
    trace::RankClasses ranks;
    for (uint32_t rank = 0; rank < built->trace.program_of_rank.size(); ++rank) {
      if (built->trace.ProgramOf(rank).nodes.empty()) {
        ranks.Add({});
        continue;
      }
      const Result<Program> read = read::chakra::ReadProgram(report::EncodeRank(built->trace, rank), "case.et");
      ASSERT_TRUE(read.ok()) << row["id"] << ": " << read.error().message;
      ranks.Add(*read);
    }
    trace::TraceGraph shared = ranks.Take();
    again.trace.programs = std::move(shared.programs);
    again.trace.program_of_rank = std::move(shared.program_of_rank);
    again.trace.arguments = std::move(shared.arguments);
    Diagnostics diagnostics;
    const auto direct = simulate::Simulate(built->trace, built->system, built->options, diagnostics);
    const auto through_files = simulate::Simulate(again.trace, again.system, again.options, diagnostics);
    ASSERT_EQ(direct.ok(), through_files.ok()) << row["id"];
    if (!direct.ok()) continue;
    EXPECT_EQ(Answer(*direct), Answer(*through_files)) << row["id"];
  }
}

TEST(ChakraFiles, MetadataHoldsWhatTheFileIsAbout) {
  const Program program{.nodes = {{.id = 1, .duration = Time(5'000'000)}}, .dependencies = {}};
  const std::string bytes = report::EncodeChakra(program, {{"collective", "allreduce"}, {"msccl_xml", "<algo/>"}});
  EXPECT_THAT(bytes, testing::HasSubstr("allreduce"));
  EXPECT_THAT(bytes, testing::HasSubstr("<algo/>"));
  const Result<Program> read = read::chakra::ReadProgram(bytes, "case.et");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->nodes.size(), 1u);
}

TEST(ChakraFiles, GarbageIsRefused) {
  const Result<Program> empty = read::chakra::ReadProgram("", "x.et");
  ASSERT_FALSE(empty.ok());
  EXPECT_EQ(empty.error().message, "the file is empty");
  std::string bytes =
      report::EncodeChakra({.nodes = {{.id = 1, .duration = Time(5'000'000), .name = "a"}}, .dependencies = {}});
  for (size_t cut = 1; cut < bytes.size(); ++cut) {
    (void)read::chakra::ReadProgram(std::string_view(bytes).substr(0, cut), "x.et");
  }
  for (size_t at = 0; at < bytes.size(); ++at) {
    for (const char byte : {'\x00', '\x7f', '\xff'}) {
      std::string damaged = bytes;
      damaged[at] = byte;
      (void)read::chakra::ReadProgram(damaged, "x.et");
    }
  }
}

}  // namespace
}  // namespace hespas::network_test
