// What a server's memory holds: weights, workspace, and blocks of keys and values in the rest.
#pragma once

#include <cstdint>

#include "hardware/device.h"
#include "serve/model/kernels.h"
#include "serve/profile.h"

namespace hespas::driver {

// Of one device, in bytes.
struct ServeMemory {
  double capacity = 0;  // that the driver reports
  double weights = 0;
  double workspace = 0;  // of the largest step, with libraries, communicators, graphs and tables
  double cache = 0;
  double cache_bytes_per_token = 0;
  int64_t blocks = 0;
  int64_t cache_tokens = 0;  // of one replica
  bool fits = true;
};

// What the driver reports of a device: vendors' GB of HBM are GiB, of which it keeps a part for itself.
double ReportedCapacity(const hardware::Device& device);

// What comes with a device's peers.
struct PeerMemory {
  int64_t caches = 1;       // data-parallel ranks of one replica, which have caches of their own
  double communicator = 0;  // buffers of the library, bytes
};

ServeMemory MemoryOf(const hardware::Device& device, const serve::StepKernels& kernels,
                     const serve::EngineProfile& engine, const PeerMemory& peers);

}  // namespace hespas::driver
