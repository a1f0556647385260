// The endpoint of SST's component without SST: one for each NPU, over packets that wait for room and change places.
#include "engines/sst/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "case_file.h"

namespace hespas::network_test {
namespace {

using engines::Endpoint;
using engines::Packet;

constexpr uint64_t kLatency = 500'000;  // ps, of a ring's hop
constexpr double kBytesPerPs = 50.0 * 1073741824.0 / 1e12;

class World {
 public:
  uint64_t now = 0;
  void At(uint64_t time, std::function<void()> what) { due_.emplace(std::pair(time, count_++), std::move(what)); }
  void Run() {
    while (!due_.empty()) {
      const auto first = due_.extract(due_.begin());
      now = first.key().first;
      first.mapped()();
    }
  }

 private:
  std::map<std::pair<uint64_t, uint64_t>, std::function<void()>> due_;
  uint64_t count_ = 0;
};

// One packet leaves at a time; with `disorder` every second one takes a longer way.
class Wire : public engines::Ports {
 public:
  Wire(World& world, std::vector<std::unique_ptr<Wire>>& wires, uint32_t packet_bytes, bool disorder)
      : endpoint(*this, packet_bytes), world_(world), wires_(wires), disorder_(disorder) {}
  uint64_t Now() const override { return world_.now; }
  void WakeAfter(uint64_t delay) override {
    world_.At(world_.now + delay, [this] { endpoint.Wake(); });
  }
  bool HasRoomFor(uint32_t) override { return free_at_ <= world_.now; }
  void Send(const Packet& packet) override {
    free_at_ = world_.now + static_cast<uint64_t>(packet.bytes / kBytesPerPs);
    const uint64_t detour = disorder_ && sent_++ % 2 == 0 ? 300'000 : 0;
    world_.At(free_at_ + kLatency + detour,
              [this, packet] { wires_[packet.message.destination]->endpoint.Receive(packet); });
    world_.At(free_at_, [this] { endpoint.RoomCame(); });
  }
  Endpoint endpoint;

 private:
  World& world_;
  std::vector<std::unique_ptr<Wire>>& wires_;
  bool disorder_;
  uint64_t free_at_ = 0;
  uint64_t sent_ = 0;
};

std::vector<uint64_t> Finishes(const nlohmann::json& input, uint32_t packet_bytes, bool disorder) {
  Result<Case> built = BuildCase(input);
  EXPECT_TRUE(built.ok());
  built->options.resolution = simulate::Resolution::kPicosecond;
  World world;
  std::vector<std::unique_ptr<Wire>> wires;
  for (uint32_t rank = 0; rank < built->system.npus(); ++rank)
    wires.push_back(std::make_unique<Wire>(world, wires, packet_bytes, disorder));
  for (uint32_t rank = 0; rank < wires.size(); ++rank)
    EXPECT_TRUE(wires[rank]->endpoint.Start(built->trace, built->system, built->options, rank).ok());
  world.Run();
  std::vector<uint64_t> finishes;
  for (uint32_t rank = 0; rank < wires.size(); ++rank) {
    EXPECT_TRUE(wires[rank]->endpoint.done());
    const auto result = wires[rank]->endpoint.Finish();
    EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().message);
    finishes.push_back(result.ok() ? result->ranks[rank].finish : 0);
  }
  return finishes;
}

TEST(Endpoint, RingsTakeTheAlphaBetaTime) {
  for (const char* kind : {"AG", "RS", "AR"}) {
    for (const uint32_t packet : {64u, 500u, 1u << 20}) {
      nlohmann::json input = OneCollective(kind, 1 << 18, "ring", "Ring", 8);
      input["sys"]["endpoint-delay"] = 0;
      input["sys"]["local-mem-bw"] = 0;
      const double bytes = kind == std::string("AG") ? 1 << 18 : (1 << 18) / 8;
      const double steps = kind == std::string("AR") ? 14 : 7;
      const double want = steps * (static_cast<double>(kLatency) + bytes / kBytesPerPs);
      for (const uint64_t finish : Finishes(input, packet, false)) {
        EXPECT_NEAR(static_cast<double>(finish), want, 1e-3 * want) << kind << packet;
      }
    }
  }
}

TEST(Endpoint, PacketsMayChangePlaces) {
  for (const char* kind : {"AG", "A2A"}) {
    const nlohmann::json input = OneCollective(kind, 1 << 16, "direct", "Ring", 5);
    const auto straight = Finishes(input, 512, false);
    const auto disordered = Finishes(input, 512, true);
    for (size_t rank = 0; rank < straight.size(); ++rank) {
      EXPECT_GT(disordered[rank], straight[rank]);
      EXPECT_LE(disordered[rank], straight[rank] + 2 * 300'000);
    }
  }
}

TEST(Endpoint, WhoWaitsForeverSaysSo) {
  nlohmann::json input = OneCollective("AR", 1, "ring", "Ring", 2);
  input["trace"] = {
      {"ranks", {{{{"id", 0}, {"t", "recv"}, {"fr", 1}, {"sz", 8}}}, {{{"id", 0}, {"t", "comp"}, {"us", 1}}}}}};
  const Result<Case> built = BuildCase(input);
  ASSERT_TRUE(built.ok());
  World world;
  std::vector<std::unique_ptr<Wire>> wires;
  wires.push_back(std::make_unique<Wire>(world, wires, 512, false));
  ASSERT_TRUE(wires[0]->endpoint.Start(built->trace, built->system, built->options, 0).ok());
  world.Run();
  EXPECT_FALSE(wires[0]->endpoint.done());
  const auto result = wires[0]->endpoint.Finish();
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().message, testing::HasSubstr("NPU 0"));
}

}  // namespace
}  // namespace hespas::network_test
