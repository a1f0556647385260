// SimResult: what a network simulation answers, for every rank (NPU) and, where asked for, every node and link.
//
// - All times are ticks; `tick` is the length of one (1 ns for ASTRA-sim's files, 1 ps for in-process runs).
// - Numbers that ASTRA-sim would not print are absent. The sums follow spec astra-sim section 10.1, wrap-around
// included.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "result/collective_pricing.h"

namespace hespas::result {

// Averages over the compute nodes of a rank in roofline mode; percentages, intensity in operations per byte.
struct RooflineAverages {
  double compute_bound = 0;
  double compute_utilisation = 0;
  double memory_utilisation = 0;
  double operation_intensity = 0;
};

struct RankResult {
  uint64_t finish = 0;
  uint64_t exposed = 0;  // finish minus compute: communication that nothing hides, and idle time
  std::optional<uint64_t> wall;
  std::optional<uint64_t> gpu;
  std::optional<uint64_t> comm;
  std::optional<uint64_t> overlap;
  std::optional<RooflineAverages> roofline;
  std::optional<uint64_t> peak_memory;  // bytes, where the system tracks local memory
};

// One executed node.
struct NodeInterval {
  uint64_t node = 0;  // id
  uint32_t rank = 0;
  uint64_t start = 0;
  uint64_t end = 0;
};

// A stretch of the critical path.
struct PathStep {
  uint64_t node = 0;  // id
  uint32_t rank = 0;
  std::string name;
  std::string why;  // what held it: "compute", "waits for NPU 3", "transfer"
  uint64_t start = 0;
  uint64_t end = 0;
};

// One collective over all its members.
struct CollectiveUse {
  uint64_t node = 0;  // id at its first member
  uint32_t rank = 0;  // of that member
  std::string name;
  uint32_t members = 0;
  uint64_t bytes = 0;
  uint64_t start = 0;        // of the first member
  uint64_t end = 0;          // of the last one
  uint64_t exposed = 0;      // largest of a member: nothing computed there meanwhile
  uint64_t waited = 0;       // part of it before the last member came
  uint32_t last_member = 0;  // the rank that came last
  std::string model;         // that priced it; empty where nobody was asked
  std::string algorithm;
  std::string levels;                // "dimension 0: 8 ranks, dimension 1: 4 ranks"
  std::string bound;                 // "latency", "bandwidth of dimension 1"
  Time launch, latency, wire, ramp;  // what the transfer is made of, where a model priced it
};

// Traffic of one directed link (congestion-aware) or of all links of one dimension (congestion-unaware).
struct LinkUse {
  std::string name;
  uint64_t messages = 0;
  uint64_t bytes = 0;
  uint64_t busy = 0;    // ticks of transmission
  uint64_t queued = 0;  // ticks that messages waited for the link, summed
};

struct SimResult {
  Time tick = Time(1000);
  std::vector<RankResult> ranks;
  std::vector<uint32_t> order;  // ranks as they finished
  std::vector<NodeInterval>
      intervals;               // with SimulateOptions::record_nodes; as they ended, with explain by rank and start
  std::vector<LinkUse> links;  // with SimulateOptions::record_links
  std::vector<PathStep> critical_path;     // with SimulateOptions::explain; in order of time
  std::vector<CollectiveUse> collectives;  // with SimulateOptions::explain; in order of start
  std::vector<PricedNode> pricings;        // a node of each kind and way, where a model priced them
  std::optional<double> loop_drift;        // how far repeated windows of loops were from the ones before (share)
  uint64_t messages = 0;                   // simulated one by one
  uint64_t events = 0;
  std::string method;  // "events" or "symmetry", and why

  uint64_t finish() const {  // of the last rank
    uint64_t last = 0;
    for (const RankResult& rank : ranks) last = rank.finish > last ? rank.finish : last;
    return last;
  }
  Time time(uint64_t ticks) const { return static_cast<int64_t>(ticks) * tick; }
};

}  // namespace hespas::result
