#include "assemble/compute_stream.h"

#include <gmock/gmock.h>

namespace hespas::assemble {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

trace::Node& Append(trace::Program& program, std::vector<uint64_t> after = {}) {
  trace::Node node{.id = program.nodes.size(),
                   .first_dependency = static_cast<uint32_t>(program.dependencies.size()),
                   .dependency_count = static_cast<uint32_t>(after.size())};
  program.dependencies.insert(program.dependencies.end(), after.begin(), after.end());
  return program.nodes.emplace_back(node);
}

std::vector<uint64_t> Dependencies(const trace::Program& program, size_t id) {
  const trace::Node& node = program.nodes[id];
  const auto first = program.dependencies.begin() + node.first_dependency;
  return {first, first + node.dependency_count};
}

TEST(ComputeStream, MessagesWaitForWhatIsBeforeThemAndHoldWhatIsBehind) {
  trace::Program program;
  ComputeStream stream;
  for (int kernel = 0; kernel < 2; ++kernel) {
    Append(program);
    stream.Add(program);
  }
  for (int message = 2; message < 4; ++message) {
    Append(program, {0});
    stream.AddMessage(program);
  }
  stream.EndMessages();
  Append(program, {3});
  stream.Add(program);
  EXPECT_THAT(Dependencies(program, 1), IsEmpty());
  EXPECT_THAT(Dependencies(program, 2), ElementsAre(0, 1));
  EXPECT_THAT(Dependencies(program, 3), ElementsAre(0, 1));
  EXPECT_EQ(program.nodes[3].control_dependency_count, 1u);
  EXPECT_THAT(Dependencies(program, 4), ElementsAre(3, 2));
  EXPECT_EQ(program.nodes[4].control_dependency_count, 1u);
}

// Where each is compared with all before it, this test alone takes half a minute.
TEST(ComputeStream, AMessageWaitsForAllKernelsBeforeIt) {
  constexpr size_t kKernels = 300'000;
  trace::Program program;
  ComputeStream stream;
  for (size_t kernel = 0; kernel < kKernels; ++kernel) {
    Append(program);
    stream.Add(program);
  }
  Append(program);
  stream.AddMessage(program);
  EXPECT_EQ(program.nodes.back().dependency_count, kKernels);
}

TEST(ComputeStream, PermutesQueueBehindEachOther) {
  trace::Program program;
  ComputeStream stream;
  for (int permute = 0; permute < 2; ++permute) {
    Append(program);
    stream.AddMessage(program);
    stream.EndMessages();
  }
  Append(program);
  stream.Add(program);
  EXPECT_THAT(Dependencies(program, 1), ElementsAre(0));
  EXPECT_THAT(Dependencies(program, 2), ElementsAre(1));
}

}  // namespace
}  // namespace hespas::assemble
