#include "graph/block_module.h"

#include <gmock/gmock.h>

#include "graph/flat_tuples.h"
#include "ir/test_program.h"

namespace hespas::graph {
namespace {

using ::testing::ElementsAre;

TEST(BlockModule, TakesInputsAsArgumentsAndReturnsOutputs) {
  ir::TestProgram program({8}, 2);
  const ir::ValueId argument = program.argument(1);
  const ir::ValueId outside = program.Add("stablehlo.tanh", {program.argument(0)});
  const ir::ValueId inner = program.Add("stablehlo.add", {outside, argument});
  const ir::ValueId result = program.Add("stablehlo.multiply", {inner, outside});
  const ir::Module module = std::move(program).Return({result});
  const Block block = {.ops = {module.defining_op(inner), module.defining_op(result)},
                       .inputs = {outside, argument},
                       .outputs = {result},
                       .predecessors = {},
                       .hash = {}};
  EXPECT_THAT(BlockInputs(module, block), ElementsAre(outside, argument));
  const ir::Module made = BlockModule(module, block);
  const ir::BlockId body = made.body(made.main());
  EXPECT_EQ(made.block(body).argument_count, 2);
  ASSERT_EQ(made.block(body).ops.size(), 3);
  EXPECT_EQ(made.name(made.block(body).ops[0]), "stablehlo.add");
  EXPECT_EQ(made.operands(made.block(body).ops[0])[0], made.arguments(body)[0]);
  EXPECT_EQ(made.operands(made.block(body).ops[1])[1], made.arguments(body)[0]);  // the same value once more
  EXPECT_THAT(made.operands(made.block(body).ops[2]), ElementsAre(made.result(made.block(body).ops[1])));
}

TEST(FlatTypes, ListsTheMembersOfNestedTuples) {
  ir::TypeTable types;
  ir::Element f32;
  f32.kind = ir::ElementKind::kF32;
  const ir::TypeId a = types.InternTensor({1}, f32), b = types.InternTensor({2}, f32);
  ir::Type tuple;
  tuple.kind = ir::TypeKind::kTuple;
  tuple.nested = {a, b};
  const ir::TypeId inner = types.Intern(tuple);
  tuple.nested = {inner, a};
  const ir::TypeId outer[] = {types.Intern(tuple), b};
  EXPECT_THAT(FlatTypes(types, outer), ElementsAre(a, b, a, b));
}

}  // namespace
}  // namespace hespas::graph
