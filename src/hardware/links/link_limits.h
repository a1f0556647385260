// What figures of a link may be. One beyond these limits has a wrong unit: its answer would be a time in seconds where
// microseconds are meant, or a network that costs nothing.
#pragma once

namespace hespas::hardware {

inline constexpr double kBinaryGiga = 1073741824.0;  // a system's GB/s is of 2^30 bytes (hardware/system.h)

// From a modem's 1 kB/s to 2 EB/s: files for transfers that take no time state 10^9 GiB/s.
inline bool IsLinkBandwidth(double bytes_per_second) { return bytes_per_second >= 1e3 && bytes_per_second <= 2e18; }

inline constexpr double kMostLatencyNs = 1e9;  // a message to a satellite takes a quarter of it

}  // namespace hespas::hardware
