// Custom collectives: sends, receives and reductions as a dependency graph of their own (spec astra-sim section 9).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "simulate/astra_sim/network.h"
#include "simulate/astra_sim/phase_ends.h"
#include "simulate/astra_sim/stream.h"
#include "simulate/engine/core.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

// The program of one rank with its dependencies inverted.
struct GraphProgram {
  struct Node {
    uint64_t id = 0;
    const trace::Node* node = nullptr;  // nullptr: a dependency that is nowhere defined
    uint32_t chunks = 0;                // of total_chunks of the collective's size; 0: the node states its size
    uint32_t total_chunks = 0;
    uint32_t parents = 0;
    std::vector<uint32_t> children;  // in the order in which ASTRA-sim visits them
  };
  std::vector<Node> nodes;
  std::unordered_map<uint64_t, uint32_t> index;
  std::vector<uint64_t> first;  // ids of nodes without parents, in order of insertion
};

// One NPU's run of a custom collective.
struct GraphRun {
  const GraphProgram* program = nullptr;
  const std::vector<uint32_t>* members = nullptr;  // of the group, in listed order; nullptr: all NPUs
  std::vector<uint32_t> parents_left;
  // The issue order of nodes that become free together is libstdc++'s order of iteration (spec astra-sim section 9.3).
  std::unordered_set<uint64_t> free;
  uint64_t size = 0;  // of the collective, for nodes that state parts of it
  uint32_t taken = 0;
};

Result<GraphProgram> CompileGraph(const trace::Program& program, const std::string& name);

class CollectiveGraphs {
 public:
  CollectiveGraphs(Core& core, Network& network, Pool<Stream>& streams, PhaseEnds& ends);

  // The program of `rank_in_group` in the collective `prefix`; compiled at first use. Fails the run if there is none.
  const GraphProgram* Find(const trace::TraceGraph& trace, const std::string& prefix, uint32_t rank_in_group);
  void Start(uint32_t stream);
  void NodeDone(uint32_t stream, uint32_t node);

 private:
  void IssueFree(uint32_t stream);
  void Issue(uint32_t stream, uint32_t node);

  Core& core_;
  Network& network_;
  Pool<Stream>& streams_;
  PhaseEnds& ends_;
  std::unordered_map<std::string, std::unordered_map<uint32_t, std::unique_ptr<GraphProgram>>> compiled_;
};

}  // namespace hespas::simulate
