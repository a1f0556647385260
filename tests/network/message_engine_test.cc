// The workload layer over message engines of its own: a plain priority queue with the alpha-beta delays of the
// specification gives every recorded run, in one host for all NPUs and in one for each.
#include "simulate/engine/message_engine.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <queue>
#include <tuple>

#include "case_file.h"

namespace hespas::network_test {
namespace {

using hardware::DimensionKind;
using simulate::HostedWorkload;
using simulate::MatchKey;

// Callbacks by time and order of the calls.
class Clock {
 public:
  uint64_t now() const { return now_; }
  void At(uint64_t time, std::function<void()> callback) {
    due_.emplace(std::pair(time, next_++), std::move(callback));
  }
  void Run() {
    while (!due_.empty()) {
      const auto first = due_.extract(due_.begin());
      now_ = first.key().first;
      first.mapped()();
    }
  }

 private:
  std::map<std::pair<uint64_t, uint64_t>, std::function<void()>> due_;
  uint64_t now_ = 0;
  uint64_t next_ = 0;
};

class AlphaBetaEngine : public simulate::MessageEngine {
 public:
  using Deliver = std::function<void(const MatchKey&)>;
  AlphaBetaEngine(Clock& clock, const hardware::System& system, Deliver deliver = {})
      : clock_(clock), system_(system), deliver_(std::move(deliver)) {}

  uint64_t Now() const override { return clock_.now(); }
  void After(uint64_t delay, Callback callback) override { clock_.At(Now() + delay, std::move(callback)); }
  void Send(const MatchKey& message, Callback arrived) override {
    const uint64_t at = Now() + Delay(message);
    clock_.At(at, [this, message, arrived = std::move(arrived)] {
      arrived();
      if (deliver_) deliver_(message);
    });
  }
  Status Run() override {
    clock_.Run();
    return {};
  }

 private:
  uint64_t Delay(const MatchKey& message) const {
    uint32_t from = message.source;
    uint32_t to = message.destination;
    for (const hardware::NetworkDimension& dimension : system_.dimensions) {
      const uint32_t n = dimension.npus;
      const uint32_t steps = (to % n + n - from % n) % n;
      from /= n;
      to /= n;
      if (steps == 0) continue;
      const uint32_t hops = dimension.kind == DimensionKind::kRing     ? std::min(steps, n - steps)
                            : dimension.kind == DimensionKind::kSwitch ? 2
                                                                       : 1;
      const double bytes_per_ns = dimension.bandwidth * 1073741824.0 / 1e9;
      return static_cast<uint64_t>(hops * dimension.latency + static_cast<double>(message.size) / bytes_per_ns);
    }
    return 0;
  }

  Clock& clock_;
  const hardware::System& system_;
  Deliver deliver_;
};

Result<result::SimResult> OneHost(const Case& built) {
  Clock clock;
  AlphaBetaEngine engine(clock, built.system);
  return simulate::SimulateOver(engine, built.trace, built.system, built.options);
}

TEST(MessageEngine, CarriesEveryRecordedRunWithoutCongestion) {
  int failures = 0;
  int compared = 0;
  for (const Golden& golden : ReadGoldens(HESPAS_NETWORK_DATA)) {
    if (golden.kind == "undefined" || golden.in.at("be") != "U") continue;
    const Result<Case> built = BuildCase(golden.in);
    if (!built) continue;
    const auto got = OneHost(*built);
    ++compared;
    if (golden.kind != "ok" && golden.kind != "ok-nostats") continue;
    ASSERT_TRUE(got.ok()) << golden.id << ": " << got.error().message;
    nlohmann::json want = golden.out;
    for (const char* other : {"rc", "roof", "unfinished", "err"}) want.erase(other);
    if (Answer(*got) == want) continue;
    if (++failures <= 10)
      ADD_FAILURE() << golden.id << "\n" << Answer(*got).dump().substr(0, 300) << "\n" << want.dump().substr(0, 300);
  }
  EXPECT_GT(compared, 2000);
}

// Messages between hosts are heard of by Deliver alone, as between processes.
std::vector<uint64_t> FinishesWithAHostEach(const Case& built) {
  Clock clock;
  const auto ranks = static_cast<uint32_t>(built.system.npus());
  std::vector<std::unique_ptr<HostedWorkload>> hosts(ranks);
  AlphaBetaEngine engine(clock, built.system, [&](const MatchKey& key) { hosts[key.destination]->Deliver(key); });
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    hosts[rank] = std::make_unique<HostedWorkload>(built.trace, built.system, built.options, engine,
                                                   simulate::RankRange{.first = rank, .count = 1});
    EXPECT_TRUE(hosts[rank]->Start().ok());
  }
  clock.Run();
  std::vector<uint64_t> finishes;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    EXPECT_TRUE(hosts[rank]->done());
    const auto result = hosts[rank]->Finish();
    finishes.push_back(result.ok() ? result->ranks[rank].finish : 0);
  }
  return finishes;
}

TEST(MessageEngine, HostsOfSingleRanksGiveTheSameTicks) {
  int compared = 0;
  for (const Golden& golden : ReadGoldens(HESPAS_NETWORK_DATA)) {
    if (golden.kind != "ok" || golden.in.at("be") != "U" || golden.in.contains("mem")) continue;
    const Result<Case> built = BuildCase(golden.in);
    ASSERT_TRUE(built.ok());
    if (built->system.npus() > 16) continue;
    const auto together = OneHost(*built);
    ASSERT_TRUE(together.ok());
    const std::vector<uint64_t> apart = FinishesWithAHostEach(*built);
    for (size_t rank = 0; rank < apart.size(); ++rank) {
      ASSERT_EQ(apart[rank], together->ranks[rank].finish) << golden.id << " NPU " << rank;
    }
    ++compared;
  }
  EXPECT_GT(compared, 1000);
}

TEST(MessageEngine, AStuckRunNamesItsNode) {
  for (const Golden& golden : ReadGoldens(HESPAS_NETWORK_DATA)) {
    if (golden.kind != "stuck" || golden.in.at("be") != "U") continue;
    const Result<Case> built = BuildCase(golden.in);
    ASSERT_TRUE(built.ok());
    const auto got = OneHost(*built);
    ASSERT_FALSE(got.ok()) << golden.id;
    EXPECT_THAT(got.error().message, testing::HasSubstr("NPU")) << golden.id;
  }
}

}  // namespace
}  // namespace hespas::network_test
