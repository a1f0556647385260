#include "network/calibrated.h"

#include <gtest/gtest.h>

#include <numeric>

#include "hardware/model_file.h"
#include "hardware/presets.h"
#include "network/astra_sim.h"
#include "network/priced_run.h"
#include "simulate/collective/analytical.h"
#include "trace/asynchronous.h"

namespace hespas::network {
namespace {

using hardware::DimensionKind;
using hardware::NetworkDimension;
using hardware::System;

constexpr double kGiga = 1073741824.0;  // a link's GB

class CalibratedNetwork : public ::testing::Test {
 protected:
  hardware::Device Load(const char* name) {
    Diagnostics diagnostics;
    auto device = hardware::LoadDevice(name, diagnostics);
    EXPECT_TRUE(device);
    return device.value_or(hardware::Device{});
  }
  Price Of(const System& system, Operation op, double bytes, std::vector<uint32_t> members) {
    return CalibratedModel(device_, system, *DefaultNetworkConstants()).PriceOf({.op = op, .bytes = bytes}, members);
  }
  Price Of(const System& system, trace::Collective collective, int64_t bytes) {
    const trace::Node node{.kind = trace::NodeKind::kCollective, .collective = collective, .size = Bytes(bytes)};
    return CalibratedModel(device_, system, *DefaultNetworkConstants())
        .PriceOf(node, First(static_cast<uint32_t>(system.npus())));
  }
  static std::vector<uint32_t> First(uint32_t count) {
    std::vector<uint32_t> ranks(count);
    std::iota(ranks.begin(), ranks.end(), 0u);
    return ranks;
  }
  static NetworkDimension Switch(uint32_t npus, double bytes_per_second, double latency = 1000) {
    return {.kind = DimensionKind::kSwitch, .npus = npus, .bandwidth = bytes_per_second / kGiga, .latency = latency};
  }
  static NetworkDimension Ring(uint32_t npus, double bytes_per_second, bool open = false) {
    return {.kind = DimensionKind::kRing,
            .npus = npus,
            .bandwidth = bytes_per_second / kGiga,
            .latency = 1000,
            .open = open};
  }
  hardware::Device device_ = Load("H100_80GB");
};

// NCCL 2.27.3 on four A100, all-gather: 22.5 us of 1 MiB with LL, 52.7 us of 2 MiB with Simple (both measured).
TEST_F(CalibratedNetwork, PricesJumpWhereNcclChangesProtocol) {
  device_ = Load("A100_SXM_80GB");
  const System system{.name = "4", .dimensions = {Switch(4, 300e9)}};
  const auto price = [&](double bytes) { return Of(system, Operation::kAllGather, bytes, First(4)); };
  EXPECT_NEAR(price(1 << 20).time.seconds() * 1e6, 22.5, 2.3);
  EXPECT_NEAR(price(2 << 20).time.seconds() * 1e6, 52.7, 5.3);
  EXPECT_GT(price(2 << 20).start_us, 5 * price(1 << 20).start_us);
  EXPECT_EQ(price(1 << 20).ramp_us, 0);
  EXPECT_GT(price(2 << 20).ramp_us, 0);
  EXPECT_EQ(Of(system, Operation::kAllToAll, 1 << 20, First(4)).start_us, 0);
}

// 64 hosts of 8 GPUs with an adapter of 50 GB/s each: the adapters of a host together, not one of them, nor the
// harmonic sum of the levels.
TEST_F(CalibratedNetwork, RailsOfAHostCarryAnAllGatherTogether) {
  const System system{.name = "8x64", .dimensions = {Switch(8, 450e9), Switch(64, 50e9, 2000)}};
  const double bytes = 4e9;
  const Price price = Of(system, Operation::kAllGather, bytes, First(512));
  const double rails = bytes * (511.0 / 512) / (8 * 50e9 * 0.92) * 1e6;
  EXPECT_NEAR(price.wire_us, rails, 0.02 * rails);
  EXPECT_EQ(price.Bound(), "bandwidth of dimension 1");
  ASSERT_EQ(price.levels.size(), 2u);
  EXPECT_LT(price.wire_us, price.levels[0].wire_us + price.levels[1].wire_us);
}

TEST_F(CalibratedNetwork, SmallMessagesAreBoundByLatency) {
  const System system{.name = "8x64", .dimensions = {Switch(8, 450e9), Switch(64, 50e9, 2000)}};
  const Price price = Of(system, Operation::kAllReduce, 1024, First(512));
  EXPECT_EQ(price.Bound(), "latency");
  EXPECT_EQ(price.algorithm, "tree");  // 2 log2 64 messages between hosts, not 126
  EXPECT_EQ(price.levels[1].hops, 12);
}

TEST_F(CalibratedNetwork, LargeAllReducesOfAHostAreReducedInItsSwitch) {
  const System system{.name = "8", .dimensions = {Switch(8, 450e9)}};
  const Price price = Of(system, Operation::kAllReduce, 1e9, First(8));
  EXPECT_EQ(price.algorithm, "NVLS");
  const CalibratedModel model(device_, system, *DefaultNetworkConstants());
  const std::vector<uint32_t> members = First(8);
  EXPECT_GT(model.PriceOf({.op = Operation::kAllReduce, .bytes = 1e9, .reducible_in_switch = false}, members).time,
            price.time);
  EXPECT_EQ(Of(system, Operation::kAllReduce, 1e9, First(4)).algorithm, "ring");
}

// jax-ml/scaling-book 0819a7d: V / (2 k W) over k axes with wrap-around links, twice that without; an all-reduce twice,
// an all-to-all a quarter.
TEST_F(CalibratedNetwork, TorusesMoveDataOverAllAxesInBothDirections) {
  device_ = Load("TPUv5p");
  device_.calibration.clear();
  const double bytes = 1e9;
  const auto wire = [&](std::vector<NetworkDimension> dimensions, Operation op) {
    const System system{.name = "slice", .dimensions = std::move(dimensions)};
    return Of(system, op, bytes, First(static_cast<uint32_t>(system.npus()))).wire_us;
  };
  const auto cube = [&](bool open) { return std::vector(3, Ring(8, 90e9, open)); };
  const double closed = wire(cube(false), Operation::kAllGather);
  const auto& links = DefaultNetworkConstants()->Of("ICI");
  const double own = links.of(Operation::kAllGather).own_share;
  EXPECT_NEAR(closed,
              bytes * (511 + own) / 512 /
                  (6 * 90e9 * links.of(Operation::kAllGather).link_fraction *
                   DefaultNetworkConstants()->ExpectedOf("ICI").share) *
                  1e6,
              1e-6 * closed);
  EXPECT_NEAR(wire(cube(true), Operation::kAllGather), 2 * closed, 1e-9 * closed);
  // Of a ring's 8 places an eighth of the data each: V n / 8 through either of two links in the middle.
  const double ring = wire({Ring(8, 90e9)}, Operation::kAllToAll);
  EXPECT_NEAR(wire({Ring(8, 90e9, true)}, Operation::kAllToAll), 2 * ring, 0.1 * ring);
}

TEST_F(CalibratedNetwork, APermuteTakesOneHopOverTheOutermostLevel) {
  const System system{.name = "8x2", .dimensions = {Switch(8, 450e9), Switch(2, 50e9, 2000)}};
  const Price near = Of(system, Operation::kPermute, 1e8, {0, 1});
  const Price far = Of(system, Operation::kPermute, 1e8, {7, 8});
  ASSERT_EQ(near.levels.size(), 1u);
  ASSERT_EQ(far.levels.size(), 1u);
  EXPECT_EQ(near.levels[0].hops, 1);
  EXPECT_EQ(far.levels[0].dimension, 1u);
  EXPECT_GT(far.wire_us, 5 * near.wire_us);
}

// NCCL, src/graph/tuning.cc: a broadcast is a chain that carries the buffer once. A gather fills the links of one rank.
TEST_F(CalibratedNetwork, BroadcastsAndGathersOfForeignTraces) {
  const System system{.name = "8", .dimensions = {Switch(8, 450e9)}};
  const Price broadcast = Of(system, trace::Collective::kBroadcast, 800'000'000);
  const Price gathered = Of(system, Operation::kAllGather, 8e8, First(8));
  EXPECT_EQ(broadcast.algorithm, "chain");
  EXPECT_NEAR(broadcast.wire_us, gathered.wire_us, 0.2 * gathered.wire_us);
  EXPECT_EQ(Of(system, trace::Collective::kReduce, 800'000'000).wire_us, broadcast.wire_us);
  const Price gather = Of(system, trace::Collective::kGather, 100'000'000);  // each rank's part
  EXPECT_EQ(gather.time, Of(system, trace::Collective::kScatter, 800'000'000).time);
  EXPECT_NEAR(gather.wire_us, gathered.wire_us, 0.2 * gathered.wire_us);
  // Between hosts one adapter receives what all others send.
  const System hosts{.name = "8x4", .dimensions = {Switch(8, 450e9), Switch(4, 50e9, 2000)}};
  EXPECT_GT(Of(hosts, trace::Collective::kGather, 10'000'000).wire_us,
            5 * Of(hosts, Operation::kAllGather, 3.2e8, First(32)).wire_us);
}

TEST_F(CalibratedNetwork, HostsOfOneDeviceAreNoSwitchOfNvLink) {
  System system{.name = "1x64", .dimensions = {Switch(64, 50e9)}};
  const Price inside = Of(system, Operation::kAllReduce, 1e9, First(64));
  system.dimensions[0].between_hosts = true;
  const Price between = Of(system, Operation::kAllReduce, 1e9, First(64));
  EXPECT_EQ(inside.algorithm, "NVLS");
  EXPECT_NE(between.algorithm, "NVLS");
  EXPECT_GT(between.latency_us, inside.latency_us / 10);
  EXPECT_GT(between.wire_us, 2 * 1e9 * 63 / 64 / 50e9 * 1e6);
}

// NCCL's rings: N - 1 messages, of which one for each further host passes its adapters (src/graph/tuning.cc).
TEST_F(CalibratedNetwork, ARingPassesAllRanksOfEachHost) {
  const System system{.name = "8x4x2", .dimensions = {Switch(8, 450e9), Switch(4, 50e9, 2000), Switch(2, 25e9, 3000)}};
  const Price price = Of(system, Operation::kAllGather, 1e6, First(64));
  ASSERT_EQ(price.levels.size(), 3u);
  EXPECT_EQ(price.levels[0].hops, 7 * 8);
  EXPECT_EQ(price.levels[1].hops, 3 * 2);
  EXPECT_EQ(price.levels[2].hops, 1);
  const Price reduced = Of(system, Operation::kAllReduce, 1024, First(64));
  EXPECT_EQ(reduced.algorithm, "tree");
  EXPECT_EQ(reduced.levels[0].hops, 2 * 7);
}

TEST_F(CalibratedNetwork, SocketsTakeLongerThanRdma) {
  System system{.name = "8x2", .dimensions = {Switch(8, 450e9), Switch(2, 12.5e9)}};
  const Price rdma = Of(system, Operation::kAllGather, 1e8, First(16));
  system.dimensions[1].between_hosts = system.dimensions[1].tcp = true;
  const Price tcp = Of(system, Operation::kAllGather, 1e8, First(16));
  EXPECT_GT(tcp.wire_us, rdma.wire_us);
  const double ring = 1e8 * 15 / 16 / (8 * 12.5e9 * 0.75) * 1e6;
  EXPECT_NEAR(tcp.wire_us, ring, 0.05 * ring);
  EXPECT_NEAR(tcp.levels[1].latency_us, 15, 0.1);  // 14 and the link's own
  EXPECT_EQ(Of(system, Operation::kAllReduce, 1e3, First(16)).algorithm, "ring");
  EXPECT_EQ(Of(system, Operation::kAllReduce, 1e9, First(16)).algorithm, "ring");
}

TEST_F(CalibratedNetwork, OneSlowAdapterSlowsTheGroupsThatHaveIt) {
  const System system{.name = "8x4", .dimensions = {Switch(8, 450e9), Switch(4, 50e9, 2000)}};
  const auto wire = [&](const hardware::LinkTexts& texts, std::vector<uint32_t> members) {
    const auto faults = hardware::ParseLinkFaults(texts, system);
    EXPECT_TRUE(faults);
    const CalibratedModel model(device_, system, *DefaultNetworkConstants(), *faults);
    return model.PriceOf({.op = Operation::kAllGather, .bytes = 1e9}, members).wire_us;
  };
  const double whole = wire({}, First(32));
  EXPECT_NEAR(wire({.slow = {"5@1=0.5"}, .failed = {}}, First(32)), 2 * whole, 0.05 * whole);
  EXPECT_NEAR(wire({.slow = {}, .failed = {"5@1"}}, First(32)), whole * 8 / 7,
              0.01 * whole);                                                           // seven adapters carry all
  EXPECT_EQ(wire({.slow = {"5@1=0.5"}, .failed = {}}, First(8)), wire({}, First(8)));  // within the host
  EXPECT_EQ(wire({.slow = {"5@1=0.5"}, .failed = {}}, {0, 8, 16, 24}), wire({}, {0, 8, 16, 24}));
  EXPECT_GT(wire({.slow = {"0@0=0.1"}, .failed = {}}, First(8)), 5 * wire({}, First(8)));
}

TEST_F(CalibratedNetwork, ARingWithoutALinkIsALine) {
  device_ = Load("TPUv5p");
  const System system{.name = "ring", .dimensions = {Ring(8, 90e9)}};
  const System line{.name = "line", .dimensions = {Ring(8, 90e9, true)}};
  const auto faults = hardware::ParseLinkFaults({.slow = {}, .failed = {"2-3"}}, system);
  ASSERT_TRUE(faults);
  const CalibratedModel model(device_, system, *DefaultNetworkConstants(), *faults);
  EXPECT_EQ(model.PriceOf({.op = Operation::kAllReduce, .bytes = 1e9}, First(8)).time,
            Of(line, Operation::kAllReduce, 1e9, First(8)).time);
}

TEST_F(CalibratedNetwork, WhatALineLostPassesTheLineBesideIt) {
  device_ = Load("TPUv5p");
  const System system{.name = "mesh", .dimensions = {Ring(4, 90e9, true), Ring(4, 90e9, true)}};
  const auto faults = hardware::ParseLinkFaults({.slow = {}, .failed = {"0-1"}}, system);
  ASSERT_TRUE(faults);
  const CalibratedModel model(device_, system, *DefaultNetworkConstants(), *faults);
  const auto wire = [&](std::vector<uint32_t> members) {
    return model.PriceOf({.op = Operation::kAllGather, .bytes = 1e9}, members).wire_us /
           Of(system, Operation::kAllGather, 1e9, members).wire_us;
  };
  EXPECT_NEAR(wire({0, 1, 2, 3}), 2, 1e-6);
  EXPECT_EQ(wire({12, 13, 14, 15}), 1);  // far from it
}

TEST_F(CalibratedNetwork, ALostLinkOutsideAPartOfARingDoesNotSlowThePart) {
  device_ = Load("TPUv5p");
  const auto slowdown = [&](const std::vector<hardware::NetworkDimension>& dimensions, const std::string& lost,
                            const std::vector<uint32_t>& members) {
    const System system{.name = "rings", .dimensions = dimensions};
    const auto faults = hardware::ParseLinkFaults({.slow = {}, .failed = {lost}}, system);
    EXPECT_TRUE(faults);
    const CalibratedModel model(device_, system, *DefaultNetworkConstants(), *faults);
    return model.PriceOf({.op = Operation::kAllGather, .bytes = 1e9}, members).wire_us /
           Of(system, Operation::kAllGather, 1e9, members).wire_us;
  };
  const std::vector ring = {Ring(16, 90e9)};
  EXPECT_EQ(slowdown(ring, "8-9", First(8)), 1);
  EXPECT_NEAR(slowdown(ring, "3-4", First(8)), 2, 1e-6);
  EXPECT_EQ(slowdown(ring, "15-0", First(8)), 1);
  EXPECT_NEAR(slowdown(ring, "15-0", {0, 1, 14, 15}), 2, 1e-6);  // beside each other over the closing link
  EXPECT_EQ(slowdown(ring, "7-8", {0, 1, 14, 15}), 1);
  EXPECT_EQ(slowdown({Ring(4, 90e9)}, "2-3", {0, 1}), 1);
  EXPECT_NEAR(slowdown({Ring(4, 90e9)}, "0-1", {0, 1}), 2, 1e-6);
  const std::vector mesh = {Ring(4, 90e9, true), Ring(4, 90e9, true)};
  EXPECT_EQ(slowdown(mesh, "2-3", {0, 1}), 1);
  EXPECT_EQ(slowdown(mesh, "1-2", {0, 1, 4, 5}), 1);  // of a level of two axes
  EXPECT_NEAR(slowdown(mesh, "1-2", {0, 3}), 2, 1e-6);
}

// XLA: collectives of a GPU are in one stream; a TPU's on other axes run at the same time.
TEST_F(CalibratedNetwork, CollectivesQueueByStreamOnGpusAndByDimensionOnTpus) {
  const System system{.name = "4x4", .dimensions = {Ring(4, 90e9), Ring(4, 90e9)}};
  const trace::Node node{
      .kind = trace::NodeKind::kCollective, .collective = trace::Collective::kAllGather, .size = Bytes(1 << 20)};
  const std::vector<uint32_t> rows = First(4);
  const std::vector<uint32_t> columns = {0, 4, 8, 12};
  const CalibratedModel gpu(device_, system, *DefaultNetworkConstants());
  EXPECT_EQ(gpu.Holds(node, rows), gpu.Holds(node, columns));
  const hardware::Device tpu = Load("TPUv5p");
  const CalibratedModel torus(tpu, system, *DefaultNetworkConstants());
  EXPECT_EQ(torus.Holds(node, rows) & torus.Holds(node, columns), 0u);
  EXPECT_EQ(torus.Holds(node, First(16)), torus.Holds(node, rows) | torus.Holds(node, columns));
}

// Of a TPU's collectives only gathers and permutes are asynchronous, unless the program tells others to be.
TEST_F(CalibratedNetwork, ReductionsHoldTheComputeUnitOfTpus) {
  const System system{.name = "4, 2 slices", .dimensions = {Ring(4, 90e9), Switch(2, 6e9)}};
  const hardware::Device tpu = Load("TPUv5p");
  const CalibratedModel model(tpu, system, *DefaultNetworkConstants());
  trace::Node node{.kind = trace::NodeKind::kCollective, .collective = trace::Collective::kAllReduce};
  const CalibratedModel gpu(device_, system, *DefaultNetworkConstants());
  for (const trace::Collective kind :
       {trace::Collective::kAllReduce, trace::Collective::kReduceScatter, trace::Collective::kAllToAll}) {
    node.collective = kind;
    node.tag = 0;
    EXPECT_TRUE(model.Holds(node, First(8)) & simulate::kHoldsCompute);
    EXPECT_TRUE(model.Holds(node, First(4)) & simulate::kHoldsCompute);
    EXPECT_FALSE(gpu.Holds(node, First(4)) & simulate::kHoldsCompute);
    node.tag = trace::kInComputeStream;
    EXPECT_TRUE(gpu.Holds(node, First(4)) & simulate::kHoldsCompute);
    node.tag = trace::kAsynchronous;
    EXPECT_FALSE(model.Holds(node, First(8)) & simulate::kHoldsCompute);
    node.tag = trace::kOnSparseCores;
    EXPECT_TRUE(model.Holds(node, First(8)) & simulate::kHoldsCompute);
    EXPECT_FALSE(model.Holds(node, First(4)) & simulate::kHoldsCompute);
  }
  node.tag = 0;
  const hardware::Device ironwood = Load("TPU7x_core");
  const CalibratedModel offloading(ironwood, system, *DefaultNetworkConstants());
  EXPECT_TRUE(offloading.Holds(node, First(8)) & simulate::kHoldsCompute);
  EXPECT_FALSE(offloading.Holds(node, First(4)) & simulate::kHoldsCompute);
  node.tag = trace::kOnTensorCores;
  EXPECT_TRUE(offloading.Holds(node, First(4)) & simulate::kHoldsCompute);
  node.tag = 0;
  node.collective = trace::Collective::kAllGather;
  EXPECT_FALSE(model.Holds(node, First(8)) & simulate::kHoldsCompute);
  const hardware::Device third = Load("TPUv3");
  node.collective = trace::Collective::kAllReduce;
  const CalibratedModel unheld(third, system, *DefaultNetworkConstants());
  EXPECT_FALSE(unheld.Holds(node, First(4)) & simulate::kHoldsCompute);
}

// Of two reduce-scatters of the same group the second runs beside the computation behind the first.
TEST_F(CalibratedNetwork, WhatATpuWaitsForIsToldNodeByNode) {
  const System system{.name = "4", .dimensions = {Ring(4, 90e9)}};
  const hardware::Device tpu = Load("TPUv5p");
  const CalibratedModel model(tpu, system, *DefaultNetworkConstants());
  trace::Node scatter{.id = 1,
                      .kind = trace::NodeKind::kCollective,
                      .collective = trace::Collective::kReduceScatter,
                      .size = Bytes(100'000'000)};
  const trace::Node computation{.id = 3, .duration = Time(1'000'000'000'000)};
  const auto overlap = [&](int32_t tag) {
    trace::TraceGraph traces;
    trace::Node second = scatter;
    second.id = 2;
    second.tag = tag;
    second.dependency_count = 1;
    traces.programs = {{.nodes = {scatter, second, computation}, .dependencies = {scatter.id}}};
    traces.program_of_rank = {0, 0, 0, 0};
    const auto result = SimulatePriced(traces, model, tpu, {}, {});
    return result.ok() ? result->ranks[0].overlap : 0;
  };
  EXPECT_EQ(overlap(0), 0u);
  EXPECT_GT(overlap(trace::kAsynchronous), 0u);
}

TEST_F(CalibratedNetwork, GroupsThatFillNoBoxSpanOuterLevels) {
  const System system{.name = "4x2", .dimensions = {Switch(4, 450e9), Switch(2, 50e9)}};
  const Price price = Of(system, Operation::kAllReduce, 1e8, {0, 5});
  ASSERT_EQ(price.levels.size(), 1u);
  EXPECT_EQ(price.levels[0].dimension, 1u);
  EXPECT_EQ(price.levels[0].ranks, 2);
}

TEST_F(CalibratedNetwork, UnknownGenerationsFollowTheNearest) {
  const NetworkConstants& constants = *DefaultNetworkConstants();
  EXPECT_EQ(constants.Of("NVLink 6").kind, "NVLink 5");
  EXPECT_EQ(constants.Of("NVLink 2").kind, "NVLink 3");
  EXPECT_EQ(constants.Of("NVLink 3 bridge").kind, constants.links.back().kind);
  EXPECT_EQ(constants.Of("").kind, constants.links.back().kind);
  EXPECT_EQ(constants.ExpectedOf("PCIe 5.0 x16").kind, "PCIe 3.0 x16");
  EXPECT_EQ(constants.ExpectedOf("NVLink 3 bridge").kind, "other");
}

// Hosts pass 132 Gbit/s through TCP, whether their adapters have 200 (v5p) or 400 (v6e).
TEST_F(CalibratedNetwork, SlicesAreBoundByTheirHosts) {
  constexpr double kBytes = 8e9;
  const auto wire = [&](const char* name, double adapter) {
    device_ = Load(name);
    const System system{.name = "2 slices", .dimensions = {Ring(4, 90e9), Switch(2, adapter)}};
    return Of(system, Operation::kAllReduce, kBytes, {0, 4}).wire_us;
  };
  const double v5p = wire("TPUv5p", 6.25e9);
  EXPECT_NEAR(v5p, kBytes / (0.66 * 6.25e9) * 1e6, 0.01 * v5p);
  const double v6e = wire("TPUv6e", 12.5e9);
  EXPECT_NEAR(v6e, v5p, 0.01 * v5p);
  EXPECT_NEAR(wire("TPUv6e", 25e9), v6e / 2, 0.01 * v6e);  // figures of a system always count
  EXPECT_NEAR(wire("TPU7x", 12.5e9), v5p, 0.01 * v5p);
  EXPECT_NEAR(wire("TPU7x_core", 6.25e9), 2 * v5p, 0.02 * v5p);  // two devices a chip share its part
}

// A host passes 132 Gbit/s, of whatever its vendor's network gives its four chips.
TEST_F(CalibratedNetwork, DataCentreFractionsAreOfTheReferenceNetwork) {
  const NetworkConstants& constants = *DefaultNetworkConstants();
  hardware::Device device = Load("TPUv6e");
  EXPECT_NEAR(constants.DataCentreOf(device).link_fraction, 132.0 / 400, 1e-9);
  device.name = "TPUv6e_mine";
  EXPECT_NEAR(constants.DataCentreOf(device).link_fraction, 132.0 / 400, 1e-9);
  device.name = "mine";  // no network is known for it
  EXPECT_EQ(constants.DataCentreOf(device).link_fraction, constants.data_centre.link_fraction);
  EXPECT_NEAR(constants.DataCentreOf(Load("TPU7x_core")).link_fraction, 132.0 / 400, 1e-9);
}

TEST_F(CalibratedNetwork, SaysWhatItTakesForGrantedOfUnknownHosts) {
  const System slices{.name = "2 slices", .dimensions = {Ring(4, 90e9), Switch(2, 6.25e9)}};
  const System slice{.name = "slice", .dimensions = {Ring(4, 90e9)}};
  const auto warnings = [&](const char* device, const char* name, const System& system) {
    device_ = Load(device);
    device_.name = name;
    Diagnostics diagnostics;
    CalibratedModel(device_, system, *DefaultNetworkConstants()).WarnOfAssumptions(diagnostics);
    return diagnostics.all();
  };
  const auto warned = warnings("TPUv5p", "mine", slices);
  ASSERT_EQ(warned.size(), 1u);
  EXPECT_EQ(warned[0].kind->code, kAssumedHosts.code);
  EXPECT_NE(warned[0].message.find("66 % of the 50 Gbit/s"), std::string::npos) << warned[0].message;
  EXPECT_TRUE(warnings("TPUv5p", "mine", slice).empty());
  EXPECT_TRUE(warnings("TPUv5p", "TPUv5p", slices).empty());
  EXPECT_TRUE(warnings("H100_80GB", "mine", slices).empty());
}

// A kernel starts as fast as its device does; H100's NVLink tells nothing of it to an A40 on PCIe.
TEST_F(CalibratedNetwork, LaunchIsThatOfTheGeneration) {
  const NetworkConstants& constants = *DefaultNetworkConstants();
  EXPECT_EQ(constants.LaunchOf("NVLink 3", 80).kind, "NVLink 3");
  EXPECT_EQ(constants.LaunchOf("PCIe 4.0 x16", 86).kind, "PCIe 4.0 x16");
  EXPECT_EQ(constants.LaunchOf("PCIe 5.0 x16", 120).kind, "NVLink 5");
  EXPECT_EQ(constants.LaunchOf("NVLink 2", 70).kind, "NVLink 3");  // no Volta was measured
  EXPECT_EQ(constants.LaunchOf("Infinity Fabric", 0).kind, "Infinity Fabric");
  NetworkConstants fewer = constants;
  std::erase_if(fewer.links, [](const LinkConstants& link) { return link.kind == "NVLink 3"; });
  EXPECT_EQ(fewer.Of("NVLink 3").kind, "NVLink 4");
  EXPECT_EQ(fewer.LaunchOf("NVLink 3", 80).kind, "PCIe 4.0 x16");
}

TEST(NetworkConstants, NamesWhatIsMissing) {
  const auto read = ReadNetworkConstants(R"({"schema_version": 1, "links": []})", "network.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind->code, kBadNetworkConstants.code);
}

// Each key of the shipped file in turn is misspelt; those that only some kinds of links have, too.
TEST(NetworkConstants, NoKeyIsSkippedInSilence) {
  const auto shipped = hardware::ReadModelFile("network.json");
  ASSERT_TRUE(shipped);
  ASSERT_TRUE(ReadNetworkConstants(shipped->text, "network.json"));
  size_t keys = 0;
  for (size_t end = shipped->text.find("\":"); end != std::string::npos; end = shipped->text.find("\":", end + 1)) {
    std::string text = shipped->text;
    text.insert(end, "x");
    const auto read = ReadNetworkConstants(text, "network.json");
    EXPECT_FALSE(read) << text.substr(text.rfind('"', end - 1), 40);
    ++keys;
  }
  EXPECT_GT(keys, 100u);
}

// What ASTRA-sim answers for one collective alone: 8 NPUs on a ring, 2 (n - 1) messages of an eighth.
TEST(AstraSimPrices, NameLatencyAndBandwidth) {
  System system{.name = "ring",
                .dimensions = {{.kind = DimensionKind::kRing, .npus = 8, .bandwidth = 50, .latency = 500}}};
  system.endpoint_delay = 1;
  system.dataset_splits = 1;
  for (auto& collective : system.collectives) collective.algorithms = {hardware::Algorithm{}};
  const trace::Node node{.kind = trace::NodeKind::kCollective, .size = Bytes(int64_t{1} << 30)};
  std::vector<uint32_t> members(8);
  std::iota(members.begin(), members.end(), 0u);
  const AstraSimModel model(system);
  const Price large = model.PriceOf(node, members);
  EXPECT_EQ(large.Bound(), "bandwidth of dimension 0");
  EXPECT_NEAR(large.time.seconds(), 14.0 / 8 / 50, 0.02 * 14 / 8 / 50);
  trace::Node small = node;
  small.size = Bytes(64);
  EXPECT_EQ(model.PriceOf(small, members).Bound(), "latency");
}

}  // namespace
}  // namespace hespas::network
