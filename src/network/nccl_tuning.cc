#include "network/nccl_tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>

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
constexpr double kChannelsOfSwitch = 8;  // one of them is lost; NCCL, src/graph/tuning.cc: (nChannels - 1) / nChannels
constexpr double kSpeedStep = 12e3;      // rings have channels of whole speeds (src/graph/search.cc, speedArrayIntra)

}  // namespace

int GenerationOf(int capability) {
  constexpr int kFirst[] = {80, 90, 100};
  return static_cast<int>(std::upper_bound(std::begin(kFirst), std::end(kFirst), capability) - std::begin(kFirst));
}

NcclChoice ChoiceOfNccl(Operation op, double bytes, const NcclHost& host) {
  const double steps = (op == Operation::kAllReduce ? 2 : 1) * (host.ranks - 1);
  const double whole = std::floor(host.bandwidth / kSpeedStep) * kSpeedStep;
  const double bus = whole > 0 ? whole : host.bandwidth;
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
