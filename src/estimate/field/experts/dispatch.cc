#include "estimate/field/experts/dispatch.h"

#include <algorithm>
#include <cmath>

#include "hardware/cluster.h"

namespace hespas::estimate::field {
namespace {

constexpr double kDispatched = 1 + 4.0 / 128;  // bytes of an element: 8 bits, and a scale for each 128 (DeepEP)
constexpr double kCombined = 2;
constexpr double kAdapters = 0.92;  // of their rate: DeepEP's low-latency dispatch on 8 GPUs (docs/accuracy.md)
constexpr double kSharpness = 3;
constexpr double kPerMicrosecond = 1e-6;

// That none of a token's experts is among so many of all.
double Missed(const Dispatch& row, double among) {
  double missed = 1;
  for (double drawn = 0; drawn < row.chosen; ++drawn) missed *= std::max(0.0, 1 - among / (row.experts - drawn));
  return missed;
}

// Copies of a token: all, those within the host, those to other hosts.
struct Copies {
  double all = 0, within = 0, between = 0;
};

Copies CopiesOf(const Dispatch& row) {
  const double ranks = row.ranks, hosts = row.hosts;
  if (row.low_latency) {
    return {.all = row.chosen, .within = row.chosen * (1 / hosts - 1 / ranks), .between = row.chosen * (1 - 1 / hosts)};
  }
  const double all = ranks * (1 - Missed(row, row.experts / ranks));
  const double of_hosts = hosts * (1 - Missed(row, row.experts / hosts));
  return {.all = all, .within = all * (1 - 1 / ranks), .between = of_hosts * (1 - 1 / hosts)};
}

double SoftMaximum(double a, double b, double c) {
  const double largest = std::max({a, b, c});
  const auto part = [&](double x) { return std::pow(x / largest, kSharpness); };
  return largest * std::pow(part(a) + part(b) + part(c), 1 / kSharpness);
}

}  // namespace

DispatchLinks LinksOf(const hardware::Device& device) {
  return {.within = device.interconnect ? device.interconnect->bandwidth.value * kPerMicrosecond : 0,
          .between = hardware::ReferenceRate(device) * kPerMicrosecond};
}

Time TimeOf(const Chip& chip, const DispatchConstants& constants, const DispatchLinks& links, const Dispatch& row) {
  const DispatchKernel& kernel = row.combine ? constants.combine : constants.dispatch;
  const Copies copies = CopiesOf(row);
  const double bytes = row.tokens * row.hidden * (row.combine ? kCombined : kDispatched);
  const double sms = row.low_latency ? chip.sms : std::clamp(row.sms, 1.0, chip.sms);
  const double rate = sms * chip.clock * (row.low_latency ? kernel.low_latency_bytes : kernel.bytes);
  const double copying = bytes * (copies.all + (row.low_latency ? 0 : kernel.reads)) / rate;
  const double within = bytes * copies.within / (links.within * kernel.link_fraction);
  const double between = copies.between > 0 ? bytes * copies.between / (links.between * kAdapters) : 0;
  const double start = row.low_latency ? kernel.low_latency_start_clocks
                                       : kernel.start_clocks + kernel.host_clocks * std::log2(row.hosts);
  const double us = start / chip.clock + SoftMaximum(copying, within, between);
  return {.us = us, .sigma_us = us * kernel.sigma};
}

}  // namespace hespas::estimate::field
