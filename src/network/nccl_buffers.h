// What NCCL's buffers take of the memory of a device whose peers NVLink joins.
//
// - Each channel has a connection to each peer of its ring and its tree: two ranks have one peer, more have two, for
//   the tree is a chain through a host's ranks.
// - From NCCL 2.30 (5067397c), where each line says; that the channels are as many as its logs print, tests check.
//   Left out: buffers of NVLS, of messages between pairs (ncclSend), and of adapters between hosts; over PCIe most lie
//   in the host's memory (src/transport/shm.cc).
#pragma once

#include "hardware/device.h"
#include "network/link_constants.h"

namespace hespas::network {

// Bytes of one device; 0 of other links and other makers' devices.
double CommunicatorBytes(const hardware::Device& device, const NetworkConstants& constants, int64_t ranks);

}  // namespace hespas::network
