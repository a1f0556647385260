// System: the network and the per-NPU system settings of a cluster, as ASTRA-sim's network.yml, system.json and
// remote_memory.json describe them.
//
// - Values keep the files' units: GB/s of 2^30 bytes for links, of 10^9 for memory, nanoseconds for latencies.
// - Loaders name file, line and column of an error; unknown keys are warnings, with `strict` errors, and get
// suggestions.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hespas::hardware {

inline constexpr DiagnosticKind kBadSystem{
    "E0820", "A system description (network.yml, system.json, remote_memory.json) has a missing or impossible value."};
inline constexpr DiagnosticKind kSystemSyntax{"E0821", "A JSON or YAML file of a system description does not parse."};
inline constexpr DiagnosticKind kUnknownSystemKeyError{
    "E0822", "A system description has an unknown key (an error because of --strict)."};
inline constexpr DiagnosticKind kUnknownSystemKey{
    "W0822", "A system description has an unknown key. ASTRA-sim ignores it, and so does Hespas."};

enum class DimensionKind : uint8_t { kRing, kFullyConnected, kSwitch };

struct NetworkDimension {
  DimensionKind kind = DimensionKind::kRing;
  uint32_t npus = 2;
  double bandwidth = 0;        // GB/s, GB = 2^30 bytes
  double latency = 0;          // ns
  bool open = false;           // a ring without the link between its ends (`Line`); ASTRA-sim closes it
  bool between_hosts = false;  // a network of adapters; else the kinds of links tell
  bool tcp = false;            // of them, by sockets of TCP instead of RDMA
};

enum class SchedulingPolicy : uint8_t { kLifo, kFifo, kExplicit };
enum class CollectiveOptimization : uint8_t { kBaseline, kLocalBandwidthAware };

enum class AlgorithmKind : uint8_t { kRing, kDirect, kHalvingDoubling, kDoubleBinaryTree };

struct Algorithm {
  AlgorithmKind kind = AlgorithmKind::kRing;
  bool flat = false;    // the `one...` forms: one logical ring of all NPUs
  int32_t window = -1;  // direct only; -1: unlimited
  bool operator==(const Algorithm&) const = default;
};

// "ring", "direct8", "oneHalvingDoubling", ...; nothing if there is no such algorithm.
std::optional<Algorithm> ParseAlgorithm(std::string_view name);

// Index into System::collectives.
enum class NativeCollective : uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll };
inline constexpr size_t kNativeCollectives = 4;

struct CollectiveSettings {
  std::optional<std::vector<Algorithm>> algorithms;  // one a dimension
  std::string custom;                                // path prefix of a collective graph; empty: none
};

enum class MemoryKind : uint8_t { kNone, kPerNpu, kPerNode, kPool };

struct RemoteMemory {
  MemoryKind kind = MemoryKind::kNone;
  uint64_t latency = 0;    // ns
  uint64_t bandwidth = 0;  // bytes per ns
  uint64_t nodes = 0;
  uint64_t npus_per_node = 1;
};

// ASTRA-sim's two-level LogGP bus between an NPU and its network interface.
struct SharedBus {
  bool enabled = false;
  double latency = 0;       // L
  double overhead = 0;      // o
  double gap = 0;           // g
  double gap_per_byte = 0;  // G
};

// What a description says itself, and where; the rest of a System is by default.
struct StatedInFile {
  std::vector<std::string> settings;  // keys of system.json, and remote_memory where it means any
  Location settings_at;
  Location counts_at;  // npus_count, or the cluster's line
};

struct System {
  std::string name;
  std::string device;  // the preset that the file names; empty: none
  StatedInFile stated;
  std::vector<NetworkDimension> dimensions;

  SchedulingPolicy scheduling = SchedulingPolicy::kLifo;
  CollectiveOptimization optimization = CollectiveOptimization::kBaseline;
  std::optional<int64_t> endpoint_delay;  // ns; absent: 10, untouched by the injection scale
  int64_t local_reduction_delay = 1;
  int64_t active_chunks = 1;
  int64_t dataset_splits = 0;
  double memory_bandwidth = 0;  // GB/s, GB = 10^9 bytes; 0: reductions are free
  double peak_teraflops = 0;
  bool roofline = false;
  bool replay_only = false;
  bool trace_enabled = false;
  bool track_memory = false;
  std::string memory_trace = "local_mem_trace";  // name of the files for track_memory
  SharedBus bus;
  std::array<CollectiveSettings, kNativeCollectives> collectives;
  std::map<uint64_t, std::string> custom_of_node;  // per-node custom collectives: node id -> path prefix
  RemoteMemory memory;

  uint64_t npus() const;
  const CollectiveSettings& of(NativeCollective kind) const { return collectives[static_cast<size_t>(kind)]; }
};

struct SystemFiles {
  std::string system;
  std::string network;
  std::string remote_memory;  // empty: no remote memory
};

struct LoadOptions {
  bool strict = false;  // unknown keys are errors
};

Result<System> LoadSystem(const SystemFiles& files, const LoadOptions& options, Diagnostics& diagnostics);

// `path` is a folder with system.json, network.yml and remote_memory.json (the last may be missing), or a JSON file
// with one object {network, system, remote_memory}.
Result<System> LoadSystem(const std::string& path, const LoadOptions& options, Diagnostics& diagnostics);

// One JSON object {network, system, remote_memory}; `name` represents the file in messages.
Result<System> ParseSystem(std::string_view text, const std::string& name, const LoadOptions& options,
                           Diagnostics& diagnostics);

}  // namespace hespas::hardware
