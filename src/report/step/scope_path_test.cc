#include "report/step/scope_path.h"

#include <gtest/gtest.h>

namespace hespas::report {
namespace {

TEST(ScopePath, LeavesOutWrappersAndTheOperation) {
  EXPECT_EQ(ScopePath("jit(step)/jvp(decoder)/layers_3/mlp/dot_general"), "decoder/layers_3/mlp");
  EXPECT_EQ(ScopePath("jit(f)/layers/3/attention/bhqd,bhkd->bhqk/dot_general"), "layers/3/attention/bhqd,bhkd->bhqk");
  EXPECT_EQ(ScopePath("jit(f)/while/body/h.7/add"), "h.7");
  EXPECT_EQ(ScopePath("jit(f)/layers_1/mlp/jit(silu)/neg"), "layers_1/mlp");
  EXPECT_EQ(ScopePath("jit(f)/mlp/dot_general[dimension_numbers=(((1,), (0,)), ((), ())) x=a/b]"), "mlp");
  EXPECT_EQ(ScopePath("jit(f)/add"), "");
  EXPECT_EQ(ScopePath("add"), "");
  EXPECT_EQ(ScopePath(""), "");
}

TEST(ScopePath, TellsPassesApart) {
  EXPECT_EQ(ScopePath("jit(f)/transpose(jvp(layers_3))/mlp/dot_general"), "layers_3/mlp (backward)");
  EXPECT_EQ(ScopePath("jit(f)/transpose(jvp(jvp()))/checkpoint/rematted_computation/layers_1/mlp/dot_general"),
            "layers_1/mlp (recomputed)");
  EXPECT_EQ(ScopePath("jit(f)/transpose(jvp(layers/0))/jvp(layers/0)/norm/add"), "layers/0/norm (backward)");
  EXPECT_EQ(ScopePath("jit(f)/transpose(open/add"), "");  // no end of parentheses
}

TEST(LayerOf, FindsTheNumberedPartInsideOfTransformations) {
  EXPECT_EQ(LayerOf("jit(step)/transpose(jvp(decoder))/layers_3/mlp/dot_general"), "layers_3");
  EXPECT_EQ(LayerOf("jit(step)/jvp(ResNet)/BottleneckBlock_12/Conv_0/conv"), "BottleneckBlock_12");
  EXPECT_EQ(LayerOf("jit(step)/jvp(layers/3)/mlp/dot_general"), "layers/3");
  EXPECT_EQ(LayerOf("jit(step)/optimizer/mul"), "optimizer");
  EXPECT_EQ(LayerOf("jit(step)/while/body/h.7/add"), "h.7");
  EXPECT_EQ(LayerOf("jit(step)/mul_3"), "");  // the operation itself is no layer
  EXPECT_EQ(LayerOf(""), "");
}

TEST(AllLayers, OnlyTheFirstNumberGoes) {
  EXPECT_EQ(AllLayers("decoder/layers_3/mlp (backward)"), "decoder/layers_*/mlp (backward)");
  EXPECT_EQ(AllLayers("layers/3/attention"), "layers/*/attention");
  EXPECT_EQ(AllLayers("BottleneckBlock_12/Conv_0"), "BottleneckBlock_*/Conv_0");
  EXPECT_EQ(AllLayers("layers_3"), "layers_*");
  EXPECT_EQ(AllLayers("embedding"), "embedding");
  EXPECT_EQ(AllLayers(""), "");
}

}  // namespace
}  // namespace hespas::report
