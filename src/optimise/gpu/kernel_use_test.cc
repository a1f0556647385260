#include "optimise/gpu/kernel_use.h"

#include <gtest/gtest.h>

#include "optimise/fusion/policy.h"
#include "optimise/gpu/gpu_policy.h"

namespace hespas::optimise {
namespace {

// A region whose last op is the root of its only kernel.
class Region {
 public:
  ValueId Parameter(Dimensions dims) { return flow_.AddParameter(TypeOf(std::move(dims))); }
  ValueId Op(std::string_view name, std::vector<ValueId> operands, Dimensions dims) {
    last_ = flow_.Add({.name = name, .operands = std::move(operands), .results = {TypeOf(std::move(dims))}});
    return flow_.result(last_);
  }

  KernelUse Count() {
    flow_.outputs = {flow_.result(last_)};
    const PassContext context{.policy = &GpuPolicy()};
    KernelPlan plan{.policy = context.policy};
    for (uint32_t i = 0; i < flow_.node_count(); ++i) {
      plan.classes.push_back(ClassOf(flow_, flow_.node(NodeId(i)), GpuPolicy()));
    }
    plan.materialized.assign(flow_.node_count(), 0);
    plan.kernel.assign(flow_.node_count(), KernelPlan::kNone);
    plan.materialized[last_.index()] = 1;
    plan.kernel[last_.index()] = 0;
    plan.roots = {{last_}};
    return KernelCounter(flow_, context, plan).Count(0);
  }

 private:
  ir::TypeId TypeOf(Dimensions dims) {
    return source_.types().InternTensor(std::move(dims), {.kind = ir::ElementKind::kF32, .bits = 32});
  }

  ir::Module source_;
  Dataflow flow_{source_};
  NodeId last_;
};

TEST(KernelCounter, AnElementwiseChainReadsAndWritesOnce) {
  Region region;
  const ValueId x = region.Parameter({1024});
  region.Op("stablehlo.multiply", {region.Op("stablehlo.exponential", {x}, {1024}), x}, {1024});
  const KernelUse use = region.Count();
  ASSERT_EQ(use.reads.size(), 1u);
  EXPECT_EQ(use.reads[0].times, 1);  // both uses are elementwise, from one root
  EXPECT_EQ(use.reads[0].size, 4096);
  EXPECT_EQ(use.written, 4096);
  EXPECT_EQ(use.operations, 2 * 3 * 1024);
  EXPECT_EQ(use.blocks, 2);  // of 512 elements
}

// 32 threads read two columns each, or four of a 16-bit value.
TEST(BlocksOfColumns, NarrowValuesAreReadByFewerThreads) {
  EXPECT_EQ(BlocksOfColumns(1024, 4), 16);
  EXPECT_EQ(BlocksOfColumns(1024, 2), 8);
  EXPECT_EQ(BlocksOfColumns(64, 2), 1);
  EXPECT_EQ(BlocksOfColumns(96, 2), 2);  // not enough for four
  EXPECT_EQ(BlocksOfColumns(63, 2), 2);  // odd: one by one
}

TEST(KernelCounter, ABroadcastAsksForItsOperandAgain) {
  Region region;
  const ValueId x = region.Parameter({64, 128});
  const ValueId v = region.Parameter({128});
  const ValueId e = region.Op("stablehlo.exponential", {v}, {128});
  region.Op("stablehlo.add", {x, region.Op("stablehlo.broadcast_in_dim", {e}, {64, 128})}, {64, 128});
  const KernelUse use = region.Count();
  ASSERT_NE(use.Of(v), nullptr);
  EXPECT_EQ(use.Of(v)->times, 64);
  EXPECT_EQ(use.Of(x)->times, 1);
  EXPECT_EQ(use.operations, 3 * (64 * 128 + 64 * 128));  // exp once for each element of the sum
}

TEST(KernelCounter, ASliceAsksForItsPart) {
  Region region;
  const ValueId x = region.Parameter({1024});
  region.Op("stablehlo.negate", {region.Op("stablehlo.slice", {x}, {256})}, {256});
  EXPECT_EQ(region.Count().Of(x)->times, 0.25);
}

TEST(KernelUse, FusedReadsOfASharedInputCountOnce) {
  Region first;
  const ValueId x = first.Parameter({1024});
  const KernelUse made = (first.Op("stablehlo.exponential", {x}, {1024}), first.Count());
  Region second;
  const ValueId same = second.Parameter({1024});
  const ValueId value = second.Parameter({1024});
  second.Op("stablehlo.multiply", {value, same}, {1024});
  const KernelUse consumer = second.Count();
  ASSERT_EQ(same, x);
  size_t reads = 0;
  consumer.ReadWith(made, *consumer.Of(value), [&](const KernelUse::Read& read, double times) {
    ++reads;
    EXPECT_EQ(read.value, x);
    EXPECT_EQ(times, 1);
  });
  EXPECT_EQ(reads, 1u);
}

}  // namespace
}  // namespace hespas::optimise
