// Kernels that run beside a collective have fewer multiprocessors and less of the memory's bandwidth: when does one
// end?
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>

namespace hespas::simulate {

struct Beside {
  uint64_t begin = 0, end = 0;
  double memory_share = 0;  // of the memory's bandwidth that the collective takes
  uint64_t transfer = 0;
};

// What a kernel needs of its device.
struct KernelNeeds {
  double units_left = 1;    // of the multiprocessors, beside a collective
  double memory_share = 0;  // of the memory's bandwidth, where it runs alone

  // Max-min: a kernel that leaves the collective its share is not slowed.
  double RateBeside(const Beside& collective) const {
    const double left = 1 - collective.memory_share;
    const double memory = memory_share > left ? std::max(left, kLeast) / memory_share : 1;
    return std::min(units_left, memory);
  }

 private:
  static constexpr double kLeast = 0.01;  // a collective never stops kernels
};

// `work` begins at `start` and takes so long alone; `collectives` are in order of begin.
inline uint64_t EndBeside(uint64_t start, uint64_t work, std::span<const Beside> collectives,
                          const KernelNeeds& kernel) {
  uint64_t now = start;
  for (const Beside& collective : collectives) {
    if (collective.end <= now) continue;
    const uint64_t alone = collective.begin > now ? collective.begin - now : 0;
    if (work <= alone) break;
    now += alone;
    work -= alone;
    const double rate = kernel.RateBeside(collective);
    const double slowed = std::ceil(static_cast<double>(work) / rate);
    if (slowed <= static_cast<double>(collective.end - now)) return now + static_cast<uint64_t>(slowed);
    work -= std::min(work, static_cast<uint64_t>(static_cast<double>(collective.end - now) * rate));
    now = collective.end;
  }
  return now + work;
}

}  // namespace hespas::simulate
