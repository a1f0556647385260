// What a collective or a message costs on a system: one interface for everybody who asks.
//
// - Two implementations: calibrated.h (the system's own figures, times what libraries achieve of them) and astra_sim.h
//   (ASTRA-sim's own ticks).
// - A price says how it came about: the model, the algorithm, each level of the network, and what binds.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "trace/trace_graph.h"

namespace hespas::network {

// Broadcast: also a reduction to one rank. Gather: from all to one rank, and its reverse.
enum class Operation : uint8_t { kAllReduce, kAllGather, kReduceScatter, kAllToAll, kPermute, kBroadcast, kGather };
inline constexpr size_t kOperations = 7;
inline constexpr std::string_view kOperationNames[kOperations] = {
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute", "broadcast", "gather"};

// One level of the network that the members span.
struct LevelPrice {
  size_t dimension = 0;  // of the system; of a torus its first
  double ranks = 1;      // that the members take there
  double hops = 0;       // messages that wait for each other
  double latency_us = 0;
  double wire_us = 0;     // on this level alone
  double passing_us = 0;  // if a ring through all levels passes it
  double first_us = 0;    // of its first chunk
  bool outer = false;     // between hosts
};

struct Price {
  Time time;
  std::string_view algorithm;  // a literal
  double launch_us = 0;
  double latency_us = 0;  // of all levels
  double wire_us = 0;     // of all levels as a pipeline
  double start_us = 0;    // of a protocol, until it has its rate
  double ramp_us = 0;     // protocols between latency and bandwidth
  double sent_bytes = 0;  // by a rank, on all levels; it receives as many
  std::vector<LevelPrice> levels;
  std::optional<size_t> binding;  // dimension of the level that the pipeline waits for; without one, the longest alone

  // "latency", or "bandwidth of dimension 1"; "nothing" where there is nothing to move.
  std::string Bound() const;
};

class CollectiveModel {
 public:
  virtual ~CollectiveModel() = default;
  virtual std::string_view name() const = 0;  // a word of --network-model
  // Of a collective among `members`, or of a message from the first to the second.
  virtual Price PriceOf(const trace::Node& node, std::span<const uint32_t> members) const = 0;
  // What a collective or message keeps others from, as bits: those that share a bit queue.
  virtual uint32_t Holds(const trace::Node&, std::span<const uint32_t>) const { return 1; }
  // The dimensions whose links it uses, as bits: those that share a bit share bandwidth, where they do not queue.
  virtual uint32_t Links(const trace::Node&, std::span<const uint32_t>) const { return 1; }
};

// What the kinds of Chakra's traces are to a library.
Operation OperationOf(const trace::Node& node);

}  // namespace hespas::network
