#include "memory/memory.h"

#include <gtest/gtest.h>

#include "ir/test_program.h"

namespace hespas::memory {
namespace {

constexpr int64_t kBuffer = 64 * 64 * 4;

const ir::TestProgram::Texts kDot = {{"dot_dimension_numbers",
                                      "#stablehlo.dot<lhs_contracting_dimensions = [1], "
                                      "rhs_contracting_dimensions = [0]>"}};

ir::ValueId Dot(ir::TestProgram& program, ir::ValueId a, ir::ValueId b) {
  return program.Add("stablehlo.dot_general", {a, b}, kDot);
}

TEST(Memory, ArgumentsAndResultsAreHeldThroughout) {
  ir::TestProgram program({64, 64}, 3);  // the third is not used
  const ir::Module module =
      std::move(program).Return({Dot(program, program.argument(0), program.argument(1)), program.argument(0)});
  const result::MemoryCurve curve = MemoryOf(module, {});
  EXPECT_EQ(curve.arguments, Bytes(3 * kBuffer));
  EXPECT_EQ(curve.temporaries, Bytes());
  for (const result::MemoryPoint& point : curve.points) EXPECT_GE(point.total(), Bytes(4 * kBuffer));
  EXPECT_EQ(curve.peak, curve.arguments + curve.outputs - curve.aliased);
}

TEST(Memory, AValueIsHeldUntilItsLastUse) {
  ir::TestProgram program({64, 64});
  const ir::ValueId first = Dot(program, program.argument(), program.argument());
  const ir::ValueId second = Dot(program, first, first);
  const ir::ValueId third = Dot(program, second, second);
  const ir::Module ends_early = std::move(program).Return({Dot(program, third, third)});
  const Bytes early = MemoryOf(ends_early, {}).peak;

  ir::TestProgram longer({64, 64});
  const ir::ValueId one = Dot(longer, longer.argument(), longer.argument());
  const ir::ValueId two = Dot(longer, one, one);
  const ir::ValueId three = Dot(longer, two, two);
  const ir::Module ends_late = std::move(longer).Return({Dot(longer, three, one)});  // `one` is read again
  EXPECT_EQ(MemoryOf(ends_late, {}).peak, early + Bytes(kBuffer));
}

TEST(Memory, ThePeakIsThatOfTheCurve) {
  ir::TestProgram program({64, 64});
  const ir::ValueId first = Dot(program, program.argument(), program.argument());
  const ir::ValueId second = Dot(program, first, first);
  const ir::Module module = std::move(program).Return({Dot(program, first, second)});
  const result::MemoryCurve curve = MemoryOf(module, {});
  Bytes most;
  for (const result::MemoryPoint& point : curve.points) most = std::max(most, point.total());
  EXPECT_EQ(curve.peak, most);
  EXPECT_EQ(curve.temporaries, Bytes(2 * kBuffer));
}

TEST(Memory, AScheduleIsKeptAndOtherOrdersAreChosenForTheirPeak) {
  ir::TestProgram program({64, 64});
  std::vector<ir::ValueId> made;
  for (int i = 0; i < 6; ++i) made.push_back(program.Add("stablehlo.broadcast_in_dim", {program.argument()}));
  ir::ValueId sum = made[0];
  for (int i = 1; i < 6; ++i) sum = Dot(program, sum, made[static_cast<size_t>(i)]);
  const ir::Module module = std::move(program).Return({sum});
  EXPECT_LT(MemoryOf(module, {}).peak, MemoryOf(module, {.keep_order = true}).peak);
}

}  // namespace
}  // namespace hespas::memory
