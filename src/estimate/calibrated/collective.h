// Time of one collective within a node or switched domain: latency, bytes on the wire, and a ramp between them.
//
// - T = a + x + g sqrt(a x), a = launch + hop h, h = N-1 round a ring (all-gather, reduce-scatter), else log2 N, x =
// wire bytes / sustained link rate (spec device-model section 2.5).
// - A hop is mostly the rendezvous of ranks that one host drives: further steps of a ring cost a message only.
// - On a direct mesh N of P peers use N-1 links, and an all-reduce is a reduce-scatter and an all-gather (OnMesh); a
// reducing switch bounds an all-reduce's traffic from eight ranks.
#pragma once

#include <limits>
#include <optional>
#include <string_view>

#include "estimate/calibrated/parameters.h"
#include "hardware/device.h"

namespace hespas::estimate::calibrated {

// "all-reduce", "all_reduce", "AllReduce"; nothing for others.
std::optional<CollectiveOp> ParseCollective(std::string_view name);

struct CollectiveSpec {
  CollectiveOp op = CollectiveOp::kAllReduce;
  double ranks = 2;
  double bytes = 0;  // full, unsharded buffer
};

// The links of one rank.
struct Ports {
  double rate = 1;    // byte/us of all ports together, per direction
  bool mesh = false;  // each port leads to one peer
  double peers = 1;   // of a mesh
  bool reducing_switch = false;
  double devices_per_host = std::numeric_limits<double>::infinity();
};

// Of the device's `calibration` ("collective.devices_per_host"); no limit where it is absent.
double DevicesPerHost(const hardware::Device& device);

struct CollectiveTime {
  double us = 0;
  double sigma_us = 0;  // of all three parts
  double wire_sigma_us = 0;
  double latency_sigma_us = 0;
  double ramp_sigma_us = 0;
  double latency_us = 0;
  double wire_us = 0;
  double ramp_us = 0;
};

class CollectiveModel {
 public:
  CollectiveModel(const hardware::Device& device, const Parameters& parameters);
  // For a system whose device is unknown.
  CollectiveModel(const Ports& ports, const Parameters& parameters) : ports_(ports), parameters_(parameters) {}

  CollectiveTime Time(const CollectiveSpec& spec) const;
  const Ports& ports() const { return ports_; }

 private:
  double WireBytes(const CollectiveSpec& spec) const;
  double Latency(const CollectiveSpec& spec) const;

  Ports ports_;
  Parameters parameters_;
};

}  // namespace hespas::estimate::calibrated
