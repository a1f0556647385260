#include "memory/memory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

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
  EXPECT_EQ(curve.outputs, Bytes(2 * kBuffer));  // the returned argument among them
  for (const result::MemoryPoint& point : curve.points) EXPECT_GE(point.total(), Bytes(4 * kBuffer));
  EXPECT_EQ(curve.peak, Bytes(4 * kBuffer));
}

// `count` values made first, then read one after the other.
ir::Module MadeFirst(int count) {
  ir::TestProgram program({64, 64});
  std::vector<ir::ValueId> made;
  for (int i = 0; i < count; ++i) made.push_back(Dot(program, program.argument(), program.argument()));
  ir::ValueId matmul = made[0];
  for (size_t i = 1; i < made.size(); ++i) matmul = Dot(program, matmul, made[i]);
  return std::move(program).Return({matmul});
}

TEST(Memory, AValueIsHeldUntilItsLastUse) {
  const Bytes five = MemoryOf(MadeFirst(5), {.keep_order = true}).peak;
  EXPECT_EQ(MemoryOf(MadeFirst(6), {.keep_order = true}).peak, five + Bytes(kBuffer));
}

TEST(Memory, AnOrderIsChosenForItsPeakUnlessAScheduleIsKept) {
  EXPECT_LT(MemoryOf(MadeFirst(6), {}).peak, MemoryOf(MadeFirst(6), {.keep_order = true}).peak);
}

TEST(Memory, ThePeakIsThatOfTheCurve) {
  const result::MemoryCurve curve = MemoryOf(MadeFirst(4), {.keep_order = true});
  Bytes most;
  for (const result::MemoryPoint& point : curve.points) most = std::max(most, point.total());
  EXPECT_EQ(curve.peak, most);
  Bytes sum;
  for (const Bytes bytes : curve.at_peak) sum += bytes;
  EXPECT_EQ(sum, most);
}

}  // namespace
}  // namespace hespas::memory
