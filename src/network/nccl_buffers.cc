#include "network/nccl_buffers.h"

#include <cmath>

#include "hardware/capability.h"
#include "network/nccl_tuning.h"

namespace hespas::network {
namespace {

// src/init.cc, computeBuffSizes, with src/include/device.h: what all threads of a channel hold in eight steps.
constexpr double kSteps = 8;
constexpr double kLl = 8 * 512 * kSteps * 16;
constexpr double kLl128 = 120 * 640 * kSteps * 8;
constexpr double kSimple = 4 << 20;
constexpr double kPage = 2 << 20;  // to which allocations are rounded: src/include/comm.h, CUDA_IPC_MIN
constexpr double kFlags = 1;       // of sender and receiver beside their buffers: a part of a page

double Pages(double bytes) { return std::ceil(bytes / kPage) * kPage; }

// src/transport/p2p.cc, p2pSendSetup and p2pRecvSetup. Where the receiver reads, Simple's buffer is the sender's, which
// takes as many pages in all.
double ConnectionBytes() { return Pages(kFlags + kLl + kLl128 + kSimple) + Pages(kFlags); }

}  // namespace

double CommunicatorBytes(const hardware::Device& device, const NetworkConstants& constants, int64_t ranks) {
  const int capability = hardware::ComputeCapability(device);
  if (ranks < 2 || capability == 0 || !device.interconnect) return 0;
  const hardware::Interconnect& links = *device.interconnect;
  if (!links.name.starts_with("NVLink")) return 0;
  const double share = constants.ExpectedOf(links.name).share;
  const int channels =
      ChannelsOfNccl({.bandwidth = links.bandwidth.value * 1e-6 * share, .capability = capability, .nvlink = true});
  const double peers = ranks == 2 ? 1 : 2;
  return channels * peers * ConnectionBytes();
}

}  // namespace hespas::network
