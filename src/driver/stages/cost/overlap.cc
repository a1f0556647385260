#include "driver/stages/cost/overlap.h"

#include <unordered_map>
#include <vector>

namespace hespas::driver {
namespace {

void Separate(trace::Program& program) {
  std::unordered_map<uint64_t, bool> computes;
  for (const trace::Node& node : program.nodes) computes[node.id] = node.kind == trace::NodeKind::kCompute;
  std::vector<uint64_t> kept;
  kept.reserve(program.dependencies.size());
  for (trace::Node& node : program.nodes) {
    const auto begin = program.dependencies.begin() + node.first_dependency;
    const uint32_t data_count = node.dependency_count - node.control_dependency_count;
    const auto first = static_cast<uint32_t>(kept.size());
    uint32_t control = 0;
    for (uint32_t i = 0; i < node.dependency_count; ++i) {
      if (computes[begin[i]] != computes[node.id]) continue;
      kept.push_back(begin[i]);
      if (i >= data_count) ++control;
    }
    node.first_dependency = first;
    node.dependency_count = static_cast<uint32_t>(kept.size()) - first;
    node.control_dependency_count = control;
  }
  program.dependencies = std::move(kept);
}

}  // namespace

void SeparateCommunication(trace::TraceGraph& traces) {
  for (trace::Program& program : traces.programs) Separate(program);
}

}  // namespace hespas::driver
