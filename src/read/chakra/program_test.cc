#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "read/chakra/chakra.h"

namespace hespas::read::chakra {
namespace {

using ::testing::HasSubstr;
using namespace std::string_view_literals;  // NOLINT: texts with zero bytes

constexpr std::string_view kMetadata = "\0"sv;  // a message of no fields

std::string Code(std::string_view bytes) {
  const auto program = ReadProgram(bytes, "dev.0.et");
  return program ? "read" : std::string(program.error().kind->code);
}

TEST(ReadProgram, ReadsAComputeNode) {
  // id 7, type compute, 3 microseconds
  const auto program = ReadProgram("\0\6\x08\7\x18\4\x38\3"sv, "dev.0.et");
  ASSERT_TRUE(program) << Render(program.error());
  ASSERT_EQ(program->nodes.size(), 1u);
  EXPECT_EQ(program->nodes[0].id, 7u);
  EXPECT_EQ(program->nodes[0].duration, Time(3'000'000));
}

TEST(ReadProgram, AFieldOfAnotherWireTypeIsDamage) {
  EXPECT_EQ(Code("\0\3\x0a\1A"sv), "E0620");  // id as bytes
  EXPECT_EQ(Code("\0\2\x50\1"sv), "E0620");   // an attribute as a number
}

TEST(ReadProgram, CutOffFilesAreDamage) {
  EXPECT_EQ(Code(""), "E0620");
  EXPECT_EQ(Code("\0\6\x08\7\x18"sv), "E0620");
  EXPECT_EQ(Code("\0\xff\xff\xff\xff\xff\xff\xff\xff\x7f"sv), "E0620");
  EXPECT_EQ(Code("\0\x80"sv), "E0620");
}

TEST(ReadProgram, NodesWithoutTheirAttributesAreNamed) {
  const auto program = ReadProgram("\0\4\x08\7\x18\7"sv, "dev.0.et");  // a collective of no kind
  ASSERT_FALSE(program);
  EXPECT_EQ(program.error().kind->code, "E0621");
  EXPECT_THAT(program.error().message, HasSubstr("node 7: `comm_type` is missing"));
}

TEST(ReadProgram, MetadataAloneIsAnEmptyProgram) {
  const auto program = ReadProgram(kMetadata, "dev.0.et");
  ASSERT_TRUE(program);
  EXPECT_TRUE(program->nodes.empty());
}

}  // namespace
}  // namespace hespas::read::chakra
