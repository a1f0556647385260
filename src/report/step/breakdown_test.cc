#include "report/step/breakdown.h"

#include <gmock/gmock.h>

#include <numeric>

#include "report/step/critical_path.h"

namespace hespas::report {
namespace {

using ::testing::ElementsAre;

int64_t Sum(const std::vector<Time>& times) {
  return std::accumulate(times.begin(), times.end(), int64_t{0}, [](int64_t sum, Time t) { return sum + t.value; });
}

TEST(Divide, PartsAddUpInProportion) {
  EXPECT_THAT(Divide(Time(10), {Time(1), Time(1), Time(2)}), ElementsAre(Time(2), Time(3), Time(5)));
  for (const int64_t time : std::initializer_list<int64_t>{1, 7, 1000003, 9223372036854775}) {
    EXPECT_EQ(Sum(Divide(Time(time), {Time(3), Time(7), Time(11), Time(0), Time(1)})), time);
  }
}

TEST(Divide, WithoutWeightsPartsAreEqual) {
  EXPECT_THAT(Divide(Time(9), {Time(), Time(), Time()}), ElementsAre(Time(3), Time(3), Time(3)));
}

TEST(LaunchPart, IsNeverMoreThanTheWhole) {
  graph::Estimate estimate{.time = Time(5), .bound = graph::Bound::kLaunch};
  estimate.terms = {{graph::kComputeTerm, Time(1)}, {graph::kMemoryTerm, Time(2)}, {"launch", Time(9)}};
  EXPECT_EQ(LaunchPart(estimate), Time(5));
  EXPECT_EQ(BoundOfRest(estimate), graph::Bound::kMemory);
}

// Two ranks in ticks of 1 ps: computation, an all-reduce that half hides, a wait of the faster one.
class TwoRanks : public ::testing::Test {
 protected:
  TwoRanks() {
    blocks_.blocks.resize(3);
    estimates_.of_block.assign(3, graph::EstimateTable::kNone);
    trace::Program program;
    for (uint64_t id = 0; id < 3; ++id) {
      trace::Node node{.id = id, .kind = id == 1 ? trace::NodeKind::kCollective : trace::NodeKind::kCompute};
      node.block = static_cast<uint32_t>(id);
      node.name = "n";
      program.nodes.push_back(node);
    }
    traces_.programs.push_back(program);
    traces_.program_of_rank = {0, 0};
    simulated_.tick = Time(1);
    simulated_.intervals = {{0, 0, 0, 10}, {1, 0, 5, 25}, {2, 0, 15, 20}, {0, 1, 0, 12}, {1, 1, 12, 25}};
    simulated_.critical_path = {{.node = 0, .rank = 1, .name = "n", .why = "compute", .start = 0, .end = 12},
                                {.node = 1, .rank = 1, .name = "n", .why = "transfer", .start = 13, .end = 25}};
  }

  StepView View() const {
    return {.blocks = blocks_,
            .estimates = estimates_,
            .op_times = op_times_,
            .traces = traces_,
            .simulated = &simulated_,
            .step_time = Time(30)};
  }

  graph::BlockGraph blocks_;
  graph::EstimateTable estimates_;
  std::vector<std::vector<Time>> op_times_;
  trace::TraceGraph traces_;
  result::SimResult simulated_;
};

TEST_F(TwoRanks, AccountCountsComputationExposedCommunicationAndIdleTime) {
  const Account account = MakeAccount(View());
  EXPECT_THAT(account.computed, ElementsAre(Time(22), Time(0), Time(5), Time(0)));
  EXPECT_EQ(account.exposed[1], Time(5 + 5 + 13));  // 10 to 15 and 20 to 25 on rank 0
  EXPECT_EQ(account.idle, Time(5 + 5));
  EXPECT_EQ(account.total, Time(60));
  EXPECT_EQ(Sum(account.computed) + Sum(account.exposed) + account.idle.value, account.total.value);
}

TEST_F(TwoRanks, OneRankInPlaceOfAllCountsForAll) {
  simulated_.method = "symmetry";
  simulated_.intervals.resize(3);
  const Account account = MakeAccount(View());
  EXPECT_EQ(account.computed[0], Time(20));
  EXPECT_EQ(Sum(account.computed) + Sum(account.exposed) + account.idle.value, 60);
}

TEST_F(TwoRanks, CriticalPathHasNoGaps) {
  const std::vector<PathRow> path = CriticalPath(View());
  ASSERT_EQ(path.size(), 4u);
  EXPECT_EQ(path[1].why, "nothing to do");
  EXPECT_EQ(path[3].start + path[3].duration, Time(30));
  Time sum;
  for (const PathRow& row : path) sum += row.duration;
  EXPECT_EQ(sum, Time(30));
}

}  // namespace
}  // namespace hespas::report
