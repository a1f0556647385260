// Kernels that run beside a collective have fewer multiprocessors: when does one end?
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

namespace hespas::simulate {

// `work` begins at `start` and takes so long alone; within `collectives` (begin, end, in order of begin) it advances at
// `rate`, below 1.
inline uint64_t EndBeside(uint64_t start, uint64_t work, std::span<const std::pair<uint64_t, uint64_t>> collectives,
                          double rate) {
  uint64_t now = start;
  for (const auto& [begin, end] : collectives) {
    if (end <= now) continue;
    const uint64_t alone = begin > now ? begin - now : 0;
    if (work <= alone) break;
    now += alone;
    work -= alone;
    const double slowed = std::ceil(static_cast<double>(work) / rate);
    if (slowed <= static_cast<double>(end - now)) return now + static_cast<uint64_t>(slowed);
    work -= std::min(work, static_cast<uint64_t>(static_cast<double>(end - now) * rate));
    now = end;
  }
  return now + work;
}

}  // namespace hespas::simulate
