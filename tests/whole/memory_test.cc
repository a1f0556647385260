// Peak memory: small programs by hand, large ones against XLA's own figure.
#include "memory/memory.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <random>
#include <tuple>
#include <utility>

#include "../read_program.h"
#include "driver/pipeline/run.h"
#include "driver/stages/memory.h"
#include "memory/buffers/heap_packing.h"
#include "memory/order/block_order.h"
#include "memory/order/breadth_first.h"
#include "memory/order/gradient_sinking.h"
#include "memory/order/memory_order.h"
#include "memory/order/within_limit.h"

namespace hespas {
namespace {

using memory::SinkUntil;
using result::MemoryCategory;

constexpr int64_t kVector = 4096;  // bytes of tensor<1024xf32>

result::MemoryCurve Memory(const std::string& text, bool keep_order = true) {
  const ir::Module module = Read(text);
  return memory::MemoryOf(module, {.keep_order = keep_order});
}

std::vector<std::string> NamesOf(const ir::Module& module, const std::vector<ir::OpId>& ops) {
  std::vector<std::string> names;
  for (const ir::OpId op : ops) names.emplace_back(module.name(op));
  return names;
}

TEST(Memory, AValueIsHeldUntilItsLastUse) {
  const auto memory = Memory(R"(
    func.func @main(%x: tensor<1024xf32>, %i: tensor<1024xi32>) -> tensor<1xf32> {
      %0 = stablehlo.transpose %x, dims = [0] : (tensor<1024xf32>) -> tensor<1024xf32>
      %1 = stablehlo.reverse %0, dims = [0] : tensor<1024xf32>
      %2 = stablehlo.reverse %1, dims = [0] : tensor<1024xf32>
      %3 = stablehlo.slice %2 [0:1] : (tensor<1024xf32>) -> tensor<1xf32>
      return %3 : tensor<1xf32>
    })");
  EXPECT_EQ(memory.arguments.value, 2 * kVector);
  EXPECT_EQ(memory.temporaries.value, 2 * kVector + 256);  // one read, one written, and the result's buffer
  EXPECT_EQ(memory.peak.value, 4 * kVector + 256);
}

TEST(Memory, ElementwiseOpsReuseOperandsThatDieInPlace) {
  const auto memory = Memory(R"(
    func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
      %0 = stablehlo.negate %x : tensor<1024xf32>
      %1 = stablehlo.sine %0 : tensor<1024xf32>
      %2 = stablehlo.add %1, %x : tensor<1024xf32>
      return %2 : tensor<1024xf32>
    })");
  EXPECT_EQ(memory.temporaries.value, kVector);
}

TEST(Memory, ResultsLieInDonatedArguments) {
  const std::string body = R"(
      %0 = stablehlo.negate %x : tensor<1024xf32>
      return %0 : tensor<1024xf32>
    })";
  const auto donated =
      Memory("func.func @main(%x: tensor<1024xf32> {tf.aliasing_output = 0 : i32}) -> tensor<1024xf32> {" + body);
  EXPECT_EQ(donated.peak.value, kVector);
  EXPECT_EQ(donated.aliased.value, kVector);
  const auto donor =
      Memory("func.func @main(%x: tensor<1024xf32> {jax.buffer_donor = true}) -> tensor<1024xf32> {" + body);
  EXPECT_EQ(donor.peak.value, kVector);
  const auto kept = Memory("func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {" + body);
  EXPECT_EQ(kept.peak.value, 2 * kVector);
}

TEST(Memory, UpdatesAreInPlaceUnlessTheOldValueIsNeeded) {
  const auto program = [](const std::string& returned) {
    return R"(
    func.func @main(%x: tensor<1024xf32>, %u: tensor<1xf32>, %i: tensor<i32>) -> tensor<1024xf32> {
      %0 = stablehlo.reverse %x, dims = [0] : tensor<1024xf32>
      %1 = stablehlo.dynamic_update_slice %0, %u, %i : (tensor<1024xf32>, tensor<1xf32>, tensor<i32>) -> tensor<1024xf32>
      %2 = stablehlo.add %1, )" +
           returned + R"( : tensor<1024xf32>
      return %2 : tensor<1024xf32>
    })";
  };
  EXPECT_EQ(Memory(program("%x")).temporaries.value, kVector);
  EXPECT_EQ(Memory(program("%0")).temporaries.value, 2 * kVector);
}

TEST(Memory, LoopsHoldWhatTheyCarryOnceAndTheirWorstIteration) {
  const auto memory = Memory(R"(
    func.func @main(%x: tensor<1024xf32>) -> tensor<1024xf32> {
      %i = stablehlo.constant dense<0> : tensor<i32>
      %c = stablehlo.reverse %x, dims = [0] : tensor<1024xf32>
      %r:2 = stablehlo.while(%a = %i, %v = %c) : tensor<i32>, tensor<1024xf32>
      cond {
        %n = stablehlo.constant dense<8> : tensor<i32>
        %t = stablehlo.compare LT, %a, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %t : tensor<i1>
      } do {
        %one = stablehlo.constant dense<1> : tensor<i32>
        %b = stablehlo.add %a, %one : tensor<i32>
        %p = stablehlo.reverse %v, dims = [0] : tensor<1024xf32>
        %q = stablehlo.reverse %p, dims = [0] : tensor<1024xf32>
        %w = stablehlo.add %q, %v : tensor<1024xf32>
        stablehlo.return %b, %w : tensor<i32>, tensor<1024xf32>
      }
      return %r#1 : tensor<1024xf32>
    })");
  // Carried: the vector and the counter. Inside: %p and %q while %q is made, and two small constants' places.
  EXPECT_GE(memory.temporaries.value, 3 * kVector);
  EXPECT_LE(memory.temporaries.value, 3 * kVector + 4 * 256);
  ASSERT_FALSE(memory.largest.empty());
  EXPECT_EQ(memory.largest[0].bytes.value, kVector);
}

TEST(Memory, AnUnscheduledProgramIsOrderedForMemory) {
  // Both halves at once hold two vectors of a megabyte; one after the other, one and a number.
  const std::string text = R"(
    func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %a = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<262144xf32>
      %b = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<f32>) -> tensor<262144xf32>
      %c = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<262144xf32>, tensor<f32>) -> tensor<f32>
      %d = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<262144xf32>, tensor<f32>) -> tensor<f32>
      %e = stablehlo.add %c, %d : tensor<f32>
      return %e : tensor<f32>
    })";
  constexpr int64_t kMegabyte = 1 << 20;
  EXPECT_GE(Memory(text, true).temporaries.value, 2 * kMegabyte);
  EXPECT_LT(Memory(text, false).temporaries.value, kMegabyte + 2048);
}

// XLA's CPU compiler runs the halves side by side.
TEST(Memory, OnCpusWhatIsReadyFirstRunsFirst) {
  const ir::Module module = Read(R"(
    func.func @main(%x: tensor<256xf32>, %y: tensor<256xf32>) -> (tensor<256xf32>, tensor<256xf32>) {
      %a = stablehlo.sine %x : tensor<256xf32>
      %b = stablehlo.cosine %a : tensor<256xf32>
      %c = stablehlo.exponential %y : tensor<256xf32>
      %d = stablehlo.negate %c : tensor<256xf32>
      return %b, %d : tensor<256xf32>, tensor<256xf32>
    })");
  EXPECT_THAT(NamesOf(module, memory::BreadthFirst(module, module.body(module.main()))),
              testing::ElementsAre("stablehlo.sine", "stablehlo.exponential", "stablehlo.cosine", "stablehlo.negate"));
}

// What XLA compiles for the CPU: each matmul but the last is in the result's buffer or in one other.
TEST(Memory, ResultsLendTheirBuffersToWhatComesBefore) {
  const auto memory = Memory(R"(
    func.func @main(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %1 = stablehlo.tanh %0 : tensor<32x32xf32>
      %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %3 = stablehlo.tanh %2 : tensor<32x32xf32>
      %4 = stablehlo.dot_general %3, %3, contracting_dims = [1] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %5 = stablehlo.tanh %4 : tensor<32x32xf32>
      return %5 : tensor<32x32xf32>
    })");
  EXPECT_EQ(memory.temporaries.value, 2 * kVector);
}

std::vector<std::string> Delayed(const ir::Module& module, SinkUntil until) {
  const ir::BlockId main = module.body(module.main());
  const auto& ops = module.block(main).ops;
  return NamesOf(module, memory::SinkWeightGradients(module, main, {ops.data(), ops.size() - 1}, until));
}

TEST(Memory, MatmulsOfGradientsRunWhileTheGatherAfterTheNextIsUnderWay) {
  const ir::Module module = Read(R"(
    module @m attributes {mhlo.num_partitions = 4 : i32} {
    func.func @main(%x: tensor<32x32xf32>, %w: tensor<8x32xf32>) -> (tensor<8x32xf32>, tensor<32x32xf32>) {
      %d = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %a = "stablehlo.all_gather"(%w) {all_gather_dim = 0 : i64, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
      %b = stablehlo.tanh %a : tensor<32x32xf32>
      %c = "stablehlo.all_gather"(%w) {all_gather_dim = 0 : i64, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<8x32xf32>) -> tensor<32x32xf32>
      %e = stablehlo.add %b, %c : tensor<32x32xf32>
      %g = "stablehlo.reduce_scatter"(%d) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<32x32xf32>) -> tensor<8x32xf32>
      return %g, %e : tensor<8x32xf32>, tensor<32x32xf32>
    }})");
  EXPECT_THAT(Delayed(module, SinkUntil::kNextGather),
              testing::ElementsAre("stablehlo.all_gather", "stablehlo.tanh", "stablehlo.dot_general",
                                   "stablehlo.all_gather", "stablehlo.add", "stablehlo.reduce_scatter"));
  EXPECT_THAT(Delayed(module, SinkUntil::kEnd),
              testing::ElementsAre("stablehlo.all_gather", "stablehlo.tanh", "stablehlo.all_gather", "stablehlo.add",
                                   "stablehlo.dot_general", "stablehlo.reduce_scatter"));
}

// Two weights' gradients: what they read, and they themselves, are a matrix of 4 KiB each.
ir::Module TwoGradients() {
  const std::string scatter = R"( ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<32x32xf32>) -> tensor<8x32xf32>
)";
  const std::string dot =
      ", contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>\n";
  return Read(R"(
    module @m attributes {mhlo.num_partitions = 4 : i32} {
    func.func @main(%x: tensor<32x32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>, tensor<32x32xf32>) {
      %a = stablehlo.sine %x : tensor<32x32xf32>
      %d = stablehlo.dot_general %a, %a)" +
              dot + "%g = \"stablehlo.reduce_scatter\"(%d)" + scatter + R"(
      %b = stablehlo.cosine %x : tensor<32x32xf32>
      %c = stablehlo.dot_general %b, %b)" +
              dot + "%h = \"stablehlo.reduce_scatter\"(%c)" + scatter + R"(
      %e = stablehlo.negate %x : tensor<32x32xf32>
      return %g, %h, %e : tensor<8x32xf32>, tensor<8x32xf32>, tensor<32x32xf32>
    }})");
}

// Backwards from the end: three matrices are held where both gradients wait; with room for two the first cannot wait
// until the second is made, and with room for one neither waits for anything.
TEST(Memory, GradientsWaitAsFarAsTheSchedulersLimitAllows) {
  const ir::Module module = TwoGradients();
  const ir::BlockId main = module.body(module.main());
  const std::span<const ir::OpId> least(module.block(main).ops.data(), 7);
  const memory::BufferSizes sizes(module, memory::kGpuAlignment);
  const auto wanted = memory::SinkWeightGradients(module, main, least, SinkUntil::kEnd);
  const auto within = [&](int64_t limit) {
    std::vector<std::string> names;
    for (const ir::OpId op : memory::WithinLimit(module, main, sizes, wanted, least, limit)) {
      names.push_back(std::string(module.name(op)).substr(std::string("stablehlo.").size()));
    }
    return names;
  };
  EXPECT_THAT(within(3 * kVector), testing::ElementsAre("sine", "cosine", "negate", "dot_general", "reduce_scatter",
                                                        "dot_general", "reduce_scatter"));
  EXPECT_THAT(within(2 * kVector), testing::ElementsAre("sine", "dot_general", "cosine", "negate", "reduce_scatter",
                                                        "dot_general", "reduce_scatter"));
  EXPECT_THAT(within(kVector), testing::ElementsAre("sine", "dot_general", "reduce_scatter", "cosine", "dot_general",
                                                    "negate", "reduce_scatter"));
}

// XLA's limit is what the device leaves beside arguments and results; these are the three results and the argument.
TEST(Memory, TheLimitIsWhatIsLeftBesideArgumentsAndResults) {
  const ir::Module module = TwoGradients();
  double held = 0;
  const auto temporaries = [&](double room) {
    const auto limit = [&, room](double beside) { return held = beside, room; };
    return memory::MemoryOf(module, {.compiler = memory::Compiler::kGpuWithModel, .room = limit}).temporaries.value;
  };
  EXPECT_LT(temporaries(kVector), temporaries(1e9));
  EXPECT_EQ(held, 2 * kVector + 2 * kVector / 4);
  EXPECT_EQ(temporaries(1e9),
            memory::MemoryOf(module, {.compiler = memory::Compiler::kGpuWithModel}).temporaries.value);
}

// What a tensor-parallel layer sums goes on into the next layer's matmul: it is no gradient of a weight.
TEST(Memory, SumsThatMatmulsReadDoNotWait) {
  const ir::Module module = Read(R"(
    module @m attributes {mhlo.num_partitions = 4 : i32} {
    func.func @main(%x: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
      %d = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      %t = stablehlo.tanh %x : tensor<32x32xf32>
      %g = "stablehlo.all_reduce"(%d) ({
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
      }) {replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<32x32xf32>) -> tensor<32x32xf32>
      %e = stablehlo.dot_general %g, %x, contracting_dims = [0] x [0] : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      return %t, %e : tensor<32x32xf32>, tensor<32x32xf32>
    }})");
  EXPECT_THAT(Delayed(module, SinkUntil::kEnd), testing::ElementsAre("stablehlo.dot_general", "stablehlo.tanh",
                                                                     "stablehlo.all_reduce", "stablehlo.dot_general"));
}

// XLA's GemmWorkspaceRewriter: at most 4 MiB, no more than the operands take; the result is an element of a tuple.
TEST(Memory, LibraryCallsHaveWorkspacesOnGpus) {
  const std::string text = R"(
    func.func @main(%x: tensor<1024x1xf32>, %a: tensor<1024x1024xf32>) -> tensor<1024xf32> {
      %0 = stablehlo.custom_call @__cublas$gemm(%a, %a) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
      %1 = stablehlo.reverse %0, dims = [1] : tensor<1024x1024xf32>
      %2 = stablehlo.slice %1 [0:1024, 0:1] : (tensor<1024x1024xf32>) -> tensor<1024x1xf32>
      %3 = stablehlo.reshape %2 : (tensor<1024x1xf32>) -> tensor<1024xf32>
      return %3 : tensor<1024xf32>
    })";
  constexpr int64_t kMatrix = int64_t{4} << 20;
  const auto memory = Memory(text, false);
  EXPECT_EQ(memory.temporaries.value, kVector + 2 * kMatrix);  // the matmul and its workspace, then both matrices
  const ir::Module module = Read(text);
  EXPECT_EQ(memory::MemoryOf(module, {.compiler = memory::Compiler::kGpuWithModel}).temporaries.value,
            kVector + kMatrix + 2 * kMatrix);
  EXPECT_EQ(Memory(text, true).temporaries.value, kVector + 2 * kMatrix);
}

// A kernel that reads what lies around the place that it writes to needs the old value whole.
TEST(Memory, UpdatesThatReadTheirSurroundingsAreNotInPlace) {
  const auto program = [](const std::string& read) {
    return R"(
    func.func @main(%x: tensor<1024xf32>, %i: tensor<i32>) -> tensor<1024xf32> {
      %0 = stablehlo.reverse %x, dims = [0] : tensor<1024xf32>
      %1 = "mhlo.fusion"(%0, %i) ({
        ^bb0(%a: tensor<1024xf32>, %at: tensor<i32>):
          %2 = )" +
           read + R"(
          %3 = stablehlo.negate %2 : tensor<1022xf32>
          %4 = stablehlo.dynamic_update_slice %a, %3, %at : (tensor<1024xf32>, tensor<1022xf32>, tensor<i32>) -> tensor<1024xf32>
          mhlo.return %4 : tensor<1024xf32>
      }) {fusion_kind = #mhlo<fusion_kind kLoop>} : (tensor<1024xf32>, tensor<i32>) -> tensor<1024xf32>
      return %1 : tensor<1024xf32>
    })";
  };
  EXPECT_EQ(Memory(program("stablehlo.slice %a [2:1024] : (tensor<1024xf32>) -> tensor<1022xf32>")).temporaries.value,
            2 * kVector);
  EXPECT_EQ(Memory(program("stablehlo.dynamic_slice %a, %at, sizes = [1022] : (tensor<1024xf32>, tensor<i32>) -> "
                           "tensor<1022xf32>"))
                .temporaries.value,
            kVector);
}

// The matmul does not wait for what is gathered, so that the gather is under way beside it: it comes first.
TEST(Memory, WholeCollectivesBeginBeforeWhatTheyHideBehind) {
  const ir::Module module = Read(R"(
    module @m attributes {mhlo.num_partitions = 4 : i32} {
    func.func @main(%x: tensor<512x512xf32>, %w: tensor<128x512xf32>) -> tensor<512x512xf32> {
      %d = stablehlo.custom_call @__cublas$gemm(%x, %x) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      %a = "stablehlo.all_gather"(%w) {all_gather_dim = 0 : i64, replica_groups = dense<[[0,1,2,3]]> : tensor<1x4xi64>} : (tensor<128x512xf32>) -> tensor<512x512xf32>
      %e = stablehlo.custom_call @__cublas$gemm(%d, %a) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
      return %e : tensor<512x512xf32>
    }})");
  const ir::BlockId main = module.body(module.main());
  const auto& ops = module.block(main).ops;
  const memory::BufferSizes sizes(module, memory::kGpuAlignment);
  EXPECT_THAT(NamesOf(module, memory::HidingOrder(module, main, sizes, {ops.data(), ops.size() - 1}, memory::kNoLimit)),
              testing::ElementsAre("stablehlo.all_gather", "stablehlo.custom_call", "stablehlo.custom_call"));
}

// XLA sorts in place only what the sort reads once.
TEST(Memory, ASortOfOneValueTwiceIsNotInPlace) {
  const auto program = [](const std::string& second) {
    return R"(
    func.func @main(%x: tensor<1024xf32>, %y: tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>) {
      %0 = stablehlo.reverse %x, dims = [0] : tensor<1024xf32>
      %1 = stablehlo.reverse %y, dims = [0] : tensor<1024xf32>
      %2:3 = "stablehlo.sort"(%0, %1, )" +
           second + R"() ({
        ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>, %e: tensor<f32>, %f: tensor<f32>):
          %3 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
          stablehlo.return %3 : tensor<i1>
      }) {dimension = 0 : i64} : (tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>)
      return %2#0, %2#1, %2#2 : tensor<1024xf32>, tensor<1024xf32>, tensor<1024xf32>
    })";
  };
  EXPECT_EQ(Memory(program("%x")).temporaries.value, 3 * kVector);
  EXPECT_EQ(Memory(program("%1")).temporaries.value, 4 * kVector);
}

TEST(Memory, GapsBetweenBuffersCount) {
  using memory::Interval;
  const auto held = [](int64_t bytes, uint32_t from, uint32_t until, uint32_t owner) {
    return Interval{.bytes = bytes, .from = from, .until = until, .owner = owner};
  };
  EXPECT_EQ(memory::FragmentationOf(std::vector{held(4, 0, 1, 0), held(4, 2, 3, 1)}), 0);
  // 7 are alive at most. 4 lies at 0, 3 takes its place, the first 2 went on top of 4; between 3 and it is no room
  // for 2. Longest first, each 2 and 3 are lower and 4 comes on top.
  EXPECT_EQ(
      memory::FragmentationOf(std::vector{held(2, 2, 4, 0), held(3, 3, 5, 1), held(4, 1, 2, 2), held(2, 4, 6, 3)}), 1);
}

// The same rule over all pairs.
int64_t GapsByPairs(std::vector<memory::Interval> intervals, bool by_size) {
  std::stable_sort(intervals.begin(), intervals.end(), [&](const auto& a, const auto& b) {
    const int64_t a_lives = a.until - a.from;
    const int64_t b_lives = b.until - b.from;
    if (by_size) return std::tuple(-a.bytes, -a_lives, a.owner) < std::tuple(-b.bytes, -b_lives, b.owner);
    return std::tuple(-a_lives, -a.bytes, a.owner) < std::tuple(-b_lives, -b.bytes, b.owner);
  });
  std::vector<int64_t> places;
  int64_t size = 0;
  int64_t alive = 0;
  for (size_t i = 0; i < intervals.size(); ++i) {
    const auto& mine = intervals[i];
    std::vector<std::pair<int64_t, int64_t>> taken;
    int64_t sum = 0;
    for (size_t k = 0; k < intervals.size(); ++k) {
      const auto& other = intervals[k];
      if (other.from <= mine.from && mine.from <= other.until) sum += other.bytes;
      if (k < i && other.from <= mine.until && mine.from <= other.until) {
        taken.emplace_back(places[k], places[k] + other.bytes);
      }
    }
    alive = std::max(alive, sum);
    std::sort(taken.begin(), taken.end());
    int64_t top = 0;
    std::pair<int64_t, int64_t> best{std::numeric_limits<int64_t>::max(), 0};
    for (const auto& [begin, end] : taken) {
      if (begin - top >= mine.bytes) best = std::min(best, {begin - top, top});
      top = std::max(top, end);
    }
    places.push_back(best.first == std::numeric_limits<int64_t>::max() ? top : best.second);
    size = std::max(size, places.back() + mine.bytes);
  }
  return size - alive;
}

TEST(Memory, FragmentationOfRandomBuffersIsThatOfAllPairs) {
  std::mt19937 engine(7);
  const auto random = [&] { return static_cast<uint32_t>(engine()); };
  int64_t gaps = 0;
  for (int program = 0; program < 200; ++program) {
    std::vector<memory::Interval> intervals;
    for (uint32_t i = 0; i < 60; ++i) {
      const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
      const uint32_t from = below(40);
      intervals.push_back({.bytes = 1 + int64_t{below(30)}, .from = from, .until = from + below(12), .owner = i});
    }
    const int64_t expected = std::min(GapsByPairs(intervals, true), GapsByPairs(intervals, false));
    gaps += expected;
    ASSERT_EQ(memory::FragmentationOf(intervals), expected) << program;
  }
  EXPECT_GT(gaps, 0);
}

driver::RunOptions Llama() {
  return {.program = {.path = HESPAS_SOURCE_DIR "/examples/llama3-100m-4dev.mlir.gz"},
          .device = {.name = "A100_SXM_40GB"},
          .network = {.backend = driver::NetworkBackend::kNone}};
}

// XLA's own total for this program on an A100 is 4,314,543,900 bytes; the issue allows 10 % from the plain export.
TEST(Memory, TheLlamaExportNeedsWhatXlaNeeds) {
  Diagnostics diagnostics;
  const auto result = driver::Run(Llama(), diagnostics);
  ASSERT_TRUE(result.has_value());
  constexpr double kXla = 4314543900;
  EXPECT_NEAR(static_cast<double>(result->peak_memory->value), kXla, 0.10 * kXla);
  EXPECT_EQ(result->fits_in_memory, true);
  const result::MemoryCurve& memory = *result->memory;
  Bytes parts;
  for (const Bytes bytes : memory.at_peak) parts += bytes;
  EXPECT_EQ(parts, memory.peak);
  // 66 parameters of 95 MB in all; Adam keeps two such sets.
  const auto at = [&](MemoryCategory category) { return memory.at_peak[static_cast<size_t>(category)].value; };
  EXPECT_NEAR(static_cast<double>(at(MemoryCategory::kOptimiserState)),
              2.0 * static_cast<double>(at(MemoryCategory::kParameters)), 1e5);
  EXPECT_GT(memory.largest[0].location.line, 0u);
}

TEST(Memory, RequireFitRefusesAProgramThatIsTooLarge) {
  Diagnostics diagnostics;
  driver::RunOptions options = Llama();
  options.device.name = HESPAS_SOURCE_DIR "/tests/whole/small_memory.json";
  EXPECT_EQ(driver::Run(options, diagnostics)->fits_in_memory, false);
  options.memory.require_fit = true;
  EXPECT_FALSE(driver::Run(options, diagnostics).has_value());
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.all().back().kind, &driver::kDoesNotFit);
  EXPECT_EQ(driver::kDoesNotFit.outcome, Outcome::kCannotRun);
}

}  // namespace
}  // namespace hespas
