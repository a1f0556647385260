#include "simulate/symmetry/symmetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace hespas::simulate {

using hardware::Algorithm;
using hardware::AlgorithmKind;
using trace::NodeKind;

namespace {

std::string WhyNode(const trace::Node& node, const hardware::System& system) {
  const bool memory = node.kind == NodeKind::kMemoryLoad || node.kind == NodeKind::kMemoryStore;
  if (memory && system.memory.kind != hardware::MemoryKind::kPerNpu) return "shared remote memory";
  if (node.kind != NodeKind::kCollective) return {};
  if (system.custom_of_node.contains(node.id)) return "custom collectives";
  return {};
}

std::string WhyAlgorithm(const Algorithm& algorithm, size_t dimension, const hardware::System& system) {
  const bool power = std::has_single_bit(algorithm.flat ? system.npus() : system.dimensions[dimension].npus);
  if (algorithm.kind == AlgorithmKind::kDoubleBinaryTree) return "double binary trees";
  if (algorithm.kind == AlgorithmKind::kHalvingDoubling && !power) return "halving-doubling without a power of two";
  if (algorithm.flat && system.dimensions.size() > 1) return "flat algorithms across dimensions";
  return {};
}

}  // namespace

std::string WhyAsymmetric(const trace::TraceGraph& trace, const hardware::System& system,
                          const SimulateOptions& options, EquivalentRanks& classes) {
  if (options.backend != Backend::kUnaware) return "the network is congestion-aware";
  if (options.noise != 0) return "compute durations vary";
  if (options.communication_streams != 1) return "several communication streams";
  if (options.rendezvous) return "the rendezvous protocol";
  for (const hardware::CollectiveSettings& collective : system.collectives) {
    if (!collective.custom.empty()) return "custom collectives";
    for (size_t d = 0; collective.algorithms && d < collective.algorithms->size(); ++d) {
      if (std::string why = WhyAlgorithm((*collective.algorithms)[d], d, system); !why.empty()) return why;
    }
  }
  if (std::string why = FindClasses(trace, system, options, classes); !why.empty()) return why;
  for (const std::vector<uint32_t>& members : classes.members) {
    for (const trace::Node& node : trace.programs[trace.program_of_rank[members[0]]].nodes) {
      if (std::string why = WhyNode(node, system); !why.empty()) return why;
    }
  }
  return {};
}

}  // namespace hespas::simulate
