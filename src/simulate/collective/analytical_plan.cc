#include <fmt/format.h>

#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "simulate/collective/analytical.h"
#include "simulate/collective/rank_state.h"
#include "simulate/simulate.h"

namespace hespas::simulate {
namespace {

using trace::NodeKind;

// Messages meet by their tags. A collective's says how it runs.
int32_t ChannelOf(const trace::Node& node) { return node.kind == NodeKind::kCollective ? 0 : node.tag; }

Result<AnalyticalPlan::Program> PlanProgram(const trace::Program& program) {
  std::unordered_map<uint64_t, uint32_t> position;
  const auto count = static_cast<uint32_t>(program.nodes.size());
  for (uint32_t i = 0; i < count; ++i) position.emplace(program.nodes[i].id, i);
  AnalyticalPlan::Program plan;
  plan.first_user.resize(count + 1);
  plan.waits.resize(count);
  plan.ordinal.resize(count);
  std::map<std::tuple<NodeKind, uint32_t, int32_t, int32_t>, uint32_t> ordinals;
  std::vector<std::pair<uint32_t, uint32_t>> edges;  // what is waited for, and who waits
  for (uint32_t i = 0; i < count; ++i) {
    const trace::Node& node = program.nodes[i];
    for (uint32_t d = 0; d < node.dependency_count; ++d) {
      const auto found = position.find(program.dependencies[node.first_dependency + d]);
      if (found == position.end()) {
        return MakeError(kBadTrace, fmt::format("node {} depends on a node that does not exist", node.id));
      }
      edges.emplace_back(found->second, i);
      ++plan.first_user[found->second + 1];
    }
    plan.waits[i] = node.dependency_count;
    if (Communicates(node)) plan.ordinal[i] = ordinals[{node.kind, node.group, node.peer, ChannelOf(node)}]++;
  }
  std::partial_sum(plan.first_user.begin(), plan.first_user.end(), plan.first_user.begin());
  std::vector<uint32_t> next(plan.first_user.begin(), plan.first_user.end() - 1);
  plan.users.resize(edges.size());
  for (const auto& [from, to] : edges) plan.users[next[from]++] = to;
  return plan;
}

}  // namespace

Result<AnalyticalPlan> PlanAnalytical(const trace::TraceGraph& trace) {
  AnalyticalPlan plan;
  for (const trace::Program& program : trace.programs) {
    auto made = PlanProgram(program);
    if (!made) return made.error();
    plan.programs.push_back(*std::move(made));
  }
  return plan;
}

}  // namespace hespas::simulate
