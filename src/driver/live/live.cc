#include "driver/live/live.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "base/text/json.h"
#include "driver/live/block_terms.h"
#include "driver/live/collective_terms.h"
#include "trace/priority.h"

namespace hespas::driver {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostNodes = 200'000;  // that a browser simulates in a tenth of a second

std::string WhyNot(const LiveInput& run) {
  if (run.options.compat || run.options.estimate.custom || run.options.estimate.estimator != "calibrated")
    return "the page follows the calibrated estimator only";
  if (run.options.estimate.flash_attention) return "the page does not follow --flash-attention";
  if (!run.network_model.empty() && run.network_model != "calibrated")
    return "the page follows the calibrated network model only";
  if (!run.options.network.stragglers.empty()) return "the page does not follow stragglers";
  if (run.traces.programs.size() != 1) return "its devices run different programs";
  const trace::Program& program = run.traces.programs.front();
  if (!run.traces.loops.empty()) return "its loops are not written out";
  if (program.nodes.size() > kMostNodes) return "it has too many blocks for a browser";
  const bool messages =
      std::ranges::any_of(program.nodes, [](const trace::Node& node) { return trace::IsMessage(node.kind); });
  return messages ? "its devices exchange single messages" : "";
}

// Rings with equal links are one torus (network/levels.h): its dimensions change together, `with` the first of them.
Json System(const hardware::System& system) {
  constexpr double kGiga = 1073741824.0;  // a link's GB is 2^30 bytes (hardware/system.h)
  Json rows = Json::array();
  const hardware::NetworkDimension* before = nullptr;
  size_t with = 0;
  for (const hardware::NetworkDimension& d : system.dimensions) {
    const bool torus = before != nullptr && d.kind == hardware::DimensionKind::kRing && before->kind == d.kind &&
                       before->bandwidth == d.bandwidth && before->latency == d.latency;
    if (!torus) with = rows.size();
    rows.push_back(
        {{"npus", d.npus}, {"bandwidth", d.bandwidth * kGiga}, {"latency", d.latency * 1e-9}, {"with", with}});
    before = &d;
  }
  return rows;
}

// Nodes in the order of the program: [kind, what], and the positions of those that each waits for.
struct Order {
  Json kinds = Json::array();  // 0: computation, 1: communication
  Json what = Json::array();   // a distinct block, or a collective
  Json waits = Json::array();
  Json first = Json::array();  // positions of computations that run before others that could
  Json holds = Json::array();  // positions of communication that runs in the order of the computation
};

Order OrderOf(const LiveInput& run, const CollectiveNodes& collectives) {
  const trace::Program& program = run.traces.programs.front();
  std::map<uint64_t, size_t> position;
  for (size_t i = 0; i < program.nodes.size(); ++i) position[program.nodes[i].id] = i;
  Order order;
  for (const trace::Node& node : program.nodes) {
    const bool communicates = node.kind == trace::NodeKind::kCollective;
    const uint32_t distinct =
        node.block < run.estimated.table.of_block.size() ? run.estimated.table.of_block[node.block] : trace::kNoBlock;
    if (!communicates && node.tag == trace::kRunsFirst) order.first.push_back(order.kinds.size());
    if (collectives.holding.contains(node.id)) order.holds.push_back(order.kinds.size());
    order.kinds.push_back(communicates ? 1 : 0);
    order.what.push_back(communicates                  ? Json(collectives.row.at(node.id))
                         : distinct == trace::kNoBlock ? Json(-1)
                                                       : Json(distinct));
    Json waits = Json::array();
    for (uint32_t d = 0; d < node.dependency_count; ++d)
      waits.push_back(position.at(program.dependencies[node.first_dependency + d]));
    order.waits.push_back(std::move(waits));
  }
  return order;
}

}  // namespace

std::string LiveData(const LiveInput& run) {
  const std::string why = WhyNot(run);
  if (!why.empty()) return JsonText(Json{{"why_not", why}});
  Json out{{"machine", MachineTerms(run.options.optimise, run.prepared)},
           {"blocks", BlockTerms(run.prepared, run.estimated)}};
  out["uses"] = graph::Uses(run.prepared.blocks, run.estimated.table);
  CollectiveNodes collectives;
  if (run.system != nullptr) {
    auto terms = CollectiveTerms(run.traces, run.prepared.device, *run.system, collectives);
    if (terms.is_null())
      return JsonText(Json{
          {"why_not", "its collectives run side by side, or its groups of devices lie differently in the network"}});
    out["collectives"] = std::move(terms);
    out["system"] = System(*run.system);
  }
  Order order = OrderOf(run, collectives);
  out["kinds"] = std::move(order.kinds);
  out["what"] = std::move(order.what);
  out["waits"] = std::move(order.waits);
  out["first"] = std::move(order.first);
  out["holds"] = std::move(order.holds);
  return JsonText(out);
}

}  // namespace hespas::driver
