#include "ir/attributes/op_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hespas::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::Pair;

using Texts = std::vector<std::pair<std::string, std::string>>;

// A module with one op over operands of the given shapes.
class OneOp {
 public:
  OneOp(std::string_view name, const Texts& attributes, const std::vector<std::vector<int64_t>>& shapes = {}) {
    block_ = module_.AddBlock({});
    std::vector<ValueId> operands;
    for (const auto& dims : shapes) {
      Type tensor;
      tensor.kind = TypeKind::kTensor;
      tensor.element.kind = ElementKind::kF32;
      tensor.dims = dims;
      const TypeId type = module_.types().Intern(tensor);
      operands.push_back(module_.result(Add("test.source", {}, {}, {&type, 1})));
    }
    op = Add(name, attributes, operands, {});
  }
  OpId Add(std::string_view name, const Texts& texts, std::span<const ValueId> operands,
           std::span<const TypeId> results) {
    std::vector<Attribute> attributes;
    for (const auto& [key, text] : texts) attributes.push_back({module_.InternName(key), module_.Keep(text)});
    return module_.AddOp(
        block_,
        {.name = module_.InternName(name), .operands = operands, .result_types = results, .attributes = attributes});
  }
  Module& module() { return module_; }
  OpId op;

 private:
  Module module_;
  BlockId block_;
};

TEST(OpAttributes, DotDimensionsInEverySpelling) {
  const DotDimensions expected{{0}, {0}, {2}, {1}};
  for (const Texts& texts : {
           Texts{{"dot_dimension_numbers",
                  "#stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], "
                  "lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>"}},
           Texts{{"dot_dimension_numbers",
                  "{lhs_batching_dimensions = dense<0> : tensor<1xi64>, rhs_batching_dimensions = array<i64: 0>, "
                  "lhs_contracting_dimensions = dense<2> : tensor<1xi64>, rhs_contracting_dimensions = [1]}"}},
           Texts{{"dot_dimension_numbers",
                  "#mhlo.ragged_dot<dot_dimension_numbers = <lhs_batching_dimensions = [0], "
                  "rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = "
                  "[1]>, lhs_ragged_dimensions = [1]>"}},
           Texts{{"batching_dims", "[0] x [0]"}, {"contracting_dims", "[2] x [1]"}},
       }) {
    OneOp one("stablehlo.dot_general", texts);
    EXPECT_EQ(DotDimensionsOf(one.module(), one.op), expected) << texts[0].second;
  }
  OneOp written("stablehlo.dot_general", {{"dot_dimension_numbers", DotDimensionsText(expected)}});
  EXPECT_EQ(DotDimensionsOf(written.module(), written.op), expected);
  OneOp plain("stablehlo.dot", {}, {{4, 8}, {8, 2}});
  EXPECT_EQ(DotDimensionsOf(plain.module(), plain.op), (DotDimensions{{}, {}, {1}, {0}}));
  OneOp broken("stablehlo.dot_general", {{"dot_dimension_numbers", "#stablehlo.dot<lhs_batching_dimensions = [x]>"}});
  EXPECT_FALSE(DotDimensionsOf(broken.module(), broken.op));
}

TEST(OpAttributes, ConvolutionDimensionsInEverySpelling) {
  const ConvolutionDimensions expected{.input_batch = 0,
                                       .input_feature = 3,
                                       .input_spatial = {1, 2},
                                       .kernel_input_feature = 2,
                                       .kernel_output_feature = 3,
                                       .kernel_spatial = {0, 1},
                                       .output_batch = 0,
                                       .output_feature = 3,
                                       .output_spatial = {1, 2}};
  for (const auto* text :
       {"[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>",
        "b01f_01io->b01f",
        "#mhlo.conv<raw input_batch_dimension = 0, input_feature_dimension = 3, input_spatial_dimensions = [1, 2], "
        "kernel_input_feature_dimension = 2, kernel_output_feature_dimension = 3, kernel_spatial_dimensions = [0, 1], "
        "output_batch_dimension = 0, output_feature_dimension = 3, output_spatial_dimensions = [1, 2]>"}) {
    EXPECT_EQ(AsConvolutionDimensions(text), expected) << text;
  }
  for (const auto* text : {"", "[b, 0, f]", "[b, 0, 0, f]x[0, 1, i, o]->[b, 0, 1, f]", "[b, 9, f]x[0, i, o]->[b, 0, f]",
                           "[b, b, 0]x[0, i, o]->[b, 0, f]", "#stablehlo.conv<"}) {
    EXPECT_FALSE(AsConvolutionDimensions(text)) << text;
  }
}

TEST(OpAttributes, WindowOfAConvolution) {
  const Texts common = {{"dim_numbers", "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]"}, {"feature_group_count", "1 : i64"}};
  Texts apart = common;
  apart.insert(apart.end(), {{"window_strides", "array<i64: 2, 1>"},
                             {"padding", "dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>"},
                             {"rhs_dilation", "[1, 2]"},
                             {"window_reversal", "array<i1: false, true>"}});
  Texts joined = common;
  joined.push_back({"window", "{stride = [2, 1], pad = [[1, 2], [3, 4]], rhs_dilate = [1, 2], reverse = [0, 1]}"});
  const Window expected = {
      {.size = 3, .stride = 2, .padding_low = 1, .padding_high = 2},
      {.size = 5, .stride = 1, .padding_low = 3, .padding_high = 4, .window_dilation = 2, .reversed = true}};
  for (const Texts& texts : {apart, joined}) {
    OneOp one("stablehlo.convolution", texts, {{1, 8, 8, 4}, {3, 5, 4, 16}});
    EXPECT_EQ(WindowOf(one.module(), one.op), expected);
  }
}

TEST(OpAttributes, WindowOfAReduction) {
  OneOp one("stablehlo.reduce_window",
            {{"window_dimensions", "dense<[1, 2]> : tensor<2xi64>"}, {"padding", "dense<1> : tensor<2x2xi64>"}});
  const Window expected = {{.size = 1, .padding_low = 1, .padding_high = 1},
                           {.size = 2, .padding_low = 1, .padding_high = 1}};
  EXPECT_EQ(WindowOf(one.module(), one.op), expected);
  OneOp misfit("stablehlo.reduce_window",
               {{"window_dimensions", "array<i64: 1, 2>"}, {"window_strides", "array<i64: 1>"}});
  EXPECT_FALSE(WindowOf(misfit.module(), misfit.op));
}

TEST(OpAttributes, GatherScatterAndSlice) {
  OneOp gather("stablehlo.gather",
               {{"dimension_numbers",
                 "#stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0, 1], "
                 "index_vector_dim = 2>"},
                {"slice_sizes", "array<i64: 1, 2>"}});
  const auto dims = GatherDimensionsOf(gather.module(), gather.op);
  ASSERT_TRUE(dims);
  EXPECT_THAT(dims->start_index_map, ElementsAre(0, 1));
  EXPECT_EQ(dims->index_vector, 2);
  EXPECT_THAT(dims->slice_sizes, ElementsAre(1, 2));
  OneOp scatter("stablehlo.scatter", {{"scatter_dimension_numbers",
                                       "#stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], "
                                       "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>"}});
  EXPECT_THAT(ScatterDimensionsOf(scatter.module(), scatter.op)->inserted_window, ElementsAre(0));
  OneOp slice("stablehlo.slice", {{"start_indices", "array<i64: 1>"}, {"limit_indices", "array<i64: 3>"}});
  EXPECT_THAT(SliceBoundsOf(slice.module(), slice.op)->strides, ElementsAre(1));
}

TEST(OpAttributes, ReplicaGroupsInEverySpelling) {
  const Module module;
  const std::vector<Dimensions> pairs = {{0, 1}, {2, 3}};
  for (const auto* text : {"dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>", "{{0,1},{2,3}}", "[2,2]<=[4]",
                           "[[0, 1], [2, 3]]", "dense<\"0x00010203\"> : tensor<2x2xi8>"}) {
    EXPECT_THAT(AsReplicaGroups(module, text), Optional(pairs)) << text;
  }
  const std::vector<Dimensions> strided = {{0, 2, 4, 6}, {1, 3, 5, 7}};
  EXPECT_THAT(AsReplicaGroups(module, "[2,4]<=[4,2]T(1,0)"), Optional(strided));
  const std::vector<Dimensions> ragged = {{0, 1, 2}, {3}};
  EXPECT_THAT(AsReplicaGroups(module, "dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>"), Optional(ragged));
  for (const auto* text : {"dense<> : tensor<0x0xi64>", "{}", "[]"}) {
    EXPECT_THAT(AsReplicaGroups(module, text), Optional(IsEmpty())) << text;
  }
  const std::vector<Dimensions> alone = {{0}};
  EXPECT_THAT(AsReplicaGroups(module, "dense<0> : tensor<1x1xi64>"), Optional(alone));
  for (const auto* text : {"[2,4]<=[4]", "[0,4]<=[4]", "[2,2]<=[2,2]T(0,0)", "[2,2]<=", "x", "dense<1> : tensor<2xi64>",
                           "[4611686018427387904,4]<=[4]"}) {
    EXPECT_FALSE(AsReplicaGroups(module, text)) << text;
  }
}

TEST(OpAttributes, ReplicaGroupsOfMeshAxes) {
  OneOp one("sdy.mesh", {{"sym_name", "\"mesh\""}, {"mesh", "#sdy.mesh<[\"x\"=2, \"y\"=4]>"}});
  one.module().AddSymbol("mesh", one.op);
  const auto groups = [&](std::string_view mesh, std::string_view axes) {
    return AsReplicaGroups(one.module(), "#stablehlo.replica_group_mesh_axes<mesh = " + std::string(mesh) +
                                             ", axes = [" + std::string(axes) + "]>");
  };
  const std::vector<Dimensions> by_y = {{0, 1, 2, 3}, {4, 5, 6, 7}};
  const std::vector<Dimensions> by_x = {{0, 4}, {1, 5}, {2, 6}, {3, 7}};
  const std::vector<Dimensions> by_part = {{0, 1}, {2, 3}, {4, 5}, {6, 7}};
  const std::vector<Dimensions> by_both = {{0, 4, 1, 5, 2, 6, 3, 7}};
  EXPECT_THAT(groups("@mesh", "#stablehlo.axis_ref<name = \"y\">"), Optional(by_y));
  EXPECT_THAT(groups("@mesh", "0 : i64"), Optional(by_x));
  EXPECT_THAT(groups("@mesh", "#stablehlo.axis_ref<name = \"y\", sub_axis_info = (2)2>"), Optional(by_part));
  EXPECT_THAT(groups("@mesh", "1 : i64, 0 : i64"), Optional(by_both));
  EXPECT_THAT(groups("#stablehlo.mesh<axes = [<name = \"x\", size = 2>, <name = \"y\", size = 4>]>", "0 : i64"),
              Optional(by_x));
  const std::vector<Dimensions> renumbered = {{3, 1}, {2, 0}};
  EXPECT_THAT(groups("#stablehlo.mesh<axes = [<name = \"x\", size = 2>, <name = \"y\", size = 2>], device_ids = "
                     "dense<[3, 2, 1, 0]> : tensor<4xi64>>",
                     "0 : i64"),
              Optional(renumbered));
  const Module& module = one.module();
  EXPECT_THAT(AsReplicaGroups(module, "mesh['x'=2,'y'=4] {'x'}"), Optional(by_x));
  EXPECT_THAT(AsReplicaGroups(module, "mesh['x'=2,'y'=4] {'y':(2)2}"), Optional(by_part));
  EXPECT_THAT(AsReplicaGroups(module, "mesh['x'=2,'y'=2], device_ids=(3,2,1,0) {'x'}"), Optional(renumbered));
  EXPECT_FALSE(AsReplicaGroups(module, "mesh['x'=2,'y'=4] {'z'}"));
  EXPECT_FALSE(AsReplicaGroups(module, "mesh['x'=2"));
  EXPECT_FALSE(groups("@absent", "0 : i64"));
  EXPECT_FALSE(groups("@mesh", "2 : i64"));
  EXPECT_FALSE(groups("@mesh", "#stablehlo.axis_ref<name = \"y\", sub_axis_info = (3)2>"));
}

TEST(OpAttributes, GroupModeFollowsChannelAndFlag) {
  const std::pair<std::string, std::string> groups{"replica_groups", "dense<0> : tensor<1x1xi64>"};
  const std::pair<std::string, std::string> channel{"channel_handle",
                                                    "#stablehlo.channel_handle<handle = 1, type = 0>"};
  const auto mode = [](std::string_view name, const Texts& texts) {
    OneOp one(name, texts);
    return ReplicaGroupsOf(one.module(), one.op)->mode;
  };
  EXPECT_EQ(mode("stablehlo.all_reduce", {groups}), GroupMode::kCrossReplica);
  EXPECT_EQ(mode("stablehlo.all_reduce", {groups, channel}), GroupMode::kCrossReplicaAndPartition);
  EXPECT_EQ(mode("stablehlo.all_to_all", {groups, channel}), GroupMode::kCrossPartition);
  EXPECT_EQ(mode("stablehlo.all_reduce", {groups, channel, {"use_global_device_ids", ""}}), GroupMode::kFlattenedIds);
}

TEST(OpAttributes, SourceTargetPairs) {
  OneOp one("stablehlo.collective_permute", {{"source_target_pairs", "dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>"},
                                             {"channel_handle", "#mhlo.channel_handle<handle = 3, type = 1>"}});
  EXPECT_THAT(SourceTargetPairsOf(one.module(), one.op), Optional(ElementsAre(Pair(0, 1), Pair(1, 0))));
  EXPECT_THAT(ChannelOf(one.module(), one.op), Optional(3));
  EXPECT_FALSE(ReplicaGroupsOf(one.module(), one.op));
}

}  // namespace
}  // namespace hespas::ir
