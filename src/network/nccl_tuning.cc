#include "network/nccl_tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <span>

namespace hespas::network {
namespace {

// Latencies in us, of LL, LL128 and Simple; bandwidths in byte/us.
constexpr std::array<double, kProtocols> kBase = {6.6, 14, 8.4};        // baseLatencies, ring
constexpr std::array<double, kProtocols> kNvLinkHop = {0.6, 1.9, 3.4};  // hwLatencies, ring
constexpr std::array<double, kProtocols> kPcieHop = {1, 2.5, 5.7};
constexpr double kSwitch = 25;                              // hwLatencies, NVLS
constexpr double kLlMost[] = {39e3, 87.7e3, 141e3, 282e3};  // llMaxBws of one node, by generation
constexpr double kLlShare = 0.5;
constexpr double kLl128Share = 0.92;
// NVLS has a channel for each rank of a host (src/graph/search.cc, ncclTopoCompute: maxChannels), of which
// src/graph/tuning.cc takes one off: (nChannels - 1) / nChannels. Eight is a host of eight; larger domains of NVLink
// would lose less.
constexpr double kChannelsOfSwitch = 8;

// What a ring's channels may carry (src/graph/search.cc: speedArrayIntra, sm90SpeedArrayIntra, sm100SpeedArrayIntra).
constexpr double kSpeeds[] = {40e3, 30e3, 20e3, 18e3, 15e3, 12e3, 10e3, 9e3, 7e3, 6e3, 5e3, 4e3, 3e3};
constexpr double kSpeedsOfHopper[] = {60e3, 50e3, 40e3, 30e3, 24e3, 20e3, 15e3, 12e3, 11e3, 6e3, 3e3};
constexpr double kSpeedsOfBlackwell[] = {90e3, 80e3, 70e3, 60e3, 50e3, 45e3, 40e3, 30e3, 24e3, 20e3, 19e3, 18e3};
constexpr double kNextSpeed = 0.49;  // slower ones are tried while they exceed so much of the best's
constexpr double kRounding = 1e-9;   // that a whole number of channels may lack

std::span<const double> SpeedsOf(int capability) {
  if (capability >= 100) return kSpeedsOfBlackwell;
  if (capability >= 90) return kSpeedsOfHopper;
  return kSpeeds;
}

struct Rings {
  double channels = 0;
  double speed = 0;  // of each
};

// NCCL's second pass, which tries faster channels once more, is left out.
Rings RingsOf(const NcclHost& host) {
  Rings best;
  for (const double speed : SpeedsOf(host.capability)) {
    if (best.channels > 0 && speed <= kNextSpeed * best.speed) break;
    const double channels = std::floor(host.bandwidth / speed + kRounding);
    if (channels * speed > best.channels * best.speed) best = {channels, speed};
  }
  return best.channels > 0 ? best : Rings{1, host.bandwidth};
}

}  // namespace

int GenerationOf(int capability) {
  constexpr int kFirst[] = {80, 90, 100};
  return static_cast<int>(std::upper_bound(std::begin(kFirst), std::end(kFirst), capability) - std::begin(kFirst));
}

// Fast channels are doubled by src/graph/search.cc (ncclTopoDupChannels), then all by src/graph/connect.cc
// (ncclTopoPostset).
int ChannelsOfNccl(const NcclHost& host) {
  constexpr double kMost = 32;  // of rings that are searched for
  constexpr double kFast = 25e3, kFastOfMany = 50e3;
  constexpr double kFew = 4;
  const Rings rings = RingsOf(host);
  double channels = std::min(rings.channels, kMost);
  const bool many = host.capability > 80 && rings.speed < kFastOfMany && channels > kFew;
  if (rings.speed >= kFast && !many) channels = std::min(2 * channels, kMost);
  return static_cast<int>(2 * channels);
}

NcclChoice ChoiceOfNccl(Operation op, double bytes, const NcclHost& host) {
  const double steps = (op == Operation::kAllReduce ? 2 : 1) * (host.ranks - 1);
  const Rings rings = RingsOf(host);
  const double bus = rings.channels * rings.speed;
  const auto& hop = host.nvlink ? kNvLinkHop : kPcieHop;
  const double ll = host.capability > 0 ? kLlMost[GenerationOf(host.capability)] : std::numeric_limits<double>::max();
  const std::array<double, kProtocols> rates = {std::min(ll, kLlShare * bus), kLl128Share * bus, bus};
  NcclChoice choice;
  double least = std::numeric_limits<double>::max();
  const auto expect = [&](NcclChoice candidate, double latency, double rate) {
    const double time = latency + bytes / (rate * host.ranks / steps);
    if (time >= least) return;
    least = time;
    choice = candidate;
  };
  for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
    if (protocol == Protocol::kLl128 && !host.nvlink) continue;  // not safe there
    const auto p = static_cast<size_t>(protocol);
    expect({.protocol = protocol}, kBase[p] + steps * hop[p], rates[p]);
  }
  // Two operations of an all-reduce are pipelined.
  const double reduced = bus * host.switch_efficiency * 2 * (kChannelsOfSwitch - 1) / kChannelsOfSwitch;
  if (reduced > 0) expect({.in_switch = true}, kSwitch, reduced);
  return choice;
}

}  // namespace hespas::network
