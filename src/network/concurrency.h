// What collectives take from kernels and from each other while they are in flight.
//
// - Multiprocessors and memory passes are off by default (docs/simulation.md, "Kernels beside a collective").
#pragma once

#include <array>
#include <cstdint>

#include "base/diagnostic.h"
#include "base/result.h"
#include "hardware/device.h"

namespace hespas::network {

inline constexpr DiagnosticKind kBadConcurrency{
    "E0987",
    "--collective-sms is the number of multiprocessors that a collective takes from the kernels beside it (NCCL takes "
    "one for each channel): at least 0, fewer than the device has, and only for devices that state theirs. "
    "--collective-memory is how often each byte that a device sends or receives passes its memory: 0 or more.",
    Outcome::kUsage};

// Which collectives of a device run at the same time. One stream: XLA's default
// (xla/service/gpu/execution_stream_assignment.h: number_of_communication_execution_streams = 1). A stream for each
// group: NCCL's communicators, as PyTorch's process groups have them.
enum class CollectiveStreams : uint8_t { kOne, kGroup };

struct Concurrency {
  int64_t sms = 0;           // multiprocessors that a collective takes
  double memory_passes = 0;  // of each byte that a device sends or receives
  CollectiveStreams streams = CollectiveStreams::kOne;

  bool IsDefault() const { return sms == 0 && memory_passes == 0 && streams == CollectiveStreams::kOne; }
  // Of the device's multiprocessors, what is left to kernels.
  Result<double> UnitsLeft(const hardware::Device& device) const;
};

}  // namespace hespas::network
