// Collectives as pairs of start and done, and the order in which everything runs.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "ir/facts/execution/asynchronous.h"
#include "ir/facts/execution/pipelined.h"
#include "optimise/schedule/latency_hiding.h"
#include "programs.h"

namespace hespas {
namespace {

using optimise::Role;
using testing::Contains;
using testing::ElementsAre;
using testing::IsSupersetOf;
using testing::Not;

// A layer whose weights are gathered, then another: the second gather fits after the first layer's matmuls.
constexpr const char* kTwoLayers = R"(
  func.func @main(%x: tensor<512x512xf32>, %a: tensor<128x512xf32>, %b: tensor<128x512xf32>) -> tensor<512x512xf32> {
    %wa = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<128x512xf32>) -> tensor<512x512xf32>
    %0 = stablehlo.dot_general %x, %wa, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %1 = stablehlo.tanh %0 : tensor<512x512xf32>
    %2 = stablehlo.dot_general %1, %wa, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    %3 = stablehlo.tanh %2 : tensor<512x512xf32>
    %wb = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 2, 1, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<128x512xf32>) -> tensor<512x512xf32>
    %4 = stablehlo.dot_general %3, %wb, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    return %4 : tensor<512x512xf32>
  })";

std::vector<std::string> Work(const ir::Module& module) {
  std::vector<std::string> names = Names(module);
  std::erase(names, "stablehlo.reshape");
  return names;
}

TEST(Schedule, ComputesWhileTheNextCollectiveIsUnderWay) {
  const ir::Module module = Optimised(kTwoLayers);
  EXPECT_THAT(Work(module), ElementsAre("mhlo.async_start", "mhlo.async_done", "mhlo.async_start",
                                        "stablehlo.custom_call", "mhlo.fusion", "stablehlo.custom_call", "mhlo.fusion",
                                        "mhlo.async_done", "stablehlo.custom_call"));
  EXPECT_EQ(driver::Summarise(module).collectives.at(0).count, 2);
}

TEST(Schedule, EachPassCanBeLeftOutAndLookedAt) {
  EXPECT_THAT(Names(Optimised(kTwoLayers, {.disabled = {"async-collectives"}})),
              IsSupersetOf({"stablehlo.all_gather", "stablehlo.all_gather"}));
  EXPECT_THAT(Names(Optimised(kTwoLayers, {.stop_after = "dce"})), Not(Contains("mhlo.async_start")));
  const auto paired = Names(Optimised(kTwoLayers, {.stop_after = "async-collectives"}));
  EXPECT_EQ(std::count(paired.begin(), paired.end(), "mhlo.async_start"), 2);
}

// A loop over layers whose weights are gathered, and whose activations are summed and kept.
constexpr const char* kLoop = R"(
  func.func @main(%x: tensor<512x512xf32>, %w: tensor<8x128x512xf32>) -> tensor<8x128x512xf32> {
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:4 = stablehlo.while(%i = %zero, %v = %x, %stack = %w, %kept = %w) : tensor<i32>, tensor<512x512xf32>, tensor<8x128x512xf32>, tensor<8x128x512xf32>
     cond {
      %end = stablehlo.constant dense<8> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %none = stablehlo.constant dense<0> : tensor<i32>
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.dynamic_slice %stack, %i, %none, %none, sizes = [1, 128, 512] : (tensor<8x128x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x128x512xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x128x512xf32>) -> tensor<128x512xf32>
      %3 = "stablehlo.all_gather"(%2) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<128x512xf32>) -> tensor<512x512xf32>
      %4 = stablehlo.dot_general %v, %3, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %5 = "stablehlo.reduce_scatter"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %9 = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %9 : tensor<f32>
      }) : (tensor<512x512xf32>) -> tensor<128x512xf32>
      %6 = stablehlo.reshape %5 : (tensor<128x512xf32>) -> tensor<1x128x512xf32>
      %7 = stablehlo.dynamic_update_slice %kept, %6, %i, %none, %none : (tensor<8x128x512xf32>, tensor<1x128x512xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<8x128x512xf32>
      %8 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %8, %4, %stack, %7 : tensor<i32>, tensor<512x512xf32>, tensor<8x128x512xf32>, tensor<8x128x512xf32>
    }
    return %0#3 : tensor<8x128x512xf32>
  })";

// Names of the body's ops that run beside other iterations.
std::vector<std::string> Pipelined(const optimise::XlaFlags& flags) {
  const ir::Module module = Optimised(kLoop, {.flags = flags});
  std::vector<std::string> names;
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (module.kind(op) != ir::OpKind::kWhile) continue;
    for (const ir::OpId inner : module.block(module.body(op, 1)).ops) {
      if (module.attribute(inner, ir::kPipelined) != nullptr) names.emplace_back(module.name(inner));
    }
  }
  return names;
}

TEST(Schedule, PipelinesTheLoopsCollectivesThatFlagsName) {
  EXPECT_THAT(Pipelined({}), testing::IsEmpty());
  EXPECT_THAT(Pipelined({.pipelined_all_gather = true}),
              testing::UnorderedElementsAre("mhlo.fusion", "stablehlo.reshape", "mhlo.async_start", "mhlo.fusion"));
  EXPECT_THAT(Pipelined({.pipelined_reduce_scatter = true}),
              testing::UnorderedElementsAre("mhlo.async_done", "mhlo.fusion", "mhlo.fusion"));  // done, update, counter
  EXPECT_THAT(Pipelined({.pipelined_all_reduce = true}), testing::IsEmpty());
}

TEST(Schedule, PlainStableHloHasNoAsyncPairs) {
  const auto names = Names(Optimised(kTwoLayers, {.expand_kernels = true}));
  EXPECT_EQ(std::count(names.begin(), names.end(), "stablehlo.all_gather"), 2);
  EXPECT_THAT(names, Not(Contains("mhlo.async_start")));
}

TEST(Schedule, ReducersStayInTheStart) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<512xf32>) -> tensor<512xf32> {
      %0 = "stablehlo.all_reduce"(%x) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<512xf32>) -> tensor<512xf32>
      return %0 : tensor<512xf32>
    })");
  EXPECT_THAT(Names(module), ElementsAre("mhlo.async_start", "mhlo.async_done"));
  const ir::OpId started = module.FindSymbol("async_0");
  ASSERT_TRUE(started.valid());
  EXPECT_EQ(module.name(module.block(module.body(started)).ops[0]), "stablehlo.all_reduce");
}

TEST(Schedule, CollectivesThatFlagsKeepInTheStreamOfTheComputationAreMarked) {
  const ir::Module module = Optimised(kTwoLayers, {.flags = {.synchronous = {ir::OpKind::kAllGather}}});
  EXPECT_THAT(Names(module), Not(Contains("mhlo.async_start")));
  size_t marked = 0;
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (module.kind(op) == ir::OpKind::kAllGather) marked += module.attribute(op, ir::kSynchronous) != nullptr;
  }
  EXPECT_EQ(marked, 2u);
  const auto others = Names(Optimised(kTwoLayers, {.flags = {.synchronous = {ir::OpKind::kAllReduce}}}));
  EXPECT_EQ(std::count(others.begin(), others.end(), "mhlo.async_start"), 2);
}

// XLA's greedy list runs what makes least first: small gathers before the large one that all else waits for.
TEST(Schedule, TpusGatherBeforeTheyCompute) {
  const ir::Module module = Optimised(R"(
    func.func @main(%x: tensor<8x4096xf32>, %big: tensor<1024x512xf32>, %a: tensor<128x512xf32>) -> (tensor<8x512xf32>, tensor<4096x4096xf32>) {
      %0 = "stablehlo.all_gather"(%big) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<1024x512xf32>) -> tensor<4096x512xf32>
      %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x4096xf32>, tensor<4096x512xf32>) -> tensor<8x512xf32>
      %2 = "stablehlo.all_gather"(%a) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> : (tensor<128x512xf32>) -> tensor<512x512xf32>
      %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<8x512xf32>, tensor<512x512xf32>) -> tensor<8x512xf32>
      %4 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8x4096xf32>, tensor<8x4096xf32>) -> tensor<4096x4096xf32>
      return %3, %4 : tensor<8x512xf32>, tensor<4096x4096xf32>
    })",
                                      {.target = optimise::Target::kTpu});
  EXPECT_THAT(Names(module),
              ElementsAre("stablehlo.all_gather", "stablehlo.all_gather", "mhlo.fusion", "mhlo.fusion", "mhlo.fusion"));
  EXPECT_EQ(module.type(module.result(module.block(module.body(module.main())).ops[0])).dims[0], 512);
}

// start -> done -> last, beside `count` ops of 1000 ticks in a row, each in a buffer of 100 bytes.
struct Chain {
  explicit Chain(uint32_t count) : dag(Make(count)) {
    for (uint32_t i = 0; i < dag.size(); ++i) order.push_back(i);
    roles.assign(dag.size(), Role::kWork);
    costs.assign(dag.size(), 1000);
    in_tuple.assign(dag.size(), false);
    roles[count] = Role::kStart;
    roles[count + 1] = Role::kDone;
    costs[count] = costs[count + 1] = 1;
  }
  static optimise::Dag Make(uint32_t count) {
    optimise::DagBuilder builder(count + 4);  // value `count + 3` is an argument
    for (uint32_t i = 0; i < count; ++i) {
      if (i > 0) builder.Read(i - 1);
      builder.Make(i, 100);
      builder.EndOp(false);
    }
    builder.Read(count + 3);
    builder.Make(count, 1000);
    builder.EndOp(false);
    builder.Read(count);
    builder.MakeView(count + 1, count);
    builder.EndOp(false);
    builder.Read(count - 1);
    builder.Read(count + 1);
    builder.Make(count + 2, 100);
    builder.EndOp(false);
    builder.Return(count + 2);
    return builder.Take();
  }
  size_t KernelsBetween(int64_t limit) const {
    const std::vector<uint32_t> hidden =
        optimise::HideLatency(
            {.dag = dag, .order = order, .roles = roles, .costs = costs, .in_tuple = in_tuple, .memory_limit = limit})
            .order;
    const auto start = std::find(hidden.begin(), hidden.end(), dag.size() - 3);
    const auto done = std::find(hidden.begin(), hidden.end(), dag.size() - 2);
    return static_cast<size_t>(done - start - 1);
  }

  optimise::Dag dag;
  std::vector<uint32_t> order;
  std::vector<Role> roles;
  std::vector<int64_t> costs;
  std::vector<bool> in_tuple;
};

// Nothing stands before the start, so that XLA begins it as early as it can.
TEST(HideLatency, OverlapsAllThatIsIndependent) { EXPECT_EQ(Chain(8).KernelsBetween(1 << 20), 8u); }

TEST(HideLatency, HoldsNoResultLongWhereMemoryIsShort) {
  EXPECT_EQ(Chain(8).KernelsBetween(500), 0u);
  EXPECT_EQ(Chain(8).KernelsBetween(1200), 8u);
}

TEST(HideLatency, EachOpRunsOnceAndAfterItsOperands) {
  const Chain chain(50);
  const std::vector<uint32_t> hidden = optimise::HideLatency({.dag = chain.dag,
                                                              .order = chain.order,
                                                              .roles = chain.roles,
                                                              .costs = chain.costs,
                                                              .in_tuple = chain.in_tuple,
                                                              .memory_limit = 0})
                                           .order;
  std::vector<size_t> at(chain.dag.size(), chain.dag.size());
  for (size_t i = 0; i < hidden.size(); ++i) at[hidden[i]] = i;
  ASSERT_EQ(hidden.size(), chain.dag.size());
  for (uint32_t op = 0; op < chain.dag.size(); ++op) {
    for (const uint32_t operand : chain.dag.operands[op]) EXPECT_LT(at[operand], at[op]);
  }
}

// XLA's own kernels of a step, in the order that XLA ran them in (schedule_oracle.py).
struct XlasStep {
  XlasStep() : dag(Read()) {}

  // Kernels in front of each start and done.
  std::map<uint32_t, int> KernelsInside(const std::vector<uint32_t>& from) const {
    std::map<uint32_t, int> kernels_inside;
    int kernels = 0;
    for (const uint32_t op : from) {
      if (roles[op] == Role::kStart || roles[op] == Role::kDone) kernels_inside[op] = kernels;
      if (roles[op] == Role::kWork) ++kernels;
    }
    return kernels_inside;
  }
  std::vector<uint32_t> Hidden() const {
    return optimise::HideLatency({.dag = dag,
                                  .order = order,
                                  .roles = roles,
                                  .costs = costs,
                                  .in_tuple = in_tuple,
                                  .memory_limit = int64_t{1} << 60})
        .order;
  }

  optimise::Dag Read() {
    constexpr size_t kMostValues = 1 << 16;
    optimise::DagBuilder builder(kMostValues);
    std::ifstream file(std::string(HESPAS_SOURCE_DIR) +
                       "/tests/data/optimise/llama3-100m-4dev.gpu_a100_sxm_40.schedule.txt");
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      char role = 'N';
      int64_t cost = 0;
      bool makes_tuple = false;
      uint32_t first = 0;
      uint32_t count = 0;
      words >> role >> cost >> makes_tuple >> first >> count;
      for (uint32_t value = 0; words >> value;) builder.Read(value);
      for (uint32_t i = 0; i < count; ++i) builder.Make(first + i, 0);
      builder.EndOp(false);
      order.push_back(static_cast<uint32_t>(order.size()));
      roles.push_back(role == 'W'   ? Role::kWork
                      : role == 'S' ? Role::kStart
                      : role == 'D' ? Role::kDone
                                    : Role::kNothing);
      costs.push_back(cost);
      in_tuple.push_back(makes_tuple);
    }
    return builder.Take();
  }

  std::vector<uint32_t> order;
  std::vector<Role> roles;
  std::vector<int64_t> costs;
  std::vector<bool> in_tuple;
  optimise::Dag dag;
};

TEST(HideLatency, PlacesStartsAndDonesWhereXlaDoes) {
  const XlasStep step;
  const auto theirs = step.KernelsInside(step.order);
  ASSERT_EQ(theirs.size(), 32u);
  size_t near = 0;
  std::string places;
  for (const auto& [half, kernels] : step.KernelsInside(step.Hidden())) {
    near += std::abs(kernels - theirs.at(half)) <= 5;
    places += std::to_string(kernels) + " for " + std::to_string(theirs.at(half)) + "\n";
  }
  EXPECT_GE(near, 28u) << places;
}

}  // namespace
}  // namespace hespas
