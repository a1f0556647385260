// Which all-reduces within a host an engine does by kernels of its own, and how.
//
// - One-shot: each rank reads all of its peers' buffers. Two-shot: a part of each, then the peers' sums.
// - The rest is the library's (NCCL, RCCL).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace hespas::serve {

enum class AllReduce : uint8_t { kLibrary, kOneShot, kTwoShot, kFastest };

struct AllReduces {
  bool own = false;
  bool pairs_on_pcie = false;  // two devices without other links, too
  double largest_of_pair = 0;  // bytes
  double largest = 0;          // bytes, of more ranks
  // Bytes from which up to four, and more, ranks take two shots; without them the fastest way is taken. Two ranks
  // always take one.
  std::optional<double> two_shot_of_four;
  std::optional<double> two_shot;

  // `links`: the name of those that join the devices of a host (device files, `interconnect.name`).
  AllReduce KindOf(double bytes, int64_t ranks, std::string_view links) const;
};

}  // namespace hespas::serve
