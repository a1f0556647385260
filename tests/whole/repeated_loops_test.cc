// Loops of which a few iterations are laid out against the same loops laid out in full.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "../read_program.h"
#include "driver/pipeline/run.h"
#include "split/split.h"

namespace hespas {
namespace {

constexpr const char* kType = "tensor<1024x1024xf32>";

std::string AllReduce(const std::string& to, const std::string& from) {
  return fmt::format(R"({} = "stablehlo.all_reduce"({}) ({{
      ^bb0(%p: tensor<f32>, %q: tensor<f32>):
        %s = stablehlo.add %p, %q : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) {{replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}} : ({}) -> {}
)",
                     to, from, kType, kType);
}

std::string Matmul(const std::string& to, const std::string& from) {
  return fmt::format("{} = stablehlo.dot_general {}, %w, contracting_dims = [1] x [0] : ({}, {}) -> {}\n", to, from,
                     kType, kType, kType);
}

// `body` makes %out<depth> from %v<depth>, which a counted loop carries. The counter's next value comes last, as in
// JAX's programs.
std::string Loop(int depth, int64_t trips, const std::string& from, const std::string& to, const std::string& body) {
  return fmt::format(R"({5}:2 = stablehlo.while(%i{0} = %zero, %v{0} = {4}) : tensor<i64>, {3}
  cond {{
    %n{0} = stablehlo.constant dense<{1}> : tensor<i64>
    %t{0} = stablehlo.compare LT, %i{0}, %n{0} : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %t{0} : tensor<i1>
  }} do {{
    %one{0} = stablehlo.constant dense<1> : tensor<i64>
    {2}
    %j{0} = stablehlo.add %i{0}, %one{0} : tensor<i64>
    stablehlo.return %j{0}, %out{0} : tensor<i64>, {3}
  }}
)",
                     depth, trips, body, kType, from, to);
}

std::string Program(const std::string& body, const std::string& result) {
  return fmt::format(R"(module @m attributes {{mhlo.num_partitions = 4 : i32}} {{
func.func @main(%x: {0}, %w: {0}) -> {0} {{
  %zero = stablehlo.constant dense<0> : tensor<i64>
{1}
  return {2} : {0}
}}
}})",
                     kType, body, result);
}

// With an output folder traces hold all iterations; without one they need not.
result::RunResult RunText(const std::string& text, bool whole, driver::NetworkModel network_model,
                          const DiagnosticKind* expected = nullptr) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("hespas_repeated_{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string path = folder / "loop.mlir";
  std::ofstream(path) << text;
  driver::RunOptions options{
      .program = {.path = path}, .device = {.name = "A100_SXM_40GB"}, .network = {.model = network_model}};
  options.output.report = false;
  if (whole) options.output.folder = folder / "out";
  Diagnostics diagnostics;
  const auto result = driver::Run(options, diagnostics);
  for (const Diagnostic& d : diagnostics.all()) {
    if (d.kind != expected) ADD_FAILURE() << Render(d);
  }
  EXPECT_EQ(diagnostics.all().size(), expected == nullptr ? 0 : 1);
  std::filesystem::remove_all(folder);
  return result.value_or(result::RunResult());
}

void ExpectEqual(const std::string& text, driver::NetworkModel network_model = driver::NetworkModel::kAuto) {
  const auto whole = RunText(text, true, network_model);
  const auto few = RunText(text, false, network_model);
  const auto near = [](Time a, Time b, Time of, const char* what) {
    EXPECT_NEAR(a.seconds(), b.seconds(), 0.005 * of.seconds()) << what;
  };
  near(few.step_time, whole.step_time, whole.step_time, "step");
  near(few.communication_time, whole.communication_time, whole.step_time, "communication");
  near(few.exposed_communication, whole.exposed_communication, whole.step_time, "exposed");
  EXPECT_EQ(few.compute_time, whole.compute_time);
  EXPECT_EQ(few.step_time, few.compute_time + few.exposed_communication + few.idle);
  EXPECT_EQ(few.flops, whole.flops);
  EXPECT_EQ(few.bytes_accessed, whole.bytes_accessed);
  EXPECT_EQ(few.blocks.total, whole.blocks.total);
  ASSERT_EQ(few.collectives.size(), whole.collectives.size());
  for (size_t i = 0; i < few.collectives.size(); ++i) {
    EXPECT_EQ(few.collectives[i].count, whole.collectives[i].count);
    EXPECT_EQ(few.collectives[i].bytes, whole.collectives[i].bytes);
  }
  Time parts;
  for (const result::TimeShare& share : few.breakdown.kinds) parts += share.time;
  EXPECT_EQ(parts, few.breakdown.total);
}

TEST(RepeatedLoops, CommunicationThatIsWaitedFor) {
  const std::string body = Matmul("%d0", "%v0") + AllReduce("%out0", "%d0");
  for (const auto model : {driver::NetworkModel::kCalibrated, driver::NetworkModel::kPlain}) {
    for (const int trips : {17, 200, 2000}) ExpectEqual(Program(Loop(0, trips, "%x", "%r", body), "%r#1"), model);
  }
}

// The exchange of one half overlaps the matmul of the other.
TEST(RepeatedLoops, CommunicationThatComputationHides) {
  const std::string body = AllReduce("%a0", "%v0") + Matmul("%d0", "%v0") + Matmul("%e0", "%d0") +
                           Matmul("%f0", "%e0") + fmt::format("%out0 = stablehlo.add %a0, %f0 : {}\n", kType);
  for (const auto model : {driver::NetworkModel::kCalibrated, driver::NetworkModel::kPlain}) {
    for (const int trips : {17, 200, 2000}) ExpectEqual(Program(Loop(0, trips, "%x", "%r", body), "%r#1"), model);
  }
}

// Nothing of an iteration needs the exchange of the one before, which so may run behind or ahead.
TEST(RepeatedLoops, CommunicationThatNothingWaitsFor) {
  for (const int matmuls : {1, 8}) {
    std::string body = AllReduce("%a0", "%w");
    std::string last = "%v0";
    for (int i = 0; i < matmuls; ++i) {
      body += Matmul(fmt::format("%d{}", i), last);
      last = fmt::format("%d{}", i);
    }
    body += fmt::format("%out0 = stablehlo.add %a0, {} : {}\n", last, kType);
    ExpectEqual(Program(Loop(0, 1500, "%x", "%r", body), "%r#1"));
  }
}

// What a counter alone decides is begun an iteration early at most: it waits for the add, the end of the chain, not for
// the next counter.
TEST(RepeatedLoops, CommunicationOfACounterWaitsForTheIterationBeforeTheLast) {
  const std::string body =
      fmt::format(
          "%s0 = stablehlo.dynamic_slice %w, %i0, %i0, sizes = [1024, 1024] : ({0}, tensor<i64>, tensor<i64>) -> {0}\n",
          kType) +
      AllReduce("%a0", "%s0") + fmt::format("%out0 = stablehlo.add %v0, %a0 : {}\n", kType);
  const ir::Module module = Read(Program(Loop(0, 10, "%x", "%r", body), "%r#1"));
  Diagnostics diagnostics;
  const auto graph = split::Split(module, {}, diagnostics);
  ASSERT_TRUE(graph.ok());
  const auto element_type = [&](const graph::Block& block) {
    return module.type(module.result(block.ops.back(), 0)).element.kind;
  };
  int slices = 0;
  for (const graph::Block& block : graph->blocks) {
    if (module.kind(block.ops.back()) != ir::OpKind::kDynamicSlice || ++slices <= 2) continue;
    bool waits = false;
    for (const graph::BlockId before : block.predecessors)
      waits |= element_type(graph->blocks[before.index()]) == ir::ElementKind::kF32;
    EXPECT_TRUE(waits) << slices;
  }
  EXPECT_EQ(slices, 10);
}

TEST(RepeatedLoops, LoopsWithinAndBehindLoops) {
  const std::string inner = Matmul("%d1", "%v1") + AllReduce("%out1", "%d1");
  const std::string outer = Matmul("%d0", "%v0") + Loop(1, 40, "%d0", "%r1", inner) + AllReduce("%out0", "%r1#1");
  const std::string second = Matmul("%d2", "%v2") + Matmul("%e2", "%d2") + AllReduce("%out2", "%e2");
  ExpectEqual(Program(Loop(0, 50, "%x", "%r0", outer) + Loop(2, 70, "%r0#1", "%r2", second), "%r2#1"));
}

// A chain over two nodes: the slow link between them holds up one neighbour more with each iteration, and has not
// reached the end of the second node when the last iterations that are simulated begin.
TEST(RepeatedLoops, LoopsThatDoNotComeIntoStepAreToldOf) {
  constexpr int kNode = 160;
  std::string pairs;
  for (int i = 0; i + 1 < 2 * kNode; ++i) pairs += fmt::format("{}[{},{}]", i == 0 ? "" : ",", i, i + 1);
  const std::string body = Matmul("%d0", "%v0") + fmt::format(R"(%out0 = "stablehlo.collective_permute"(%d0) {{
        source_target_pairs = dense<[{}]> : tensor<{}x2xi64>}} : ({}) -> {}
)",
                                                              pairs, 2 * kNode - 1, kType, kType);
  std::string text = Program(Loop(0, 2000, "%x", "%r", body), "%r#1");
  text.replace(text.find("num_partitions = 4"), 18, fmt::format("num_partitions = {}", 2 * kNode));
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("hespas_chain_{}", getpid());
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "chain.mlir") << text;
  std::ofstream(folder / "system.json") << fmt::format(R"({{
    "network": {{"topology": ["FullyConnected", "FullyConnected"], "npus_count": [{}, 2],
                 "bandwidth": [1000000000.0, 1000000000.0], "latency": [0.0, 1000000.0]}},
    "system": {{}}}})",
                                                       kNode);
  driver::RunOptions options{.program = {.path = folder / "chain.mlir"},
                             .device = {.name = "A100_SXM_40GB"},
                             .system = {.name = folder / "system.json"}};
  options.output.report = false;
  Diagnostics diagnostics;
  EXPECT_TRUE(driver::Run(options, diagnostics).has_value());
  std::filesystem::remove_all(folder);
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].kind, &driver::kNotSteady);
}

// 10^10 iterations take as long as one, 10^10 times, and no longer to simulate.
TEST(RepeatedLoops, LongLoopsCostNoMoreThanShortOnes) {
  const std::string body = Matmul("%d0", "%v0") + AllReduce("%out0", "%d0");
  constexpr int64_t kShort = 100;
  constexpr int64_t kLong = 10 * int64_t{1'000'000'000};
  const auto begin = std::chrono::steady_clock::now();
  const auto some = RunText(Program(Loop(0, kShort, "%x", "%r", body), "%r#1"), false, driver::NetworkModel::kAuto);
  const auto many = RunText(Program(Loop(0, kLong, "%x", "%r", body), "%r#1"), false, driver::NetworkModel::kAuto);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_NEAR(many.step_time.seconds() / some.step_time.seconds(), static_cast<double>(kLong / kShort),
              0.01 * kLong / kShort);
  EXPECT_EQ(many.collectives[0].count, kLong);
  // Traces cannot hold so many, and say so.
  const auto traced = RunText(Program(Loop(0, kLong, "%x", "%r", body), "%r#1"), true, driver::NetworkModel::kAuto,
                              &split::kIterationsLeftOut);
  EXPECT_EQ(traced.step_time, many.step_time);
}

}  // namespace
}  // namespace hespas
