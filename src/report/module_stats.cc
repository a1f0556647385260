#include "report/module_stats.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace hespas::report {
namespace {

using Json = nlohmann::ordered_json;

double Ratio(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

Json OneModule(const graph::BlockGraph& blocks, graph::BlockId id, const graph::Estimate& estimate, int64_t uses) {
  Json ops;
  for (const ir::OpId op : blocks.blocks[id.index()].ops) {
    Json& count = ops[std::string(blocks.module->name(op))];
    count = count.is_null() ? 1 : count.get<int64_t>() + 1;
  }
  Json terms;
  for (const graph::Term& term : estimate.terms) terms[std::string(term.name)] = term.time.seconds();
  return {{"uses", uses},
          {"runtime", estimate.time.seconds()},
          {"flops", estimate.flops.value},
          {"mem_bytes", estimate.bytes.value},
          {"bound", graph::BoundName(estimate.bound)},
          {"terms", terms},
          {"ops", ops}};
}

}  // namespace

std::string ModuleStatistics(const graph::BlockGraph& blocks, const graph::EstimateTable& estimates) {
  std::vector<int64_t> uses(estimates.unique.size());
  Time runtime;
  Flops flops;
  Bytes bytes;
  for (const uint32_t at : estimates.of_block) {
    if (at == graph::EstimateTable::kNone) continue;
    ++uses[at];
    runtime += estimates.unique[at].time;
    flops += estimates.unique[at].flops;
    bytes += estimates.unique[at].bytes;
  }
  const graph::ReuseStatistics& reuse = estimates.reuse;
  Json json = {{"schema_version", 1},
               {"runtime", runtime.seconds()},
               {"modules_processed", reuse.blocks},
               {"operators_processed", reuse.ops},
               {"cache_hits", reuse.hits()},
               {"cache_hit_prop", Ratio(reuse.hits(), reuse.blocks)},
               {"cache_op_hits", reuse.reused_ops},
               {"cache_op_hit_prop", Ratio(reuse.reused_ops, reuse.ops)},
               {"flops", flops.value},
               {"mem_bytes", bytes.value},
               {"per_module", Json::object()}};
  for (size_t i = 0; i < estimates.unique.size(); ++i) {
    const graph::BlockId id = estimates.first[i];
    json["per_module"][fmt::format("block_{}", id.value)] = OneModule(blocks, id, estimates.unique[i], uses[i]);
  }
  return json.dump(1) + "\n";
}

}  // namespace hespas::report
