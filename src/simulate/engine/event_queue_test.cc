#include "simulate/engine/queue/event_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "simulate/engine/matcher.h"
#include "simulate/engine/order_trace.h"

namespace hespas::simulate {
namespace {

TEST(EventQueue, RunsByTimeThenInsertion) {
  EventQueue queue(false);
  std::mt19937_64 random(3);
  std::vector<std::tuple<uint64_t, uint32_t>> expected;
  uint32_t number = 0;
  const auto push = [&](uint64_t time) {
    queue.Push(time, {.a = number});
    expected.emplace_back(time, number++);
  };
  for (int i = 0; i < 3000; ++i) push(random() % 500);
  std::vector<std::tuple<uint64_t, uint32_t>> got;
  Event event;
  while (queue.Pop(event)) {
    got.emplace_back(queue.now(), event.a);
    if (got.size() % 3 == 0 && number < 9000) push(queue.now() + random() % 400);  // 0: in this very pass
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(got, expected);
}

TEST(Matcher, PairsInOrderWhateverComesFirst) {
  Matcher matcher(100);
  const MatchKey key{.size = 10, .tag = 1, .source = 2, .destination = 3};
  Callback got;
  EXPECT_FALSE(matcher.Arrive(key, got));
  EXPECT_TRUE(matcher.Receive(key, {CallbackKind::kStream, 1, 0}));
  for (uint32_t i = 0; i < 5; ++i) EXPECT_FALSE(matcher.Receive(key, {CallbackKind::kStream, i, 0}));
  for (uint32_t i = 0; i < 5; ++i) {
    EXPECT_TRUE(matcher.Arrive(key, got));
    EXPECT_EQ(got.owner, i);
  }
  MatchKey other = key;
  other.size = 11;  // the size is part of the key
  EXPECT_FALSE(matcher.Receive(key, {CallbackKind::kStream, 9, 0}));
  EXPECT_FALSE(matcher.Arrive(other, got));
}

TEST(Matcher, ForgetsChannelsAtRestWhenFull) {
  Matcher matcher(100);
  Callback got;
  for (uint32_t tag = 0; tag < 100'000; ++tag) {
    const MatchKey key{.size = 1, .tag = tag, .source = 0, .destination = 1};
    EXPECT_FALSE(matcher.Receive(key, {CallbackKind::kStream, tag, 0}));
    if (tag % 1000 == 7) continue;  // some stay
    ASSERT_TRUE(matcher.Arrive(key, got));
  }
  size_t waiting = 0;
  matcher.EachWaiting([&](const MatchKey& key, Callback callback) {
    EXPECT_EQ(key.tag, callback.owner);
    ++waiting;
  });
  EXPECT_EQ(waiting, 100u);
}

TEST(OrderTrace, ShiftsRotateAndExchangesStartWithTheFirstSendersNeighbour) {
  hardware::System system;
  system.dimensions = {{.npus = 4, .bandwidth = 1, .latency = 1}};
  const EquivalentRanks one_class{.class_of = {0, 0, 0, 0}, .members = {{0, 1, 2, 3}}};
  OrderTrace trace(system, one_class);
  constexpr uint32_t kStartOrder = 0;
  using Ranks = std::vector<uint32_t>;
  EXPECT_EQ(trace.Evaluate(kStartOrder), (Ranks{0, 1, 2, 3}));
  EXPECT_EQ(trace.Evaluate(trace.Shift(trace.Shift(kStartOrder, 0, 3), 0, 3)), (Ranks{2, 3, 0, 1}));
  EXPECT_EQ(trace.Shift(trace.Shift(kStartOrder, 0, 3), 0, 1), kStartOrder);
  EXPECT_EQ(trace.Evaluate(trace.Exchange(kStartOrder, 0, 0, true)), (Ranks{1, 2, 3, 0}));
  EXPECT_EQ(trace.Evaluate(trace.Exchange(kStartOrder, 0, 0, false)), (Ranks{3, 2, 1, 0}));
  EXPECT_EQ(trace.Evaluate(trace.Swap(kStartOrder, 0, 2)), (Ranks{2, 3, 0, 1}));
}

}  // namespace
}  // namespace hespas::simulate
