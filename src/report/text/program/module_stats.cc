#include "report/text/program/module_stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "base/text/json.h"
#include "report/text/json_quote.h"

namespace hespas::report {
namespace {

using Json = nlohmann::ordered_json;

double Ratio(size_t part, size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Written piece by piece: a tree of thousands of entries would cost more than the estimates themselves.
void AddModule(const graph::BlockGraph& blocks, graph::BlockId id, const graph::Estimate& estimate, int64_t uses,
               std::string& out) {
  const auto to = std::back_inserter(out);
  fmt::format_to(
      to,
      "  \"block_{}\": {{\"uses\": {}, \"runtime\": {}, \"flops\": {}, \"mem_bytes\": {}, \"bound\": \"{}\", "
      "\"terms\": {{",
      id.value, uses, estimate.time.seconds(), estimate.flops.value, estimate.bytes.value,
      graph::BoundName(estimate.bound));
  const char* comma = "";
  for (const graph::Term& term : estimate.terms) {
    fmt::format_to(to, "{}\"{}\": {}", std::exchange(comma, ", "), term.name, term.time.seconds());
  }
  out += "}, \"ops\": {";
  std::vector<std::string_view> names;
  for (const ir::OpId op : blocks.blocks[id.index()].ops) names.push_back(blocks.module->name(op));
  std::sort(names.begin(), names.end());
  comma = "";
  for (auto name = names.begin(); name != names.end();) {
    const auto next = std::upper_bound(name, names.end(), *name);
    fmt::format_to(to, "{}{}: {}", std::exchange(comma, ", "), QuotedJson(*name), next - name);
    name = next;
  }
  out += "}}";
}

}  // namespace

std::string ModuleStatistics(const graph::BlockGraph& blocks, const graph::EstimateTable& estimates) {
  const std::vector<int64_t> uses = graph::Uses(blocks, estimates);
  Time runtime;
  Flops flops;
  Bytes bytes;
  for (size_t i = 0; i < uses.size(); ++i) {
    runtime += uses[i] * estimates.unique[i].time;
    flops += uses[i] * estimates.unique[i].flops;
    bytes += uses[i] * estimates.unique[i].bytes;
  }
  const graph::ReuseStatistics& reuse = estimates.reuse;
  const Json json = {{"schema_version", 1},
                     {"runtime", runtime.seconds()},
                     {"modules_processed", reuse.blocks},
                     {"operators_processed", reuse.ops},
                     {"cache_hits", reuse.hits()},
                     {"cache_hit_prop", Ratio(reuse.hits(), reuse.blocks)},
                     {"cache_op_hits", reuse.reused_ops},
                     {"cache_op_hit_prop", Ratio(reuse.reused_ops, reuse.ops)},
                     {"flops", flops.value},
                     {"mem_bytes", bytes.value}};
  std::string out = JsonText(json, 1);
  out.replace(out.size() - 2, 2, ",\n \"per_module\": {");
  for (size_t i = 0; i < estimates.unique.size(); ++i) {
    const graph::BlockId id = estimates.first[i];
    out += i == 0 ? "\n" : ",\n";
    AddModule(blocks, id, estimates.unique[i], uses[i], out);
  }
  return out + "\n }\n}\n";
}

}  // namespace hespas::report
