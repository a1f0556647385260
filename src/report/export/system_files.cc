#include "report/export/system_files.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace hespas::report {

using hardware::Algorithm;
using hardware::AlgorithmKind;
using hardware::System;
using nlohmann::ordered_json;

namespace {

constexpr const char* kCollectives[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};

std::string NameOf(const Algorithm& algorithm) {
  switch (algorithm.kind) {
    case AlgorithmKind::kRing:
      return algorithm.flat ? "oneRing" : "ring";
    case AlgorithmKind::kDirect:
      return std::string(algorithm.flat ? "oneDirect" : "direct") +
             (algorithm.window == -1 ? "" : fmt::format("{}", algorithm.window));
    case AlgorithmKind::kHalvingDoubling:
      return algorithm.flat ? "oneHalvingDoubling" : "halvingDoubling";
    case AlgorithmKind::kDoubleBinaryTree:
      break;
  }
  return "doubleBinaryTree";
}

template <class Value>
std::string Row(const System& system, Value value_of) {
  std::string out = "[ ";
  for (size_t d = 0; d < system.dimensions.size(); ++d) {
    out += fmt::format("{}{}", d == 0 ? "" : ", ", value_of(system.dimensions[d]));
  }
  return out + " ]\n";
}

}  // namespace

std::string SystemJson(const System& system) {
  constexpr const char* kPolicies[] = {"LIFO", "FIFO", "EXPLICIT"};
  const bool aware = system.optimization == hardware::CollectiveOptimization::kLocalBandwidthAware;
  ordered_json out = {{"scheduling-policy", kPolicies[static_cast<size_t>(system.scheduling)]},
                      {"collective-optimization", aware ? "localBWAware" : "baseline"},
                      {"local-reduction-delay", system.local_reduction_delay},
                      {"active-chunks-per-dimension", system.active_chunks},
                      {"preferred-dataset-splits", system.dataset_splits},
                      {"peak-perf", system.peak_teraflops},
                      {"roofline-enabled", system.roofline ? 1 : 0},
                      {"replay-only", system.replay_only ? 1 : 0},
                      {"trace-enabled", 0}};
  if (system.endpoint_delay) out["endpoint-delay"] = *system.endpoint_delay;
  if (system.memory_bandwidth > 0) out["local-mem-bw"] = system.memory_bandwidth;
  if (system.bus.enabled) {
    out["model-shared-bus"] = 1;
    out["L"] = system.bus.latency;
    out["o"] = system.bus.overhead;
    out["g"] = system.bus.gap;
    out["G"] = system.bus.gap_per_byte;
  }
  for (size_t i = 0; i < hardware::kNativeCollectives; ++i) {
    const hardware::CollectiveSettings& collective = system.collectives[i];
    const std::string key = std::string(kCollectives[i]) + "-implementation";
    if (collective.algorithms) {
      out[key] = ordered_json::array();
      for (const Algorithm& algorithm : *collective.algorithms) out[key].push_back(NameOf(algorithm));
    }
    if (!collective.custom.empty()) out[key + "-custom"] = ordered_json::array({collective.custom});
  }
  return JsonText(out, 2) + "\n";
}

std::string NetworkYaml(const System& system) {
  constexpr const char* kKinds[] = {"Ring", "FullyConnected", "Switch"};
  using hardware::NetworkDimension;
  return "topology: " + Row(system, [&](const NetworkDimension& d) { return kKinds[static_cast<size_t>(d.kind)]; }) +
         "npus_count: " + Row(system, [](const NetworkDimension& d) { return d.npus; }) +
         "bandwidth: " + Row(system, [](const NetworkDimension& d) { return d.bandwidth; }) +
         "latency: " + Row(system, [](const NetworkDimension& d) { return d.latency; });
}

std::string RemoteMemoryJson(const System& system) {
  constexpr const char* kKinds[] = {"NO_MEMORY_EXPANSION", "PER_NPU_MEMORY_EXPANSION", "PER_NODE_MEMORY_EXPANSION",
                                    "MEMORY_POOL"};
  const hardware::RemoteMemory& memory = system.memory;
  ordered_json out = {{"memory-type", kKinds[static_cast<size_t>(memory.kind)]}};
  if (memory.kind != hardware::MemoryKind::kNone) {
    out["remote-mem-latency"] = memory.latency;
    out["remote-mem-bw"] = memory.bandwidth;
    out["num-nodes"] = memory.nodes;
    out["num-npus-per-node"] = memory.npus_per_node;
  }
  return JsonText(out, 2) + "\n";
}

}  // namespace hespas::report
