// The answer of `hespas serve` as JSON and as rows.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "base/text/json.h"
#include "base/version.h"
#include "driver/serving/serve.h"

namespace hespas::driver {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson QuantilesOf(const serve::Distribution& d) {
  return {{"mean", d.mean}, {"p50", d.p50}, {"p90", d.p90}, {"p95", d.p95}, {"p99", d.p99}};
}

// Of a request's time from sending to the last token: what it waits, and what the steps then spend.
OrderedJson WhereTimeGoes(const ServeAnswer& a) {
  const serve::ReplicaCounts& counts = a.run.counts;
  const double all = std::accumulate(counts.parts.begin(), counts.parts.end(), 0.0);
  const double queue = a.figures.e2e.mean > 0 ? a.figures.queue.mean / a.figures.e2e.mean : 0;
  OrderedJson parts = OrderedJson::object();
  for (size_t i = 0; i < serve::kParts; ++i)
    parts[std::string(serve::kPartNames[i])] = all > 0 ? (1 - queue) * counts.parts[i] / all : 0;
  parts["queue"] = queue;
  return parts;
}

OrderedJson MemoryOf(const ServeMemory& memory) {
  return {{"capacity", memory.capacity},
          {"weights", memory.weights},
          {"kv", memory.cache},
          {"workspace", memory.workspace},
          {"kv_blocks", memory.blocks},
          {"kv_tokens", memory.cache_tokens},
          {"kv_bytes_per_token", memory.cache_bytes_per_token}};
}

OrderedJson ToObject(const ServeAnswer& a) {
  const serve::Figures& f = a.figures;
  OrderedJson json;
  json["schema_version"] = 1;
  if (!a.model.empty()) json["model"] = a.model;
  if (!a.device.empty()) json["device"] = a.device;
  if (!a.system.empty()) json["system"] = a.system;
  json["devices"] = a.devices;
  const serve::Parallelism& p = a.parallelism;
  json["parallelism"] = {{"tp", p.tensor}, {"pp", p.pipeline}, {"ep", p.expert}, {"dp", p.data}};
  if (!a.model.empty()) json["precision"] = {{"weights", a.weights}, {"kv", a.cache}, {"activations", a.activations}};
  json["engine"] = a.engine;
  json["engine_version"] = a.engine_version;
  json["requests"] = f.answered;
  json["ttft_s"] = QuantilesOf(f.ttft);
  json["tpot_s"] = QuantilesOf(f.tpot);
  json["itl_s"] = QuantilesOf(f.itl);
  json["e2e_s"] = QuantilesOf(f.e2e);
  json["queue_s"] = QuantilesOf(f.queue);
  json["duration_s"] = a.run.wall;
  json["requests_per_s"] = f.requests_per_s;
  json["tokens_per_s"] = f.tokens_per_s;
  json["tokens_per_s_per_device"] = f.tokens_per_s / static_cast<double>(a.devices);
  json["tokens_per_s_per_user"] = f.tokens_per_s_per_user;
  if (a.goodput) json["goodput_per_s"] = f.good_per_s;
  if (a.memory) json["max_concurrency"] = a.max_concurrency;
  if (a.memory) json["max_concurrency_optimistic"] = a.max_concurrency_optimistic;
  json["mean_batch"] = f.mean_batch;
  json["mean_requests"] = f.mean_requests;
  json["preemptions"] = a.run.counts.preemptions;
  json["steps"] = a.run.counts.steps;
  json["computed_tokens"] = a.run.counts.computed_tokens;
  json["utilisation"] = f.utilisation;
  if (a.memory) json["memory"] = MemoryOf(*a.memory);
  json["step"] = {{"decode_s", a.decode_s}, {"prefill_s", a.prefill_s}, {"where_time_goes", WhereTimeGoes(a)}};
  for (const serve::KernelTime& kernel : a.decode_kernels)
    json["step"]["decode_kernels"].push_back(
        {{"kernel", kernel.name}, {"count", kernel.count}, {"seconds", kernel.seconds}});
  if (a.sigma_tpot) json["sigma"] = {{"ttft", *a.sigma_ttft}, {"tpot", *a.sigma_tpot}};
  if (a.cost) json["cost_per_million_tokens"] = *a.cost;
  if (a.cost) json["currency"] = a.currency;
  json["warnings"] = OrderedJson::array();
  for (const Diagnostic& warning : a.warnings)
    json["warnings"].push_back({{"code", warning.kind->code}, {"message", warning.message}});
  json["reproduce"] = {{"command", a.command_line}, {"version", kVersion}};
  return json;
}

void Flatten(const OrderedJson& json, const std::string& prefix,
             std::vector<std::pair<std::string, std::string>>& rows) {
  for (const auto& [key, value] : json.items()) {
    const std::string name = prefix.empty() ? key : prefix + "." + key;
    if (value.is_object()) {
      Flatten(value, name, rows);
    } else if (value.is_number_float()) {
      rows.emplace_back(name, fmt::format("{:.6g}", value.get<double>()));
    } else if (!value.is_array()) {
      rows.emplace_back(name, value.is_string() ? value.get<std::string>() : JsonText(value));
    }
  }
}

}  // namespace

std::string ToJson(const ServeAnswer& answer) { return JsonText(ToObject(answer), 2) + "\n"; }

report::Table ExplainTable(const ServeAnswer& answer) {
  using enum report::Align;
  report::Table table{
      .columns = {{"kernel of a decode step"}, {"count", kRight}, {"time [us]", kRight}, {"share", kRight}},
      .rows = {}};
  if (answer.decode_kernels.empty()) table.rows.push_back({"none: the times of whole steps are given", "", "", ""});
  for (const serve::KernelTime& kernel : answer.decode_kernels) {
    table.rows.push_back({kernel.name, fmt::format("{:.0f}", kernel.count), fmt::format("{:.1f}", kernel.seconds * 1e6),
                          fmt::format("{:.1f} %", 100 * kernel.seconds / answer.decode_s)});
  }
  return table;
}

std::vector<std::pair<std::string, std::string>> ToRows(const ServeAnswer& answer) {
  OrderedJson json = ToObject(answer);
  json.erase("schema_version");
  json.erase("reproduce");
  std::vector<std::pair<std::string, std::string>> rows;
  Flatten(json, "", rows);
  return rows;
}

}  // namespace hespas::driver
