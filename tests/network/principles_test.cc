// The simulator against first principles: closed forms, conservation of bytes, bounds, and what goes beyond ASTRA-sim.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "case_file.h"
#include "trace/asynchronous.h"

namespace hespas::network_test {
namespace {

using nlohmann::json;
using simulate::SimulateOptions;
using testing::HasSubstr;

Result<result::SimResult> Answer(const json& input, const std::function<void(SimulateOptions&)>& change = {}) {
  Result<Case> built = BuildCase(input);
  if (!built) return built.error();
  if (change) change(built->options);
  Diagnostics diagnostics;
  return simulate::Simulate(built->trace, built->system, built->options, diagnostics);
}

// Closed forms of symmetric collectives (spec astra-sim section 13).
struct ClosedForm {
  uint64_t n, endpoint, delay, reduction;
  uint64_t Ring(const std::string& kind) const {
    if (kind == "AR") return endpoint + 2 * (n - 1) * (delay + endpoint) + (n - 1) * reduction;
    if (kind == "RS") return endpoint + (n - 1) * (delay + endpoint + reduction);
    if (kind == "AG") return endpoint + (n - 1) * (delay + endpoint);
    return endpoint + n * (n - 1) / 2 * (delay + endpoint);
  }
  uint64_t Direct(const std::string& kind) const {
    if (kind == "AR") return 3 * endpoint + 2 * delay + reduction;
    if (kind == "RS") return 2 * endpoint + delay + reduction;
    return 2 * endpoint + delay;
  }
};

TEST(ClosedForms, EqualBothEnginesOnGeneratedCases) {
  std::mt19937_64 random(7);
  constexpr int kCases = 10'000;
  for (int i = 0; i < kCases; ++i) {
    const std::string kind = std::vector<std::string>{"AR", "AG", "RS", "A2A"}[random() % 4];
    const bool ring = random() % 2 == 0;
    const int npus = 2 + static_cast<int>(random() % 9);
    const uint64_t size = static_cast<uint64_t>(npus) + random() % (1 << 24);
    const uint64_t message = kind == "AG" ? size : size / static_cast<uint64_t>(npus);
    const double serial = static_cast<double>(message) / (50.0 * 1073741824.0 / 1e9);
    const ClosedForm form{.n = static_cast<uint64_t>(npus),
                          .endpoint = 10,
                          .delay = static_cast<uint64_t>((ring ? 1 : 2) * 500.0 + serial),
                          .reduction = 3 * static_cast<uint64_t>(static_cast<double>(message) / 1.6e12 * 1e9)};
    const json input = OneCollective(kind, size, ring ? "ring" : "direct", ring ? "Ring" : "Switch", npus);
    const uint64_t want = ring ? form.Ring(kind) : form.Direct(kind);
    for (const auto engine : {simulate::Engine::kEvents, simulate::Engine::kSymmetry}) {
      const auto got = Answer(input, [&](SimulateOptions& options) { options.engine = engine; });
      ASSERT_TRUE(got.ok()) << got.error().message << input.dump();
      ASSERT_EQ(got->finish(), want) << input.dump();
    }
  }
}

TEST(Conservation, EveryRankGetsTheOthersBytes) {
  for (const char* backend : {"U", "A"}) {
    json input = OneCollective("AG", 1 << 20, "ring", "Ring", 6);
    input["be"] = backend;
    const auto got = Answer(input, [](SimulateOptions& options) { options.record_links = true; });
    ASSERT_TRUE(got.ok());
    uint64_t bytes = 0;
    for (const result::LinkUse& link : got->links) bytes += link.bytes;
    EXPECT_EQ(bytes, 6u * 5u << 20) << backend;
  }
}

TEST(Congestion, NeverFasterThanWithoutAndNotUnderTheSlowestLink) {
  for (const int npus : {3, 4, 7}) {
    json input = OneCollective("A2A", 1 << 22, "direct", "Switch", npus);
    const auto without = Answer(input);
    input["be"] = "A";
    const auto with = Answer(input, [](SimulateOptions& options) { options.record_links = true; });
    ASSERT_TRUE(without.ok() && with.ok());
    EXPECT_GE(with->finish(), without->finish());
    for (const result::LinkUse& link : with->links) EXPECT_LE(link.busy, with->finish()) << link.name;
  }
}

TEST(Congestion, SeveralDimensionsAreAnsweredBeyondAstraSim) {
  json input = OneCollective("AR", 1 << 20, "ring", "Ring", 4);
  input["be"] = "A";
  input["net"] = {{"topo", {"Ring", "Switch"}}, {"npus", {4, 2}}, {"bw", {50.0, 25.0}}, {"lat", {500.0, 1000.0}}};
  for (auto& [key, value] : input["sys"].items()) {
    if (key.ends_with("-implementation")) value = {"ring", "ring"};
  }
  const auto got = Answer(input);
  ASSERT_TRUE(got.ok()) << got.error().message;
  input["be"] = "U";
  EXPECT_GE(got->finish(), Answer(input)->finish());
}

// Every byte of every message crosses as many links as its way has, and no link is faster than its bandwidth.
TEST(Congestion, SeveralDimensionsConserveBytesAndKeepTheBounds) {
  for (const char* kind : {"AG", "RS", "AR", "A2A"}) {
    const uint64_t size = 1 << 22;
    json input = OneCollective(kind, size, "ring", "Ring", 4);
    input["net"] = {{"topo", {"Ring", "Ring"}}, {"npus", {4, 3}}, {"bw", {50.0, 25.0}}, {"lat", {500.0, 1000.0}}};
    for (auto& [key, value] : input["sys"].items()) {
      if (key.ends_with("-implementation")) value = {"ring", "ring"};
    }
    const auto links = [](SimulateOptions& options) { options.record_links = true; };
    const auto without = Answer(input, links);
    input["be"] = "A";
    const auto with = Answer(input, links);
    ASSERT_TRUE(without.ok() && with.ok()) << kind;
    const auto bytes_of = [](const result::SimResult& result) {
      return std::accumulate(result.links.begin(), result.links.end(), uint64_t{0},
                             [](uint64_t sum, const result::LinkUse& link) { return sum + link.bytes; });
    };
    EXPECT_EQ(bytes_of(*with), bytes_of(*without)) << kind;  // rings send to neighbours: one hop each
    EXPECT_EQ(with->messages, 12 * without->messages);       // without congestion one rank represents all
    for (const result::LinkUse& link : with->links) {
      const double fastest = 50.0 * 1073741824.0 / 1e9;
      EXPECT_GE(static_cast<double>(link.busy) + static_cast<double>(link.messages),
                static_cast<double>(link.bytes) / fastest)
          << link.name;
      EXPECT_LE(link.busy, with->finish()) << link.name;
    }
    EXPECT_GE(with->finish(), without->finish()) << kind;
  }
}

// Alpha-beta: the steps' latencies, and the bytes that each NPU must send, bound every algorithm from below.
TEST(LowerBounds, HoldForEveryAlgorithm) {
  for (const char* algorithm : {"ring", "direct", "direct1", "halvingDoubling"}) {
    for (const char* kind : {"AG", "RS", "AR"}) {
      for (const char* backend : {"U", "A"}) {
        const uint64_t size = 1 << 22;
        json input = OneCollective(kind, size, algorithm, "Switch", 8);
        input["be"] = backend;
        const auto got = Answer(input);
        ASSERT_TRUE(got.ok()) << algorithm << kind;
        const double bytes_per_ns = 50.0 * 1073741824.0 / 1e9;
        const double sent =
            kind == std::string("AG") ? 7.0 * size : (kind == std::string("AR") ? 2 : 1) * 7.0 / 8 * size;
        const bool one_port = std::string(algorithm) != "direct" || backend == std::string("A");
        const double serial = one_port ? sent / bytes_per_ns : sent / 7 / bytes_per_ns;  // unaware: all at once
        EXPECT_GE(static_cast<double>(got->finish()), 2 * 500.0 + serial - 64) << algorithm << " " << kind << backend;
      }
    }
  }
}

// Groups of two and six NPUs side by side take what each takes alone.
TEST(UnequalGroups, EachTakesItsOwnClosedForm) {
  json input = OneCollective("AG", 1 << 20, "ring", "FullyConnected", 8);
  input["groups"] = {{"1", {0, 1}}, {"2", {2, 3, 4, 5, 6, 7}}};
  json ranks = json::array();
  for (int rank = 0; rank < 8; ++rank) {
    ranks.push_back({{{"id", 0}, {"t", "coll"}, {"k", "AG"}, {"sz", 1 << 20}, {"pg", rank < 2 ? "1" : "2"}}});
  }
  input["trace"] = {{"ranks", ranks}};
  const auto got = Answer(input);
  ASSERT_TRUE(got.ok()) << got.error().message;
  const auto delay = static_cast<uint64_t>(500.0 + (1 << 20) / (50.0 * 1073741824.0 / 1e9));
  for (uint64_t rank = 0; rank < 8; ++rank) {
    const ClosedForm form{.n = rank < 2 ? 2u : 6u, .endpoint = 10, .delay = delay, .reduction = 0};
    EXPECT_EQ(got->ranks[rank].finish, form.Ring("AG")) << rank;
  }
  EXPECT_EQ(got->method, "symmetry of 2 classes of ranks");
}

// Two switches with one cable between them: flows that share it queue, flows beside it do not.
TEST(LinkGraph, FlowsOnOneLinkTakeTurns) {
  json input = OneCollective("AR", 1, "ring", "Switch", 4);
  input["be"] = "A";
  const auto message = [](const char* type, const char* peer, int other) {
    return json::array({{{"id", 0}, {"t", type}, {peer, other}, {"sz", 1 << 20}}});
  };
  const auto finish = [&](bool shared) {
    // 0 and 1 are attached to device 4, 2 and 3 on device 5.
    input["trace"] = {{"ranks", shared ? json::array({message("send", "to", 2), message("send", "to", 3),
                                                      message("recv", "fr", 0), message("recv", "fr", 1)})
                                       : json::array({message("send", "to", 1), message("recv", "fr", 0),
                                                      message("send", "to", 3), message("recv", "fr", 2)})}};
    const auto got = Answer(input, [](SimulateOptions& options) {
      options.graph = hardware::LinkGraph{.npus = 4, .devices = 6, .links = {}};
      for (const auto& [a, b] : {std::pair(0u, 4u), {1u, 4u}, {2u, 5u}, {3u, 5u}, {4u, 5u}}) {
        options.graph->links.push_back({.from = a, .to = b, .bandwidth = 50, .latency = 0});
        options.graph->links.push_back({.from = b, .to = a, .bandwidth = 50, .latency = 0});
      }
    });
    EXPECT_TRUE(got.ok());
    return got->finish();
  };
  const auto once = static_cast<uint64_t>((1 << 20) / (50.0 * 1073741824.0 / 1e9));
  EXPECT_EQ(finish(false), 2 * once);  // up and down
  EXPECT_EQ(finish(true), 4 * once);   // up, the cable twice in turn, down
}

TEST(CommunicationStreams, ConserveBytesAndNeverTakeLonger) {
  json input = OneCollective("AR", 1 << 20, "ring", "Switch", 4);
  input["sys"]["active-chunks-per-dimension"] = 4;
  for (int id = 1; id < 4; ++id) {
    input["trace"]["all"].push_back({{"id", id}, {"t", "coll"}, {"k", "AR"}, {"sz", 1 << (18 + id)}});
  }
  uint64_t finish = ~uint64_t{0};
  uint64_t bytes = 0;
  for (const uint32_t streams : {1u, 2u, 4u}) {
    const auto got = Answer(input, [&](SimulateOptions& options) {
      options.communication_streams = streams;
      options.record_links = true;
    });
    ASSERT_TRUE(got.ok());
    EXPECT_LE(got->finish(), finish);
    finish = got->finish();
    ASSERT_EQ(got->links.size(), 1u);
    EXPECT_TRUE(bytes == 0 || got->links[0].bytes == bytes) << streams;
    bytes = got->links[0].bytes;
  }
}

TEST(LinkGraph, OfADimensionGivesTheSameTicks) {
  for (const char* topology : {"FullyConnected", "Switch", "Ring"}) {
    for (const char* kind : {"AR", "AG", "RS", "A2A"}) {
      json input = OneCollective(kind, 3'000'001, "direct", topology, 5);  // odd: no tie between the ways round a ring
      input["be"] = "A";
      const auto built_in = Answer(input);
      const auto routed = Answer(
          input, [&](SimulateOptions& options) { options.graph = hardware::LinkGraphOf(BuildCase(input)->system); });
      ASSERT_TRUE(built_in.ok() && routed.ok());
      EXPECT_EQ(network_test::Answer(*built_in), network_test::Answer(*routed)) << topology << " " << kind;
    }
  }
}

json OneMessage(const std::string& topology) {
  json input = OneCollective("AR", 1, "ring", topology, 4);
  input["be"] = "A";
  json idle = json::array({{{"id", 0}, {"t", "comp"}, {"us", 1}}});
  input["trace"] = {{"ranks",
                     {{{{"id", 0}, {"t", "send"}, {"to", 1}, {"sz", 1000}}},
                      {{{"id", 0}, {"t", "recv"}, {"fr", 0}, {"sz", 1000}}},
                      idle,
                      idle}}};
  return input;
}

TEST(LinkFailure, TheMessageGoesTheOtherWayRound) {
  const json input = OneMessage("Ring");
  const uint64_t hop = static_cast<uint64_t>(500.0 + 1000 / (50.0 * 1073741824.0 / 1e9));
  EXPECT_EQ(Answer(input)->ranks[1].finish, hop);
  const auto detour = Answer(input, [](SimulateOptions& options) { options.failed_links = {{0, 1}}; });
  ASSERT_TRUE(detour.ok());
  EXPECT_EQ(detour->ranks[1].finish, 3 * hop);
}

TEST(LinkFailure, NoPathIsAnError) {
  const auto cut = Answer(OneMessage("Ring"), [](SimulateOptions& options) {
    options.failed_links = {{0, 1}, {0, 3}};
  });
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().message, HasSubstr("NPU 0 cannot reach NPU 1"));
}

json TwoComputes() {
  json input = OneCollective("AR", 1 << 16, "ring", "Ring", 4);
  input["trace"] = {{"all",
                     {{{"id", 0}, {"t", "comp"}, {"us", 100}},
                      {{"id", 1}, {"t", "coll"}, {"k", "AR"}, {"sz", 1 << 16}, {"d", {0}}}}}};
  return input;
}

TEST(Stragglers, TheCollectiveWaitsForTheSlowRank) {
  const auto even = Answer(TwoComputes());
  const auto slow = Answer(TwoComputes(), [](SimulateOptions& options) {
    options.compute_scale = {1, 1, 3, 1};
    options.record_nodes = true;
    options.explain = true;
  });
  ASSERT_TRUE(even.ok() && slow.ok());
  EXPECT_GE(slow->finish(), even->finish() + 200'000);
  EXPECT_EQ(slow->ranks[2].gpu, 300'000u);
  ASSERT_EQ(slow->collectives.size(), 1u);
  EXPECT_EQ(slow->collectives[0].last_member, 2u);
  EXPECT_EQ(slow->collectives[0].waited, 200'000u);
  EXPECT_EQ(slow->critical_path.front().rank, 2u);
}

TEST(Noise, IsReproducibleAndHasTheMeanOfOne) {
  json nodes = json::array();
  for (int i = 0; i < 4000; ++i) nodes.push_back({{"id", i}, {"t", "comp"}, {"us", 1000}});
  json input = TwoComputes();
  input["trace"] = {{"all", nodes}};
  const auto run = [&](uint64_t seed) {
    return Answer(input,
                  [&](SimulateOptions& options) {
                    options.noise = 0.2;
                    options.noise_seed = seed;
                  })
        ->finish();
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
  EXPECT_NEAR(static_cast<double>(run(1)), 4e9, 0.02 * 4e9);
}

TEST(CommunicationStreams, IndependentCollectivesOverlap) {
  json input = OneCollective("AG", 1 << 20, "ring", "Switch", 4);
  input["sys"]["active-chunks-per-dimension"] = 4;
  input["trace"]["all"].push_back({{"id", 1}, {"t", "coll"}, {"k", "AG"}, {"sz", 1 << 20}});
  const auto one = Answer(input);
  const auto two = Answer(input, [](SimulateOptions& options) { options.communication_streams = 2; });
  ASSERT_TRUE(one.ok() && two.ok());
  EXPECT_EQ(2 * two->finish(), one->finish());
}

// Nodes 1 and 3 are collectives, 2 and 4 computation; all but the last could begin when node 0 ends.
result::SimResult InComputeStream(const std::vector<uint64_t>& marked, uint32_t streams = 1) {
  json input = OneCollective("AR", 1 << 20, "ring", "Switch", 4);
  const json all_reduce = {{"t", "coll"}, {"k", "AR"}, {"sz", 1 << 20}, {"d", {0}}};
  const json compute = {{"t", "comp"}, {"us", 1000}, {"d", {0}}};
  json nodes = {{{"t", "comp"}, {"us", 10}}, all_reduce, compute, all_reduce, compute};
  for (size_t id = 0; id < nodes.size(); ++id) nodes[id]["id"] = id;
  input["trace"] = {{"all", nodes}};
  Result<Case> built = BuildCase(input);
  for (const uint64_t id : marked) built->trace.programs[0].nodes[id].tag = trace::kInComputeStream;
  built->options.communication_streams = streams;
  built->options.record_nodes = true;
  Diagnostics diagnostics;
  return *simulate::Simulate(built->trace, built->system, built->options, diagnostics);
}

TEST(ComputeStream, HoldsComputationBehindItsCollectives) {
  const uint64_t free = InComputeStream({}).finish();
  const result::SimResult both = InComputeStream({1, 3});
  EXPECT_EQ(free, 2'010'000u);  // collectives are hidden
  EXPECT_EQ(both.ranks[0].overlap.value_or(0), 0u);
  EXPECT_EQ(both.finish(), free + *both.ranks[0].comm);
  EXPECT_EQ(InComputeStream({1, 3}, 2).finish(), both.finish());
  EXPECT_EQ(InComputeStream({1}).finish(), free + *both.ranks[0].comm / 2);
  EXPECT_EQ(InComputeStream({3}).finish(), free + *both.ranks[0].comm / 2);
}

TEST(StreamIds, GroupsOfUnequalUseNeedSeparateOnes) {
  json input = OneCollective("AR", 1 << 16, "ring", "Switch", 4);
  const json last = {{"id", 9}, {"t", "coll"}, {"k", "AR"}, {"sz", 4096}, {"d", {0}}};
  const json in_group = {{"id", 0}, {"t", "coll"}, {"k", "AR"}, {"sz", 4096}, {"pg", "1"}};
  const json alone = {{"id", 0}, {"t", "comp"}, {"us", 1}};
  input["groups"] = {{"1", {0, 1, 2}}};
  input["trace"] = {{"ranks", {{in_group, last}, {in_group, last}, {in_group, last}, {alone, last}}}};
  const auto as_there = Answer(input);
  ASSERT_FALSE(as_there.ok());
  EXPECT_THAT(as_there.error().message, HasSubstr("waits for"));
  EXPECT_TRUE(Answer(input, [](SimulateOptions& options) { options.separate_stream_ids = true; }).ok());
}

TEST(Resolution, PicosecondsAgreeWhereDurationsAreWhole) {
  const auto ns = Answer(TwoComputes());
  for (const auto engine : {simulate::Engine::kEvents, simulate::Engine::kSymmetry}) {
    const auto ps = Answer(TwoComputes(), [&](SimulateOptions& options) {
      options.resolution = simulate::Resolution::kPicosecond;
      options.engine = engine;
    });
    ASSERT_TRUE(ns.ok() && ps.ok());
    EXPECT_EQ(ps->finish(), 1000 * ns->finish());
    EXPECT_EQ(ps->time(ps->finish()), ns->time(ns->finish()));
  }
}

}  // namespace
}  // namespace hespas::network_test
