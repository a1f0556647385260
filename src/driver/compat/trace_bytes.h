// The prototype's trace files, byte for byte, and the files beside them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "assemble/prototype.h"
#include "split/prototype.h"

namespace hespas::driver::compat {

struct TraceNode {
  bool communication = false;
  int64_t duration_micros = 0;
  std::vector<uint64_t> dependencies;
  assemble::PrototypeCommunication what;
};

// One .et file; collectives name the group that holds `device`.
std::string TraceBytes(const std::vector<TraceNode>& nodes, const assemble::PrototypeGroups& groups, int64_t device);

// round(seconds * 1e6), half to even; 0 for what is negative or does not fit.
int64_t Microseconds(double seconds);

std::string CommGroupJson(const assemble::PrototypeGroups& groups, uint32_t npus);

// dependency_graph.dot as pydot writes it.
std::string DotText(const split::PrototypeGraph& graph);

}  // namespace hespas::driver::compat
