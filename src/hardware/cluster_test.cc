#include "hardware/cluster.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "hardware/presets.h"

namespace hespas::hardware {
namespace {

constexpr double kGiga = 1073741824.0;

Result<System> Parse(const std::string& text) {
  Diagnostics diagnostics;
  return ParseCluster(text, diagnostics);
}

std::string Refusal(const std::string& text) {
  const auto system = Parse(text);
  EXPECT_FALSE(system) << text;
  return system ? "" : system.error().message + " | " + system.error().help;
}

TEST(Cluster, ReadsLevelsFromTheInside) {
  const auto system = Parse("H100_80GB 8x64 ib=400Gbit/s latency=2us");
  ASSERT_TRUE(system) << system.error().message;
  EXPECT_EQ(system->npus(), 512u);
  EXPECT_EQ(system->device, "H100_80GB");
  ASSERT_EQ(system->dimensions.size(), 2u);
  EXPECT_NEAR(system->dimensions[0].bandwidth * kGiga, 450e9, 1);
  EXPECT_NEAR(system->dimensions[1].bandwidth * kGiga, 50e9, 1);
  EXPECT_NEAR(system->dimensions[1].latency, 2000, 1e-6);
}

// Two devices a chip: 600 GB/s between them, half of the chip's links and of its network for each.
TEST(Cluster, CountsChipsWhereTheyAreSeveralDevices) {
  const auto system = Parse("TPU7x_core 4x4x8 slices=2");
  ASSERT_TRUE(system) << system.error().message;
  EXPECT_EQ(system->npus(), 512u);
  ASSERT_EQ(system->dimensions.size(), 5u);
  EXPECT_EQ(system->dimensions[0].npus, 2u);
  EXPECT_NEAR(system->dimensions[0].bandwidth * kGiga, 600e9, 1);
  EXPECT_NEAR(system->dimensions[1].bandwidth * kGiga, 50e9, 1);
  EXPECT_FALSE(system->dimensions[1].open);
  EXPECT_NEAR(system->dimensions[4].bandwidth * kGiga, 6.25e9, 1);
  EXPECT_NEAR(Parse("TPU7x 4x4x8 slices=2")->dimensions[3].bandwidth * kGiga, 12.5e9, 1);
}

TEST(Cluster, SaysWhichNetworkPassesTcp) {
  const auto line = Parse("H100_80GB 8x4 tcp=100Gbit/s");
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_FALSE(line->dimensions[0].tcp);
  EXPECT_TRUE(line->dimensions[1].tcp && line->dimensions[1].between_hosts);
  EXPECT_FALSE(Parse("H100_80GB 8x4 eth=100Gbit/s")->dimensions[1].tcp);
  const auto file = [](const std::string& between) {
    Diagnostics diagnostics;
    return ParseSystem(R"({"network": {"topology": ["Switch", "Switch"], "npus_count": [8, 4], "bandwidth": [450, 12],
      "latency": [1000, 1500], "between_hosts": [false, )" +
                           between + "]}}",
                       "tcp.json", {}, diagnostics);
  };
  EXPECT_TRUE(file("\"tcp\"")->dimensions[1].tcp);
  EXPECT_TRUE(file("true")->dimensions[1].between_hosts);
  EXPECT_FALSE(file("true")->dimensions[1].tcp);
  EXPECT_FALSE(file("\"udp\""));
}

TEST(Cluster, SlicesOfTpusTakeNoTcp) {
  EXPECT_NE(Refusal("TPUv5e 4x4 slices=2 tcp=10Gbit/s").find("dcn=10Gbit/s"), std::string::npos);
  const auto said = [](const std::string& device, const std::string& between) {
    Diagnostics diagnostics;
    const auto system = ParseSystem(R"({"device": ")" + device + R"(",
      "network": {"topology": ["Ring", "Switch"], "npus_count": [16, 2], "bandwidth": [90, 12],
      "latency": [1000, 10000], "between_hosts": [false, )" +
                                        between + "]}}",
                                    "slices.json", {}, diagnostics);
    return system ? std::string() : Render(diagnostics.all().front());
  };
  EXPECT_EQ(said("TPUv5e", "true"), "");
  EXPECT_EQ(said("H100_80GB", "\"tcp\""), "");
  const std::string refused = said("TPUv5e", "\"tcp\"");
  EXPECT_EQ(refused.find("slices.json:3:"), 0u) << refused;
  EXPECT_NE(refused.find("error[E"), std::string::npos) << refused;
  EXPECT_NE(refused.find("`between_hosts` true"), std::string::npos) << refused;
}

TEST(Cluster, AUnitMayStandApart) {
  const auto system = Parse("H100_80GB 8x2 ib=400 Gbit/s");
  ASSERT_TRUE(system) << system.error().message;
  EXPECT_NEAR(system->dimensions[1].bandwidth * kGiga, 50e9, 1);
}

TEST(Cluster, UpperLevelsAreOversubscribed) {
  const auto system = Parse("H100_80GB 8x384x2 roce=400Gbit/s oversubscription=7");
  ASSERT_TRUE(system) << system.error().message;
  ASSERT_EQ(system->dimensions.size(), 3u);
  EXPECT_NEAR(system->dimensions[2].bandwidth * 7, system->dimensions[1].bandwidth, 1e-6);
}

TEST(Cluster, SlicesCloseTheirAxesAsSold) {
  const auto whole = Parse("TPUv5p 4x4x8 slices=2");
  ASSERT_TRUE(whole) << whole.error().message;
  ASSERT_EQ(whole->dimensions.size(), 4u);
  EXPECT_FALSE(whole->dimensions[0].open);
  EXPECT_EQ(whole->dimensions[3].kind, DimensionKind::kSwitch);
  EXPECT_NEAR(whole->dimensions[3].bandwidth * kGiga, 6.25e9, 1);
  EXPECT_TRUE(Parse("TPUv5p 2x4x4")->dimensions[1].open);
  const auto mixed = Parse("TPUv5e 8x16");
  ASSERT_TRUE(mixed);
  EXPECT_TRUE(mixed->dimensions[0].open);
  EXPECT_FALSE(mixed->dimensions[1].open);
}

TEST(Cluster, SaysWhatIsWrongAndWhatToWrite) {
  EXPECT_NE(Refusal("H100_80GB 16x2 ib=400Gbit/s").find("8x2 puts them"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x2 ib=400").find("has no unit"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x2 ib=0Gbit/s").find("must be above 0"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x2 ib=-1Gbit/s").find("ib=-1"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x2 bi=400Gbit/s").find("no `bi`"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x0 ib=400Gbit/s").find("at least one"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x64 slices=2").find("hosts"), std::string::npos);
  EXPECT_NE(Refusal("L4_24GB 8x2").find("no reference network"), std::string::npos);
  EXPECT_NE(Refusal("TPUv5e 4x4x4").find("2 axes"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x64 oversubscription=7").find("there is none"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x64 ib=400Gbit/s roce=200Gbit/s").find("again"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x64 ib=450B/s").find("450 byte/s"), std::string::npos);
  EXPECT_NE(Refusal("H100_80GB 8x64 latency=3s").find("latency=3s"), std::string::npos);
  EXPECT_FALSE(Parse("A100 8x2"));
}

TEST(Cluster, AFigureOfANetworkThatIsNotThereIsRefused) {
  EXPECT_EQ(Refusal("H100_80GB 8 ib=400Gbit/s"),
            "`ib` is of a network between hosts, and there is one host | 8x4 has one; links in a host are the device's "
            "own (--set \"system.latency[0]=2 us\")");
  EXPECT_TRUE(Refusal("H100_80GB 8 latency=2us").starts_with("`latency` is of a network between hosts"));
  EXPECT_TRUE(Refusal("TPUv5p 4x4x4 dcn=50Gbit/s").starts_with("`dcn` is of a network between slices"));
  EXPECT_TRUE(Parse("H100_80GB 1x4 ib=400Gbit/s"));
  // Parts of 8x64 and 8x8x8, whose upper levels are stated.
  for (const char* part :
       {"H100_80GB 4x1 ib=400Gbit/s", "H100_80GB 8x1 latency=2us", "H100_80GB 8x2x1 ib=400Gbit/s oversubscription=7"})
    EXPECT_TRUE(Parse(part)) << part;
}

TEST(Cluster, ReferenceNetworksFillHostsAndSlices) {
  Diagnostics diagnostics;
  const auto of = [&](const char* name, uint64_t npus) {
    return ReferenceCluster(*LoadDevice(name, diagnostics), npus);
  };
  const auto gpus = of("H100_80GB", 512);
  ASSERT_TRUE(gpus);
  EXPECT_EQ(gpus->npus(), 512u);
  EXPECT_EQ(gpus->dimensions[0].npus, 8u);
  const auto racks = of("GB200_192GB", 144);
  ASSERT_TRUE(racks);
  EXPECT_EQ(racks->dimensions[0].npus, 72u);
  const auto slices = of("TPUv5e", 1024);
  ASSERT_TRUE(slices);
  EXPECT_EQ(slices->npus(), 1024u);
  EXPECT_EQ(slices->dimensions.size(), 3u);
  EXPECT_FALSE(of("H100_80GB", 12));
  EXPECT_FALSE(of("TPUv5e", 24));
}

// A preset and a line of as many devices are the same slice.
TEST(Cluster, PresetsOfTpusHaveTheShapesOfSlices) {
  Diagnostics diagnostics;
  for (const std::string name : {"TPUv4", "TPUv5e", "TPUv5p", "TPUv6e", "TPU7x"}) {
    for (const uint64_t chips : {4, 8}) {
      const std::string preset = fmt::format("{}_{}GPU", name, chips);
      const auto system = LoadNamedSystem(preset, {}, diagnostics);
      const auto slice = ReferenceCluster(*LoadDevice(name, diagnostics), chips);
      ASSERT_TRUE(system && slice) << preset;
      std::vector<std::pair<uint32_t, bool>> axes;
      std::vector<std::pair<uint32_t, bool>> sold;
      for (const NetworkDimension& axis : system->dimensions) axes.emplace_back(axis.npus, axis.open);
      for (const NetworkDimension& axis : slice->dimensions) sold.emplace_back(axis.npus, axis.open);
      std::sort(axes.begin(), axes.end());
      std::sort(sold.begin(), sold.end());
      EXPECT_EQ(axes, sold) << preset;
      EXPECT_NEAR(system->dimensions[0].bandwidth, slice->dimensions[0].bandwidth, 1e-3) << preset;
    }
  }
}

TEST(Cluster, IsTakenForALineOnlyWhereItIsOne) {
  EXPECT_TRUE(IsClusterText("H100_80GB 8x64"));
  EXPECT_FALSE(IsClusterText("H100_80GB_8GPU"));
  EXPECT_FALSE(IsClusterText("{\"network\": 1}"));
  EXPECT_FALSE(IsClusterText("folder with spaces/8x64 system"));
  EXPECT_FALSE(IsClusterText("my folder/2 x"));
  EXPECT_FALSE(IsClusterText("my 2 nodes.json"));
}

TEST(Cluster, FilesMayHoldALineOrQuantities) {
  Diagnostics diagnostics;
  const auto line =
      ParseSystem(R"({"cluster": "H100_80GB 8x4 ib=400Gbit/s", "name": "mine"})", "mine.json", {}, diagnostics);
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->name, "mine");
  EXPECT_EQ(line->npus(), 32u);
  EXPECT_FALSE(ParseSystem(R"({"cluster": "H100_80GB 8x4", "network": {}})", "mine.json", {}, diagnostics));
  const auto units = ParseSystem(
      R"({"network": {"topology": ["Switch", "Line"], "npus_count": [8, 2], "bandwidth": ["450 GB/s", 50],
          "latency": ["0.5 us", 700]}, "system": {"local-mem-bw": "3.35 TB/s"}})",
      "units.json", {}, diagnostics);
  ASSERT_TRUE(units) << units.error().message;
  EXPECT_NEAR(units->dimensions[0].bandwidth * kGiga, 450e9, 1);
  EXPECT_EQ(units->dimensions[1].bandwidth, 50);  // ASTRA-sim's GB
  EXPECT_NEAR(units->dimensions[0].latency, 500, 1e-6);
  EXPECT_TRUE(units->dimensions[1].open);
  EXPECT_NEAR(units->memory_bandwidth, 3350, 1e-6);
}

TEST(Cluster, AFileNeedsNoSettingsOfAstraSim) {
  Diagnostics diagnostics;
  const auto system = ParseSystem(R"({"network": {"topology": ["Switch", "FullyConnected"], "npus_count": [8, 2],
    "bandwidth": ["450 GB/s", "400 Gbit/s"], "latency": ["1 us", "1.5 us"]}})",
                                  "plain.json", {}, diagnostics);
  ASSERT_TRUE(system) << system.error().message;
  const auto& algorithms = system->of(NativeCollective::kAllReduce).algorithms;
  ASSERT_TRUE(algorithms);
  EXPECT_EQ((*algorithms)[0].kind, AlgorithmKind::kRing);
  EXPECT_EQ((*algorithms)[1].kind, AlgorithmKind::kDirect);
}

TEST(Cluster, AQuantityOfAnotherKindIsRefusedWithItsPlace) {
  Diagnostics diagnostics;
  const auto system = ParseSystem(R"({"network": {"topology": ["Switch"], "npus_count": [8],
    "bandwidth": ["450 us"], "latency": [1]}, "system": {}})",
                                  "wrong.json", {}, diagnostics);
  EXPECT_FALSE(system);
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.all().front().location.line, 2u);
}

}  // namespace
}  // namespace hespas::hardware
