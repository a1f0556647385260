// Clusters in one line: "H100_80GB 8x64 ib=400Gbit/s", or as many devices as the vendor's reference network joins.
//
// - COUNTS are the levels from the inside: devices that the device's own links join, then hosts, then groups of hosts.
//   Of a device on a torus they are the axes of a slice; `slices=N` puts N of them on the data-centre network.
// - A network between hosts has one adapter for each device (rail-optimised); its bandwidth is one way.
// - Nothing is guessed in silence: what the device's figures cannot join is an error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hardware/device.h"
#include "hardware/system.h"

namespace hespas::hardware {

inline constexpr DiagnosticKind kBadCluster{
    "E0823",
    "A cluster in one line is DEVICE COUNTS and figures: \"H100_80GB 8x64 ib=400Gbit/s\", \"TPUv5p 4x4x8 slices=2\". "
    "COUNTS are the levels from the inside. Figures: ib, roce, efa, eth, tcp or dcn (bandwidth for each device, one "
    "way; tcp where messages pass sockets instead of RDMA), latency (of that network), oversubscription (of levels "
    "above the first), slices.",
    Outcome::kUsage};

// Whether a level passes sockets of TCP instead of RDMA.
bool PassesTcp(const System& system);

// What is wrong where such a level joins TPUs, whose slices have a network and figures of their own.
std::optional<Error> TcpFault(const Device& device, const System& system);

// Whether a system is given as such a line: a first word, and counts after a space.
bool IsClusterText(std::string_view text);

// Whether a system is given by a file of the user's own or its text, not by a line or a preset's name.
bool IsOwnDescription(const std::string& name);

// Reads the line and the device that it names; `name` represents it in results.
Result<System> ParseCluster(const std::string& text, Diagnostics& diagnostics);

// A system by its line, its JSON text, the name of a preset or a path.
Result<System> LoadNamedSystem(const std::string& name, const LoadOptions& options, Diagnostics& diagnostics);

// The vendor's reference network for `npus` such devices (docs/configuration.md lists them).
Result<System> ReferenceCluster(const Device& device, uint64_t npus);

// What that network gives each device, in byte/s and one way; 0 where none is known.
double ReferenceRate(const Device& device);

// The axes of a slice of so many chips with a torus of that many axes; empty where no such slice is sold.
std::vector<uint32_t> SliceShape(uint64_t chips, size_t axes);

}  // namespace hespas::hardware
