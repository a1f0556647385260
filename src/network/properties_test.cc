// What every price of the calibrated model keeps, for all shipped systems and for 2,000 generated ones.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "hardware/presets.h"
#include "hardware/system.h"
#include "network/calibrated.h"

namespace hespas::network {
namespace {

using hardware::Device;
using hardware::DimensionKind;
using hardware::System;

constexpr Operation kAll[] = {Operation::kAllReduce, Operation::kAllGather, Operation::kReduceScatter,
                              Operation::kAllToAll, Operation::kPermute};
constexpr size_t kGenerated = 2000;

const NetworkConstants& Shipped() {
  EXPECT_TRUE(DefaultNetworkConstants());
  return *DefaultNetworkConstants();
}

std::vector<uint32_t> Everyone(const System& system) {
  std::vector<uint32_t> ranks(system.npus());
  std::iota(ranks.begin(), ranks.end(), 0u);
  return ranks;
}

Price PriceOn(const Device& device, const System& system, Operation op, double bytes) {
  std::vector<uint32_t> members = Everyone(system);
  if (op == Operation::kPermute) members = {members.front(), members.back()};
  return CalibratedModel(device, system, Shipped()).PriceOf({.op = op, .bytes = bytes}, members);
}

System Scaled(System system, double bandwidth, double latency_ns) {
  for (auto& dimension : system.dimensions) {
    dimension.bandwidth *= bandwidth;
    dimension.latency += latency_ns;
  }
  return system;
}

double Hops(const Price& price) {
  double hops = 0;
  for (const LevelPrice& level : price.levels) hops += level.hops;
  return hops;
}

// A picosecond of rounding.
constexpr double kPicosecond = 2e-6;  // us
double Micros(const Price& price) { return price.time.seconds() * 1e6; }

// No jump at zero: a latency of a picosecond costs as many picoseconds as there are hops.
void HasNoJumpAtZero(const Device& device, System system, Operation op, double bytes, const std::string& where) {
  for (auto& dimension : system.dimensions) dimension.latency = 0;
  const Price zero = PriceOn(device, system, op, bytes);
  const Price small = PriceOn(device, Scaled(system, 1, 1e-3), op, bytes);
  EXPECT_GE(small.time, zero.time) << where;
  EXPECT_LE(Micros(small) - Micros(zero), 1e-6 * Hops(zero) + kPicosecond) << where;
}

void HoldsOn(const Device& device, const System& system, double bytes) {
  for (const Operation op : kAll) {
    const Price price = PriceOn(device, system, op, bytes);
    const std::string where = fmt::format("{} of {} B on {}, {} dimensions", kOperationNames[static_cast<size_t>(op)],
                                          bytes, system.name, system.dimensions.size());
    ASSERT_GT(price.time.value, 0) << where;
    // An exposed collective gets longer by its hops times the added latency, from zero on.
    const Price ideal = PriceOn(device, Scaled(system, 1, 0), op, bytes);
    EXPECT_EQ(ideal.time, price.time);
    for (const double added : {1.0, 5000.0}) {
      const Price slower = PriceOn(device, Scaled(system, 1, added), op, bytes);
      const double hops = std::min(Hops(price), Hops(slower));
      EXPECT_GE(Micros(slower) - Micros(price), hops * added * 1e-3 - kPicosecond) << where;
    }
    // Twice all bandwidths: the wire time halves. (Another algorithm may be better then.)
    const Price faster = PriceOn(device, Scaled(system, 2, 0), op, bytes);
    if (faster.algorithm == price.algorithm) {
      EXPECT_NEAR(faster.wire_us, price.wire_us / 2, 1e-9 * price.wire_us) << where;
    }
    EXPECT_LE(faster.time, price.time) << where;
    // Between the slowest level and one level after the other.
    double slowest = 0;
    double sum = 0;
    for (const LevelPrice& level : price.levels) {
      slowest = std::max(slowest, level.wire_us);
      sum += level.wire_us;
    }
    EXPECT_GE(price.wire_us, slowest * (1 - 1e-12)) << where;
    EXPECT_LE(price.wire_us, sum * (1 + 1e-12)) << where;
    HasNoJumpAtZero(device, system, op, bytes, where);
  }
}

// n = a x b with the same links: an all-gather changes by no more than its software steps and their latencies.
void SplittingChangesStepsOnly(const Device& device, const System& whole, uint32_t a, double bytes) {
  System split = whole;
  split.dimensions.push_back(split.dimensions[0]);
  split.dimensions[0].npus = a;
  split.dimensions[1].npus /= a;
  const Price one = PriceOn(device, whole, Operation::kAllGather, bytes);
  const Price two = PriceOn(device, split, Operation::kAllGather, bytes);
  EXPECT_NEAR(two.wire_us, one.wire_us, 1e-9 * one.wire_us) << whole.name << ", " << bytes;
  EXPECT_NEAR(Micros(two), Micros(one), std::fabs(one.latency_us - two.latency_us) + kPicosecond)
      << whole.name << ", " << bytes;
}

TEST(NetworkProperties, HoldOnAllPresets) {
  Diagnostics diagnostics;
  const auto names = hardware::PresetNames(hardware::PresetKind::kSystem);
  ASSERT_GT(names.size(), 50u);
  for (const std::string& name : names) {
    const auto path = hardware::FindPreset(hardware::PresetKind::kSystem, name);
    ASSERT_TRUE(path);
    const auto system = hardware::LoadSystem(path->string(), {}, diagnostics);
    ASSERT_TRUE(system) << name;
    const auto device = hardware::LoadDevice(system->device, diagnostics);
    ASSERT_TRUE(device) << name;
    const auto& dimensions = system->dimensions;
    const bool uniform = dimensions.size() == 1 && dimensions[0].kind == DimensionKind::kSwitch;
    for (const double bytes : {256.0, 1e6, 3e8}) {
      HoldsOn(*device, *system, bytes);
      if (uniform && dimensions[0].npus % 2 == 0) SplittingChangesStepsOnly(*device, *system, 2, bytes);
    }
  }
}

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  System Next() {
    System system{.name = "generated"};
    const int count = Draw(1, 4);
    for (int d = 0; d < count; ++d) {
      system.dimensions.push_back({.kind = static_cast<DimensionKind>(Draw(0, 2)),
                                   .npus = static_cast<uint32_t>(Draw(2, d == 0 ? 16 : 6)),
                                   .bandwidth = std::exp2(Draw(0, 10)),
                                   .latency = Draw(0, 3) == 0 ? 0.0 : std::exp2(Draw(0, 14)),
                                   .open = Draw(0, 1) == 1});
    }
    return system;
  }
  double Bytes() { return std::exp2(Draw(0, 34)); }
  int Draw(int low, int high) { return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1)); }

 private:
  std::mt19937 random_;
};

TEST(NetworkProperties, HoldOnGeneratedSystems) {
  Diagnostics diagnostics;
  const auto device = hardware::LoadDevice("H100_80GB", diagnostics);
  const auto torus = hardware::LoadDevice("TPUv5p", diagnostics);
  ASSERT_TRUE(device && torus);
  Generator generator(35);
  for (size_t i = 0; i < kGenerated; ++i) HoldsOn(i % 2 == 0 ? *device : *torus, generator.Next(), generator.Bytes());
}

TEST(NetworkProperties, SplittingAUniformDimensionChangesStepsOnly) {
  Diagnostics diagnostics;
  const auto device = hardware::LoadDevice("H100_80GB", diagnostics);
  ASSERT_TRUE(device);
  Generator generator(11);
  for (size_t i = 0; i < kGenerated; ++i) {
    const auto a = static_cast<uint32_t>(generator.Draw(2, 12));
    const auto b = static_cast<uint32_t>(generator.Draw(2, 12));
    const double latency = generator.Draw(0, 4000);
    const hardware::NetworkDimension dimension{.kind = DimensionKind::kSwitch,
                                               .npus = a * b,
                                               .bandwidth = std::exp2(generator.Draw(0, 10)),
                                               .latency = latency};
    SplittingChangesStepsOnly(*device, {.name = "whole", .dimensions = {dimension}}, a, generator.Bytes());
  }
}

}  // namespace
}  // namespace hespas::network
