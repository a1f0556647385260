// The answer of `hespas serve --search` as a table and as JSON.
#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/version.h"
#include "driver/serving/search/search.h"

namespace hespas::driver {
namespace {

std::string LoadOf(const SearchPoint& point) {
  if (point.clients) return fmt::format("{} clients", *point.clients);
  return point.rate ? fmt::format("{:.4g}/s", *point.rate) : "trace";
}

}  // namespace

report::Table SearchTable(const SearchAnswer& answer) {
  using report::Align;
  report::Table table;
  table.columns = {{"device"},
                   {"tp", Align::kRight},
                   {"pp", Align::kRight},
                   {"dp", Align::kRight},
                   {"P:D"},
                   {"weights"},
                   {"load", Align::kRight},
                   {"ttft_s", Align::kRight},
                   {"tpot_s", Align::kRight},
                   {"tokens_per_s_per_user", Align::kRight},
                   {"tokens_per_s_per_device", Align::kRight},
                   {"cost_per_million_tokens", Align::kRight},
                   {"meets"},
                   {"pareto"},
                   {"best"}};
  const auto yes = [](bool value) { return std::string(value ? "yes" : ""); };
  for (const SearchPoint& p : answer.points) {
    table.rows.push_back({p.device, fmt::format("{}", p.parallelism.tensor), fmt::format("{}", p.parallelism.pipeline),
                          fmt::format("{}", p.parallelism.data), p.disaggregate, p.weights, LoadOf(p),
                          fmt::format("{:.4g}", p.ttft_s), fmt::format("{:.4g}", p.tpot_s),
                          fmt::format("{:.4g}", p.tokens_per_s_per_user),
                          fmt::format("{:.5g}", p.tokens_per_s_per_device),
                          p.cost ? fmt::format("{:.4g}", *p.cost) : "", yes(p.meets), yes(p.pareto), yes(p.best)});
  }
  return table;
}

std::string ToJson(const SearchAnswer& answer, const ServeOptions& options) {
  using OrderedJson = nlohmann::ordered_json;
  OrderedJson json;
  json["schema_version"] = 1;
  json["candidates"] = answer.candidates;
  json["excluded"] = answer.excluded;
  json["dominated"] = answer.dominated;
  json["points"] = OrderedJson::array();
  for (const SearchPoint& p : answer.points) {
    OrderedJson point = {{"device", p.device},
                         {"devices", p.devices},
                         {"parallelism",
                          {{"tp", p.parallelism.tensor},
                           {"pp", p.parallelism.pipeline},
                           {"ep", p.parallelism.expert},
                           {"dp", p.parallelism.data}}},
                         {"weights", p.weights}};
    if (!p.disaggregate.empty()) point["disaggregate"] = p.disaggregate;
    if (p.clients) point["concurrency"] = *p.clients;
    if (p.rate && std::isfinite(*p.rate)) point["rate"] = *p.rate;
    point["ttft_s"] = p.ttft_s;
    point["tpot_s"] = p.tpot_s;
    point["tokens_per_s_per_user"] = p.tokens_per_s_per_user;
    point["tokens_per_s_per_device"] = p.tokens_per_s_per_device;
    if (p.cost) point["cost_per_million_tokens"] = *p.cost;
    point["meets_slo"] = p.meets;
    point["pareto"] = p.pareto;
    point["best"] = p.best;
    json["points"].push_back(std::move(point));
  }
  json["reproduce"] = {{"command", options.command_line}, {"version", kVersion}};
  return JsonText(json, 2) + "\n";
}

}  // namespace hespas::driver
