// What libraries achieve on links: data/models/network.json.
//
// - Constants are relative to a system's figures and belong to a kind of link ("NVLink 4"), never to a device.
// - Of a generation that was not measured those of the nearest one count, of an unknown kind what links have in common.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hardware/device.h"
#include "network/collective_model.h"
#include "network/nccl_tuning.h"

namespace hespas::network {

inline constexpr DiagnosticKind kBadNetworkConstants{
    "E0565",
    "The network model's parameter file (data/models/network.json) lacks a constant or gives an impossible one."};

struct OperationConstants {
  double launch_cycles = 0;  // of a streaming multiprocessor
  double hop_us = 0;         // software time, added to a link's latency
  double link_fraction = 1;  // sustained / expected bandwidth
  double ramp = 0;           // between latency and bandwidth, times the root of launch and wire time
  double own_share = 0;      // cost of a rank's own part, in parts on the wire
};

// Of rings within a host. Simple has the operation's own fraction and share.
struct ProtocolConstants {
  double link_fraction = 1;
  double own_share = 1;
  double start = 0;  // until it has its rate, in launches
  double step = 0;   // more of it for each message that waits for another
  double ramp = 0;   // times the root of launch and wire time
};

struct LinkConstants {
  std::string kind;
  int capability = 0;  // compute capability of the devices whose launch it has; 0: not CUDA's
  std::array<OperationConstants, kOperations> operations;
  double switch_traffic = 1;  // bytes on the wire for each byte that a switch of efficiency 1 reduces
  std::optional<std::array<ProtocolConstants, kProtocols>> protocols;  // of kinds that NCCL was measured on
  double sigma = 0;                                                    // of a price, relative
  const OperationConstants& of(Operation op) const { return operations[static_cast<size_t>(op)]; }
  const ProtocolConstants& protocol(Protocol which) const { return (*protocols)[static_cast<size_t>(which)]; }
};

// What the library itself takes a kind of link for.
struct ExpectedLink {
  std::string kind;
  double share = 1;              // of the stated bandwidth
  double switch_efficiency = 0;  // of reductions in the switch; 0: not there
};

// Between hosts, or between slices of TPUs.
struct OuterConstants {
  double ring_hop_us = 0;
  double tree_hop_us = 0;  // 0 of TCP, which has rings alone
  double link_fraction = 1;
};

struct NetworkConstants {
  std::vector<LinkConstants> links;    // the last: any other
  std::vector<ExpectedLink> expected;  // the last: any other
  OuterConstants outer;
  OuterConstants tcp;
  OuterConstants data_centre;
  double host_rate = 0;    // byte/s that a host passes in `data_centre`, whatever its adapters
  double host_chips = 0;   // of such a host
  double chunk_bytes = 0;  // that a rank passes on before the next arrive
  double clock_hz = 0;     // of a device that states none

  const LinkConstants& Of(std::string_view kind) const;
  // Whose launch counts: the kernel's start belongs to the device, not to its link.
  const LinkConstants& LaunchOf(std::string_view kind, int capability) const;
  const ExpectedLink& ExpectedOf(std::string_view kind) const;
  // Devices share the rate of their host: it is a part of what the vendor's reference network gives them, and the same
  // part of every other network.
  OuterConstants DataCentreOf(const hardware::Device& device) const;
};

Result<NetworkConstants> ReadNetworkConstants(std::string_view text, const std::string& file);

// The shipped file; read once.
const Result<NetworkConstants>& DefaultNetworkConstants();

}  // namespace hespas::network
