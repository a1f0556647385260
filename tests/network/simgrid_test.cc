// SimGrid's engine against closed forms and first principles, on networks of every kind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "case_file.h"
#include "engines/simgrid_run.h"

namespace hespas::network_test {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

constexpr double kBytesPerNs = 50.0 * 1073741824.0 / 1e9;

Result<result::SimResult> Answer(const json& input, const engines::SimGridOptions& simgrid = {},
                                 const std::function<void(simulate::SimulateOptions&)>& change = {}) {
  Result<Case> built = BuildCase(input);
  if (!built) return built.error();
  built->options.resolution = simulate::Resolution::kPicosecond;
  if (change) change(built->options);
  return engines::RunSimGrid(built->trace, built->system, built->options, simgrid);
}

double Nanoseconds(const Result<result::SimResult>& result) {
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
  return result.ok() ? static_cast<double>(result->finish()) / 1000 : 0;
}

engines::SimGridOptions On(const std::string& topology, const std::string& mapping = "linear") {
  return {.network = {.topology = topology, .mapping = mapping}};
}

// One-way messages between pairs of NPUs, all sent at time 0.
json Messages(int npus, const std::vector<std::pair<int, int>>& pairs, uint64_t size) {
  json input = OneCollective("AR", 1, "ring", "Switch", npus);
  std::vector<json> ranks(npus, json::array());
  for (const auto& [from, to] : pairs) {
    ranks[from].push_back({{"id", 0}, {"t", "send"}, {"to", to}, {"sz", size}});
    ranks[to].push_back({{"id", 1}, {"t", "recv"}, {"fr", from}, {"sz", size}});
  }
  for (json& rank : ranks) rank.push_back({{"id", 2}, {"t", "comp"}, {"us", 0}});  // every NPU needs a node
  input["trace"] = {{"ranks", ranks}};
  return input;
}

TEST(SimGrid, UncontendedRingsAreAlphaBetaToAllDigits) {
  for (const char* topology : {"Ring", "Switch"}) {
    for (const int n : {2, 3, 4, 7, 16, 64}) {
      for (const uint64_t size : {uint64_t{64}, uint64_t{100'003}, uint64_t{1} << 26}) {
        json input = OneCollective("AG", size, "ring", topology, n);
        input["sys"]["endpoint-delay"] = 0;
        const double hops = topology == std::string("Switch") ? 2 : 1;
        const double step = hops * 500 + static_cast<double>(size) / kBytesPerNs;
        EXPECT_NEAR(Nanoseconds(Answer(input)), (n - 1) * step, 0.001 * n) << topology << n << " " << size;
      }
    }
  }
}

TEST(SimGrid, AgreesWithTheBuiltInEnginesWhereNothingIsContended) {
  for (const char* topology : {"Ring", "Switch"}) {
    for (const char* kind : {"AR", "AG", "RS", "A2A"}) {
      for (const int n : {2, 4, 16}) {
        for (const uint64_t size : {1u << 12, 1u << 18, 1u << 26}) {
          json input = OneCollective(kind, size, "ring", topology, n);
          const double flows = Nanoseconds(Answer(input));
          for (const char* backend : {"U", "A"}) {
            // The aware engine passes a switch by store and forward, which takes every byte's time twice.
            if (backend == std::string("A") && topology == std::string("Switch")) continue;
            input["be"] = backend;
            const Result<Case> built = BuildCase(input);
            Diagnostics diagnostics;
            const auto here = simulate::Simulate(built->trace, built->system, built->options, diagnostics);
            const auto want = static_cast<double>(here->finish());
            EXPECT_NEAR(flows, want, want / 100) << topology << kind << n << " " << size << backend;
          }
        }
      }
    }
  }
}

TEST(SimGrid, AllKindsOfNetworksGiveNeighboursTheirLinks) {
  // A ring of neighbours along the hosts: on each of these every message has links of its own. Hops of the longest way.
  const std::pair<const char*, int> networks[] = {{"switch", 2},         {"ring", 1},           {"torus:16", 1},
                                                  {"fat-tree:4,4:4", 4}, {"hyperx:16", 3},      {"dragonfly:2,4,2", 5},
                                                  {"hyperx:8:2", 3},     {"dragonfly:4,4,1", 3}};
  for (const auto& [network, hops] : networks) {
    json input = OneCollective("AG", 1 << 22, "ring", "Switch", 16);
    input["sys"]["endpoint-delay"] = 0;
    const double serial = (1 << 22) / kBytesPerNs;
    EXPECT_NEAR(Nanoseconds(Answer(input, On(network))), 15 * (hops * 500 + serial), 15 * hops * 500) << network;
  }
}

TEST(SimGrid, FlowsOnOneLinkShareIt) {
  const uint64_t size = 1 << 24;
  const double once = size / kBytesPerNs;
  EXPECT_NEAR(Nanoseconds(Answer(Messages(4, {{0, 2}, {1, 3}}, size))), 1000 + once, 1);      // a switch: none shared
  EXPECT_NEAR(Nanoseconds(Answer(Messages(4, {{0, 2}, {1, 2}}, size))), 1000 + 2 * once, 1);  // into one host
  EXPECT_NEAR(Nanoseconds(Answer(Messages(4, {{0, 1}, {1, 0}}, size))), 1000 + once, 1);      // both ways
  // 0 -> 2 and 1 -> 3 both take the link from 1 to 2 of a ring of 8, with equal shares although one way is longer.
  EXPECT_NEAR(Nanoseconds(Answer(Messages(8, {{0, 2}, {1, 3}}, size), On("ring"))), 1000 + 2 * once, 1);
  const auto unequal = Answer(Messages(8, {{0, 3}, {1, 2}}, size), On("ring"));
  ASSERT_TRUE(unequal.ok());
  EXPECT_NEAR(static_cast<double>(unequal->ranks[2].finish) / 1000, 500 + 2 * once - 1000, 2000);
}

// All bytes that leave a leaf go over its uplinks.
TEST(SimGrid, AllToAllOnAnOversubscribedTreeIsBoundByItsBisection) {
  const uint64_t size = 1 << 26;
  json input = OneCollective("A2A", size, "direct", "Switch", 16);
  const double crossing = 4 * 12 * (size / 16.0);  // from the four hosts of a leaf to the twelve others
  double before = 0;
  for (const int uplinks : {4, 2, 1}) {
    const double bound = std::max(crossing / uplinks, 15 * size / 16.0) / kBytesPerNs;
    const double took = Nanoseconds(Answer(input, On("fat-tree:4," + std::to_string(uplinks) + ":4")));
    EXPECT_GE(took, bound) << uplinks;
    EXPECT_GE(took, before) << uplinks;
    if (uplinks == 1) {
      EXPECT_LE(took, 1.01 * bound + 5000);  // nothing but the uplinks holds it
    }
    before = took;
  }
}

TEST(SimGrid, LinksConserveBytes) {
  const json input = OneCollective("AG", 1 << 20, "ring", "Ring", 6);
  const auto got = Answer(input, {}, [](simulate::SimulateOptions& options) { options.record_links = true; });
  ASSERT_TRUE(got.ok()) << got.error().message;
  uint64_t bytes = 0;
  for (const result::LinkUse& link : got->links) {
    bytes += link.bytes;
    EXPECT_LE(link.busy, got->finish());
  }
  EXPECT_EQ(bytes, 6u * 5u << 20);
}

TEST(SimGrid, ARandomMappingIsReproducibleAndCrossesMore) {
  const json input = OneCollective("AG", 1 << 24, "ring", "Switch", 64);
  const double linear = Nanoseconds(Answer(input, On("torus:4x4x4")));
  const double random = Nanoseconds(Answer(input, On("torus:4x4x4", "random:7")));
  EXPECT_GT(random, 1.2 * linear);
  EXPECT_EQ(Nanoseconds(Answer(input, On("torus:4x4x4", "random:7"))), random);
  EXPECT_NE(Nanoseconds(Answer(input, On("torus:4x4x4", "random:8"))), random);
}

TEST(SimGrid, AMappingFileNamesHostsByNumberOrName) {
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "hespas_mapping.txt";
  const json input = Messages(4, {{0, 1}}, 1 << 20);
  const auto with = [&](const char* text) {
    std::ofstream(file) << text;
    return Answer(input, On("ring", file.string()));
  };
  const double near = Nanoseconds(with("0\nnode-1\n# far\n2\n3\n"));
  EXPECT_NEAR(Nanoseconds(with("0\n2\n1\n3\n")), near + 500, 1);  // one hop more
  const auto message = [&](const char* text) {
    const auto got = with(text);
    return got.ok() ? "no error" : got.error().message;
  };
  EXPECT_THAT(message("0\n1\n"), HasSubstr("names 2 hosts for 4 ranks"));
  EXPECT_THAT(message("0\n1\n1\n2\n"), HasSubstr("`1` has a rank already"));
  EXPECT_THAT(message("0\n1\n9\n2\n"), HasSubstr("`9` is no host"));
}

TEST(SimGrid, BadInputsAreErrors) {
  const json input = OneCollective("AR", 1 << 20, "ring", "Ring", 4);
  const auto message = [&](const engines::SimGridOptions& options) {
    const auto got = Answer(input, options);
    return got.ok() ? "no error" : got.error().message;
  };
  for (const char* topology : {"torus", "torus:2x", "torus:0x4", "cube:2", "fat-tree:4", "fat-tree:4:4",
                               "dragonfly:2,2", "hyperx:2x2:2:2", "hyperx:", "switch:4"}) {
    EXPECT_THAT(message(On(topology)), HasSubstr("is no physical topology")) << topology;
  }
  EXPECT_THAT(message(On("torus:3")), HasSubstr("has 3 hosts, the system 4 NPUs"));
  EXPECT_THAT(message(On("torus:99999x99999")), HasSubstr("hosts"));
  EXPECT_THAT(message(On("ring", "random:x")), HasSubstr("no number as its seed"));
  EXPECT_THAT(message(On("ring", "/nowhere")), HasSubstr("/nowhere"));
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "hespas_platform.xml";
  std::ofstream(file) << "<platform version=\"4.1\"><host/></platform>";
  EXPECT_THAT(message({.platform = file.string()}), AllOf(HasSubstr("SimGrid gave up"), HasSubstr("Parse error")));
  EXPECT_THAT(message({.platform = "/nowhere.xml"}), HasSubstr("/nowhere.xml"));
}

}  // namespace
}  // namespace hespas::network_test
