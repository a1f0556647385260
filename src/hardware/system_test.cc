#include "hardware/system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/system/file.h"

namespace hespas::hardware {
namespace {

using testing::HasSubstr;

constexpr char kSystem[] = R"({
  "network": {"topology": ["Ring"], "npus_count": [4], "bandwidth": [50.0], "latency": [500.0]},
  "system": {"scheduling-policy": "LIFO", "preferred-dataset-splits": 2, "all-reduce-implementation": ["direct4"]},
  "remote_memory": {"memory-type": "NO_MEMORY_EXPANSION"}
})";

std::string Changed(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

// The first diagnostic that comes of loading `text`.
Diagnostic First(const std::string& text, bool strict = false) {
  Diagnostics diagnostics;
  const Result<System> system = ParseSystem(text, "s.json", {.strict = strict}, diagnostics);
  if (!diagnostics.all().empty()) return diagnostics.all()[0];
  return system.ok() ? Diagnostic{} : system.error();
}

TEST(System, CountsOfNpusAreWholeNumbers) {
  for (const char* count : {"[88888888888888888882]", "[2.5]", "[-1e300]"}) {
    EXPECT_THAT(First(Changed(kSystem, "[4]", count)).message, HasSubstr("is no number of NPUs"));
  }
  EXPECT_EQ(First(Changed(kSystem, "[4]", "[4.0]")).kind, First(kSystem).kind);
}

TEST(System, IsRead) {
  Diagnostics diagnostics;
  const Result<System> system = ParseSystem(kSystem, "s.json", {.strict = true}, diagnostics);
  ASSERT_TRUE(system.ok()) << system.error().message;
  EXPECT_EQ(system->npus(), 4u);
  EXPECT_EQ(system->dataset_splits, 2);
  EXPECT_EQ((*system->of(NativeCollective::kAllReduce).algorithms)[0], (Algorithm{AlgorithmKind::kDirect, false, 4}));
  EXPECT_FALSE(system->of(NativeCollective::kAllGather).algorithms.has_value());
  const std::string single = Changed(Changed(kSystem, "[\"Ring\"]", "\"Ring\""), "[4]", "4");
  EXPECT_EQ(ParseSystem(single, "s.json", {.strict = true}, diagnostics)->npus(), 4u);
}

TEST(System, QuantitiesHaveUnits) {
  Diagnostics diagnostics;
  const auto system = ParseSystem(R"({
  "network": {"topology": ["Ring"], "npus_count": [4], "bandwidth": ["400 Gbit/s"], "latency": ["1.5 us"]},
  "system": {"endpoint-delay": "0.01 us", "local-mem-bw": "3.35 TB/s", "peak-perf": "989 TFLOP/s", "L": "20 ns",
             "o": 2, "g": "1 ns"},
  "remote_memory": {"memory-type": "PER_NPU_MEMORY_EXPANSION", "remote-mem-latency": "2 us", "remote-mem-bw": "64 GB/s"}
})",
                                  "s.json", {.strict = true}, diagnostics);
  ASSERT_TRUE(system.ok()) << system.error().message;
  EXPECT_EQ(system->endpoint_delay, 10);
  EXPECT_DOUBLE_EQ(system->memory_bandwidth, 3350);
  EXPECT_DOUBLE_EQ(system->peak_teraflops, 989);
  EXPECT_DOUBLE_EQ(system->bus.latency, 20);
  EXPECT_DOUBLE_EQ(system->bus.overhead, 2);
  EXPECT_DOUBLE_EQ(system->bus.gap, 1);
  EXPECT_EQ(system->memory.latency, 2000u);
  EXPECT_EQ(system->memory.bandwidth, 64u);
  for (const char* delay : {"\"10 GB\"", "\"0.9 ns\"", "\"-1 ns\"", "-1", "[]"}) {
    const Diagnostic refused =
        First(Changed(kSystem, "\"preferred-dataset-splits\": 2", std::string("\"endpoint-delay\": ") + delay));
    EXPECT_EQ(refused.kind, &kBadSystem) << delay;
    EXPECT_EQ(refused.location.line, 3u);
    EXPECT_EQ(refused.help, "a whole number of ns, or \"10 ns\"");
  }
}

TEST(System, TextsThatWouldBeCutOffAreRefused) {
  const auto system = [](const std::string& setting) {
    return First(Changed(kSystem, "\"preferred-dataset-splits\": 2", setting));
  };
  for (const char* key : {"L", "o", "g"}) {
    const std::string start = std::string("\"") + key + "\": ";
    EXPECT_EQ(system(start + "\"1.5 ns\"").help, "a whole number of ns, or \"10 ns\"");
    EXPECT_EQ(system(start + "\"15 ns\"").kind, nullptr);
  }
  EXPECT_EQ(system("\"G\": \"1 ns\"").help, "a number of ns a byte, without unit");
  EXPECT_EQ(system("\"G\": 0.0038").kind, nullptr);
  EXPECT_EQ(system("\"endpoint-delay\": 10.9").kind, nullptr);  // as ASTRA-sim reads it
  const auto memory = [](const std::string& figures) {
    return First(Changed(kSystem, "\"NO_MEMORY_EXPANSION\"", "\"PER_NPU_MEMORY_EXPANSION\", " + figures));
  };
  EXPECT_EQ(memory(R"("remote-mem-bw": "64 GB/s", "remote-mem-latency": "2 us")").kind, nullptr);
  for (const char* bandwidth : {"\"1.9 GB/s\"", "\"900 MB/s\"", "0.9", "0"}) {
    const Diagnostic refused = memory(std::string("\"remote-mem-bw\": ") + bandwidth);
    EXPECT_EQ(refused.kind, &kBadSystem) << bandwidth;
    EXPECT_EQ(refused.help, "a whole number of GB/s, 1 or more, or \"64 GB/s\"");
  }
  EXPECT_EQ(memory(R"("remote-mem-bw": 64, "remote-mem-latency": "0.5 ns")").help, "a whole number of ns, or \"2 us\"");
}

TEST(System, KeepsWhatTheFileStatesAndWhere) {
  Diagnostics diagnostics;
  const Result<System> system = ParseSystem(kSystem, "s.json", {}, diagnostics);
  ASSERT_TRUE(system.ok());
  EXPECT_THAT(system->stated.settings, testing::UnorderedElementsAre("scheduling-policy", "preferred-dataset-splits",
                                                                     "all-reduce-implementation"));
  EXPECT_EQ(system->stated.settings_at.line, 3u);
  EXPECT_EQ(system->stated.counts_at.line, 2u);
  const auto line = ParseSystem("{\n\"cluster\": \"H100_80GB 8x4\"}", "s.json", {}, diagnostics);
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->stated.counts_at.line, 2u);
  EXPECT_TRUE(line->stated.settings.empty());
}

TEST(System, StatesOnlyWhatSteersCollectives) {
  Diagnostics diagnostics;
  const auto stated = [&](const std::string& settings) {
    const std::string text = Changed(kSystem, "\"scheduling-policy\": \"LIFO\"", settings);
    return ParseSystem(text, "s.json", {}, diagnostics)->stated;
  };
  const StatedInFile usual = stated(R"("trace-enabled": 1, "local-mem-bw": 50, "peak-perf": 900, "boost-mode": 0,
    "intra-dimension-scheduling": "FIFO", "model-shared-bus": 0, "L": 5,
    "scheduling-policy": "LIFO")");
  EXPECT_THAT(usual.settings, testing::UnorderedElementsAre("scheduling-policy", "preferred-dataset-splits",
                                                            "all-reduce-implementation"));
  EXPECT_EQ(usual.settings_at.line, 5u);
  EXPECT_EQ(usual.settings_at.column, 5u);  // of the first in the file, not by name
  EXPECT_THAT(stated(R"("model-shared-bus": 1, "L": 5)").settings, testing::IsSupersetOf({"L", "model-shared-bus"}));
}

TEST(System, UnknownKeysAreWarningsAndWithStrictErrors) {
  const std::string text = Changed(kSystem, "scheduling-policy", "scheduling-polcy");
  const Diagnostic warning = First(text);
  EXPECT_TRUE(warning.is_warning());
  EXPECT_EQ(warning.location.line, 3u);
  EXPECT_THAT(warning.help, HasSubstr("did you mean `scheduling-policy`?"));
  EXPECT_FALSE(First(text, true).is_warning());
}

TEST(System, ErrorsSayWhereAndWhat) {
  const Diagnostic topology = First(Changed(kSystem, "\"Ring\"", "\"Rng\""));
  EXPECT_THAT(topology.message, HasSubstr("unknown topology `Rng`"));
  EXPECT_THAT(topology.help, HasSubstr("did you mean `Ring`?"));
  const std::string longer = Changed(kSystem, "[50.0]", "[50.0, 25.0]");
  EXPECT_THAT(First(longer).message, HasSubstr("equal lengths"));
  EXPECT_EQ(First(longer).location.column, longer.find("\"bandwidth\"") - longer.find('\n'));
  const Diagnostic words = First(Changed(kSystem, "[4]", "[\"four\"]"));
  EXPECT_THAT(words.message, HasSubstr("`npus_count` cannot be [\"four\"]"));
  EXPECT_THAT(words.help, HasSubstr("an entry for each dimension"));
  EXPECT_THAT(First(Changed(kSystem, "[\"Ring\"]", "{}")).message, HasSubstr("`topology` cannot be {}"));
  EXPECT_THAT(First(Changed(kSystem, "[50.0]", "[-1]")).message, HasSubstr("bandwidth must be above 0"));
  EXPECT_THAT(First(Changed(kSystem, "[50.0]", "[50e9]")).help, HasSubstr("a bare number is GB/s"));
  EXPECT_THAT(First(Changed(kSystem, "[50.0]", "[1e-9]")).message, HasSubstr("no link has"));
  EXPECT_THAT(First(Changed(kSystem, "\"bandwidth\"", "\"width\"")).message, HasSubstr("unknown key"));
  EXPECT_THAT(First(Changed(kSystem, "[4]", "[1]")).message, HasSubstr("must be at least 2"));
  EXPECT_THAT(First(Changed(kSystem, "\"LIFO\"", "\"BOGUS\"")).help, HasSubstr("LIFO, FIFO or EXPLICIT"));
  EXPECT_THAT(First(Changed(kSystem, "direct4", "dirct")).message, HasSubstr("all-reduce-implementation"));
  EXPECT_THAT(First(Changed(kSystem, "[\"direct4\"]", "[\"ring\", \"ring\"]")).message, HasSubstr("has 2 entries"));
  EXPECT_THAT(First(Changed(kSystem, "NO_MEMORY_EXPANSION", "NO_MEMORY")).message, HasSubstr("memory-type"));
}

TEST(System, SyntaxErrorsHaveLineAndColumn) {
  const Diagnostic error = First("{\n  \"network\": [\n");
  EXPECT_EQ(error.kind->code, "E0821");
  EXPECT_EQ(error.location.line, 3u);
  EXPECT_THAT(First("[]").message, HasSubstr("object `network`"));
  EXPECT_THAT(First(std::string(1000, '[')).message, HasSubstr("too deep"));
}

TEST(System, NetworkYamlErrorsHaveLineAndColumn) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "system_test";
  ASSERT_TRUE(MakeFolder(folder).ok());
  ASSERT_TRUE(WriteFileAtomically(folder / "system.json", "{}").ok());
  const auto first = [&](const std::string& yaml) {
    EXPECT_TRUE(WriteFileAtomically(folder / "network.yml", yaml).ok());
    Diagnostics diagnostics;
    const Result<System> system = LoadSystem(folder.string(), {}, diagnostics);
    EXPECT_FALSE(system.ok());
    return diagnostics.all().empty() ? Diagnostic{} : diagnostics.all()[0];
  };
  const std::string good = "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 50.0 ]\n";
  EXPECT_THAT(first(good).message, HasSubstr("`latency` is missing"));
  const Diagnostic item = first(good + "latency: [ fast ]\n");
  EXPECT_EQ(item.location.line, 4u);
  EXPECT_EQ(item.location.column, 12u);
  EXPECT_EQ(first("topology: [ Ring\nnpus: 4").kind->code, "E0821");
}

TEST(System, EveryPresetLoadsWithoutUnknownKeys) {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HESPAS_SOURCE_DIR "/data/systems")) {
    Diagnostics diagnostics;
    const Result<System> system = LoadSystem(entry.path().string(), {.strict = true}, diagnostics);
    EXPECT_TRUE(system.ok()) << entry.path() << ": " << (diagnostics.all().empty() ? "" : Render(diagnostics.all()[0]));
    ++count;
  }
  EXPECT_GT(count, 40u);
}

TEST(Algorithm, NamesAreAstraSims) {
  EXPECT_EQ(ParseAlgorithm("ring"), (Algorithm{AlgorithmKind::kRing, false, -1}));
  EXPECT_EQ(ParseAlgorithm("oneDirect16"), (Algorithm{AlgorithmKind::kDirect, true, 16}));
  EXPECT_EQ(ParseAlgorithm("oneHalvingDoubling"), (Algorithm{AlgorithmKind::kHalvingDoubling, true, -1}));
  EXPECT_EQ(ParseAlgorithm("directX"), std::nullopt);
  EXPECT_EQ(ParseAlgorithm("Ring"), std::nullopt);
}

}  // namespace
}  // namespace hespas::hardware
