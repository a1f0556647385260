// Mixture of experts and the rarer collectives: who exchanges how many bytes with whom, from first principles.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

#include "driver/pipeline/run.h"

namespace hespas {
namespace {

using testing::UnorderedElementsAre;
using trace::Collective;
using trace::NodeKind;

// What one device does in the program's communication, in order.
struct Exchange {
  NodeKind kind = NodeKind::kInvalid;
  Collective collective = Collective::kAllReduce;
  int64_t bytes = 0;
  std::vector<uint32_t> members;
};

class Program {
 public:
  explicit Program(const std::string& text, driver::Assumptions assumptions = {}) {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("hespas_experts_{}.mlir", getpid());
    std::ofstream(path) << text;
    driver::RunOptions options{.program = {.path = path, .assumptions = std::move(assumptions)},
                               .device = {.name = "A100_SXM_40GB"},
                               .optimise = {.mode = driver::OptimiseMode::kNone},
                               .estimate = {.estimator = "roofline"}};
    Diagnostics diagnostics;
    const auto prepared = driver::Prepare(options, diagnostics);
    const auto estimated = prepared ? driver::EstimateBlocks(options, *prepared, diagnostics) : std::nullopt;
    auto traces =
        estimated ? driver::AssembleTraces(options, *prepared, *estimated, nullptr, diagnostics) : std::nullopt;
    if (traces) traces_ = *std::move(traces);
    for (const Diagnostic& found : diagnostics.all()) ADD_FAILURE() << Render(found);
    std::filesystem::remove(path);
  }

  size_t devices() const { return traces_.program_of_rank.size(); }

  std::vector<Exchange> Of(uint32_t rank) const {
    std::vector<Exchange> out;
    if (rank >= devices()) return out;
    for (const trace::Node& node : traces_.ProgramOf(rank).nodes) {
      if (node.kind == NodeKind::kCompute) continue;
      Exchange& exchange = out.emplace_back();
      exchange.kind = node.kind;
      exchange.collective = node.collective;
      exchange.bytes = node.size.value;
      const auto group = traces_.groups.find(traces_.GroupOf(rank, node));
      if (node.kind != NodeKind::kCollective) {
        exchange.members = {static_cast<uint32_t>(traces_.PeerOf(rank, node))};
      } else if (group != traces_.groups.end()) {
        exchange.members = group->second;
      } else {
        for (uint32_t r = 0; r < devices(); ++r) exchange.members.push_back(r);
      }
    }
    return out;
  }

  // The only one.
  Exchange One(uint32_t rank) const {
    const auto all = Of(rank);
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? Exchange() : all[0];
  }

 private:
  trace::TraceGraph traces_;
};

std::string Module(int partitions, const std::string& signature, const std::string& body,
                   const std::string& before = "") {
  return fmt::format("module @m attributes {{mhlo.num_partitions = {} : i32}} {{\n{}func.func @main{} {{\n{}\n}}\n}}\n",
                     partitions, before, signature, body);
}

// Four tokens' rows for each of the other experts: 16 x 8 floats are 512 bytes.
std::string AllToAll(const std::string& groups, int parts) {
  return Module(
      8, "(%x: tensor<16x8xf32>) -> tensor<16x8xf32>",
      fmt::format(
          R"(%r = "stablehlo.all_to_all"(%x) <{{split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = {} : i64,
                  replica_groups = dense<{}>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}}>
                  : (tensor<16x8xf32>) -> tensor<16x8xf32>
                return %r : tensor<16x8xf32>)",
          parts, groups));
}

TEST(Experts, AllToAllStaysWithinItsGroups) {
  const Program near(AllToAll("[[0,1,2,3],[4,5,6,7]]> : tensor<2x4xi64", 4));
  EXPECT_EQ(near.devices(), 8u);
  EXPECT_EQ(near.One(5).collective, Collective::kAllToAll);
  EXPECT_EQ(near.One(5).bytes, 16 * 8 * 4);
  EXPECT_THAT(near.One(5).members, UnorderedElementsAre(4, 5, 6, 7));
  const Program far(AllToAll("[[0,4],[1,5],[2,6],[3,7]]> : tensor<4x2xi64", 2));
  EXPECT_THAT(far.One(5).members, UnorderedElementsAre(1, 5));
}

// Reduce-scatter over either axis of a mesh of 2 x 4: groups as lists, as an iota, and as axes of a mesh.
std::string ReduceScatter(const std::string& groups, int parts) {
  return Module(8, fmt::format("(%x: tensor<16x8xf32>) -> tensor<{}x8xf32>", 16 / parts),
                fmt::format(R"(%r = "stablehlo.reduce_scatter"(%x) <{{scatter_dimension = 0 : i64, replica_groups = {},
                  channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}}> ({{
                  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                    %s = stablehlo.add %a, %b : tensor<f32>
                    stablehlo.return %s : tensor<f32>
                  }}) : (tensor<16x8xf32>) -> tensor<{}x8xf32>
                return %r : tensor<{}x8xf32>)",
                            groups, 16 / parts, 16 / parts),
                "sdy.mesh @mesh = <[\"data\"=2, \"tensor\"=4]>\n");
}

TEST(Experts, ReduceScatterOverEitherAxisOfAMesh) {
  const Program inner(ReduceScatter("dense<[[0,1,2,3],[4,5,6,7]]> : tensor<2x4xi64>", 4));
  EXPECT_EQ(inner.One(6).collective, Collective::kReduceScatter);
  EXPECT_EQ(inner.One(6).bytes, 16 * 8 * 4);
  EXPECT_THAT(inner.One(6).members, UnorderedElementsAre(4, 5, 6, 7));
  const Program outer(ReduceScatter("dense<[[0,4],[1,5],[2,6],[3,7]]> : tensor<4x2xi64>", 2));
  EXPECT_THAT(outer.One(6).members, UnorderedElementsAre(2, 6));
}

TEST(Experts, GroupsAsAxesOfAMesh) {
  const auto groups = [](const std::string& axes) {
    return fmt::format("#stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [{}]>", axes);
  };
  const Program inner(ReduceScatter(groups("#stablehlo.axis_ref<name = \"tensor\">"), 4));
  EXPECT_THAT(inner.One(6).members, UnorderedElementsAre(4, 5, 6, 7));
  const Program outer(ReduceScatter(groups("#stablehlo.axis_ref<name = \"data\">"), 2));
  EXPECT_THAT(outer.One(6).members, UnorderedElementsAre(2, 6));
  const Program both(
      ReduceScatter(groups("#stablehlo.axis_ref<name = \"data\">, #stablehlo.axis_ref<name = \"tensor\">"), 8));
  EXPECT_THAT(both.One(6).members, UnorderedElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

// 64 rows of 4 floats leave each device, wherever they go; the busiest one has more.
std::string RaggedAllToAll() {
  return Module(4, "(%x: tensor<64x4xf32>, %out: tensor<96x4xf32>, %o: tensor<4xi64>) -> tensor<96x4xf32>",
                R"(%r = stablehlo.custom_call @ragged_all_to_all(%x, %out, %o, %o, %o, %o) {api_version = 4 : i32,
                  backend_config = {replica_groups = dense<[[0,1],[2,3]]> : tensor<2x2xi64>}}
                  : (tensor<64x4xf32>, tensor<96x4xf32>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>, tensor<4xi64>) -> tensor<96x4xf32>
                return %r : tensor<96x4xf32>)");
}

TEST(Experts, RaggedAllToAllMovesItsRowsAndTheBusiestDeviceMore) {
  const Program even(RaggedAllToAll());
  EXPECT_EQ(even.One(3).collective, Collective::kAllToAll);
  EXPECT_EQ(even.One(3).bytes, 64 * 4 * 4);
  EXPECT_THAT(even.One(3).members, UnorderedElementsAre(2, 3));
  const Program skewed(RaggedAllToAll(), {.moe_imbalance = 1.5});
  EXPECT_EQ(skewed.One(3).bytes, 64 * 4 * 4 * 3 / 2);
}

// One device's 4,096 bytes go to the three others: each passes on a quarter to all, as in the all-gather half of an
// all-reduce.
TEST(Experts, ABroadcastIsTheGatherOfItsParts) {
  const Program program(
      Module(4, "(%x: tensor<1024xf32>) -> tensor<1024xf32>",
             R"(%r = "stablehlo.collective_broadcast"(%x) <{replica_groups = dense<[[2,0,1,3]]> : tensor<1x4xi64>,
                                 channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<1024xf32>) -> tensor<1024xf32>
                               return %r : tensor<1024xf32>)"));
  EXPECT_EQ(program.One(0).collective, Collective::kAllGather);
  EXPECT_EQ(program.One(0).bytes, 4096 / 4);
  EXPECT_EQ(program.One(0).members.size(), 4u);
}

// The pair is one collective; what stands between does not wait for it.
TEST(Experts, AnAsynchronousPairIsOneCollective) {
  const Program program(Module(
      4, "(%x: tensor<16x8xf32>) -> tensor<64x8xf32>",
      R"(%f = "mhlo.async_start"(%x) <{called_computation = @gather, execution_thread = "main"}> : (tensor<16x8xf32>) -> !mhlo.async_bundle<tensor<16x8xf32>, tensor<64x8xf32>>
         %y = stablehlo.tanh %x : tensor<16x8xf32>
         %r = "mhlo.async_done"(%f) : (!mhlo.async_bundle<tensor<16x8xf32>, tensor<64x8xf32>>) -> tensor<64x8xf32>
         return %r : tensor<64x8xf32>)",
      R"(func.func private @gather(%x: tensor<16x8xf32>) -> tensor<64x8xf32> attributes {execution_thread = "main"} {
         %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>,
           channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> : (tensor<16x8xf32>) -> tensor<64x8xf32>
         return %r : tensor<64x8xf32>
       }
)"));
  EXPECT_EQ(program.One(1).collective, Collective::kAllGather);
  EXPECT_EQ(program.One(1).bytes, 16 * 8 * 4);
}

// Devices 0 and 1 exchange a message before all exchange in pairs: three kinds of devices, whose groups all have other
// numbers.
TEST(Experts, DevicesOfDifferentProgramsMeet) {
  const auto program = [](const std::string& pairs) {
    return Module(8, "(%x: tensor<1024xf32>) -> tensor<1024xf32>",
                  fmt::format(R"(%y = "stablehlo.collective_permute"(%x) <{{source_target_pairs = dense<{}xi64>,
                    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}}> : (tensor<1024xf32>) -> tensor<1024xf32>
                  %r = "stablehlo.all_reduce"(%y) <{{replica_groups = dense<[[0,2],[1,3],[4,6],[5,7]]> : tensor<4x2xi64>,
                    channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, use_global_device_ids}}> ({{
                    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
                      %s = stablehlo.add %a, %b : tensor<f32>
                      stablehlo.return %s : tensor<f32>
                    }}) : (tensor<1024xf32>) -> tensor<1024xf32>
                  return %r : tensor<1024xf32>)",
                              pairs));
  };
  const auto time = [&](const std::string& pairs) {
    const auto path = std::filesystem::temp_directory_path() / fmt::format("hespas_meet_{}.mlir", getpid());
    std::ofstream(path) << program(pairs);
    Diagnostics diagnostics;
    const auto result = driver::Run(
        {.program = {.path = path}, .device = {.name = "A100_SXM_40GB"}, .system = {.name = "A100_SXM_40GB_8GPU"}},
        diagnostics);
    for (const Diagnostic& found : diagnostics.all()) ADD_FAILURE() << Render(found);
    std::filesystem::remove(path);
    return result ? result->step_time : Time();
  };
  const Time one = time("[[0,1]]> : tensor<1x2");
  EXPECT_GT(one, Time());
  EXPECT_EQ(one, time("[[0,1],[2,3],[4,5],[6,7]]> : tensor<4x2"));
}

// A permute is a send where the device is a source and a receive where it is a target.
TEST(Experts, APermuteIsPairedSendsAndReceives) {
  const Program program(Module(
      4, "(%x: tensor<1024xf32>) -> tensor<1024xf32>",
      R"(%r = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<[[0,1],[1,2],[2,3]]> : tensor<3x2xi64>,
                                 channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<1024xf32>) -> tensor<1024xf32>
                               return %r : tensor<1024xf32>)"));
  const auto kinds = [&](uint32_t rank) {
    std::multiset<std::pair<NodeKind, uint32_t>> out;
    for (const Exchange& exchange : program.Of(rank)) {
      EXPECT_EQ(exchange.bytes, 4096);
      out.emplace(exchange.kind, exchange.members[0]);
    }
    return out;
  };
  using Kinds = std::multiset<std::pair<NodeKind, uint32_t>>;
  EXPECT_EQ(kinds(0), (Kinds{{NodeKind::kSend, 1}}));
  EXPECT_EQ(kinds(1), (Kinds{{NodeKind::kReceive, 0}, {NodeKind::kSend, 2}}));
  EXPECT_EQ(kinds(3), (Kinds{{NodeKind::kReceive, 2}}));
}

}  // namespace
}  // namespace hespas
