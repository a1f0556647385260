#include "report/text/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "report/step/block_times.h"
#include "report/text/efficiency.h"
#include "report/text/headline.h"
#include "report/text/unit_column.h"

namespace hespas::report {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json PlaceOf(const Location& at) {
  if (at.file.empty()) return nullptr;
  return at.line > 0 ? fmt::format("{}:{}:{}", at.file, at.line, at.column) : at.file;
}

Json Collectives(const result::RunResult& r) {
  Json rows = Json::array();
  for (const auto& c : r.collectives) {
    rows.push_back({{"op", c.op}, {"count", c.count}, {"bytes", c.bytes.value}, {"time_s", c.time.seconds()}});
    for (const auto& p : c.pricings)
      rows.back()["pricings"].push_back(
          {{"model", p.model}, {"algorithm", p.algorithm}, {"levels", p.levels}, {"bound", p.bound}});
  }
  return rows;
}

Json Ops(const result::RunResult& r) {
  Json rows = Json::array();
  for (const auto& op : r.ops) {
    rows.push_back({{"name", op.name},
                    {"count", op.count},
                    {"time_s", op.time.seconds()},
                    {"flops", op.flops.value},
                    {"energy_j", op.energy_j},
                    {"bytes", op.bytes.value},
                    {"costed_by", op.costed_by}});
  }
  return rows;
}

Json Warnings(const result::RunResult& r) {
  Json rows = Json::array();
  for (const Diagnostic& d : r.warnings) {
    rows.push_back({{"code", d.kind->code}, {"message", d.message}, {"location", PlaceOf(d.location)}});
  }
  return rows;
}

Json ByCategory(const result::BytesByCategory& held) {
  Json json = Json::object();
  for (size_t c = 0; c < held.size(); ++c) json[std::string(result::kMemoryCategoryNames[c])] = held[c].value;
  return json;
}

Json Largest(const result::MemoryCurve& memory) {
  Json rows = Json::array();
  for (const result::LiveTensor& t : memory.largest) {
    rows.push_back({{"name", t.name},
                    {"bytes", t.bytes.value},
                    {"category", result::kMemoryCategoryNames[static_cast<size_t>(t.category)]},
                    {"location", PlaceOf(t.location)},
                    {"source", t.source.empty() ? Json(nullptr) : Json(t.source)},
                    {"from_s", t.from.seconds()},
                    {"until_s", t.until.seconds()}});
  }
  return rows;
}

Json Memory(const result::MemoryCurve& memory) {
  return {{"peak_at_s", memory.peak_at.seconds()},
          {"argument_bytes", memory.arguments.value},
          {"output_bytes", memory.outputs.value},
          {"alias_bytes", memory.aliased.value},
          {"temporary_bytes", memory.temporaries.value},
          {"at_peak", ByCategory(memory.at_peak)},
          {"largest", Largest(memory)},
          {"categories", result::kMemoryCategoryNames},
          {"curve", Json::array()}};
}

// Rows of time and bytes by category, in the order of `categories`; put into the finished text, as a tree of thousands
// of rows would cost more than the analysis.
void InsertCurve(const result::MemoryCurve& memory, bool indented, std::string& json) {
  std::string rows;
  const auto add = [&rows](const char* before, std::string_view text) { rows.append(before).append(text); };
  for (const result::MemoryPoint& point : memory.points) {
    if (!rows.empty()) rows += ',';
    char start[32];
    const auto end = std::to_chars(start, start + sizeof start, point.start.seconds()).ptr;
    add(indented ? "\n   [" : "[", {start, static_cast<size_t>(end - start)});
    for (const Bytes bytes : point.held) {
      const fmt::format_int digits(bytes.value);
      add(",", {digits.data(), digits.size()});
    }
    rows += ']';
  }
  json.insert(json.find('[', json.find("\"curve\":")) + 1, rows);
}

Json Throughput(const result::RunResult& r) {
  if (!r.rate()) return nullptr;
  return {{"unit", r.throughput->unit},
          {"per_step", *r.batch()},
          {"per_step_and_device", r.throughput->per_step},
          {"per_second", *r.rate()},
          {"per_second_and_device", *r.rate_per_device()},
          {"from", r.throughput->argument}};
}

Json UnknownKernels(const result::RunResult& r) {
  Json rows = Json::array();
  for (const result::UnknownKernel& kernel : r.unknown_kernels) {
    const UnknownShare share = ShareOf(r, kernel);
    rows.push_back({{"name", kernel.name},
                    {"count", kernel.count},
                    {"bytes", kernel.bytes.value},
                    {"share_of_ops", share.ops},
                    {"share_of_bytes", share.bytes}});
  }
  return rows;
}

Json Shares(const std::vector<result::TimeShare>& shares) {
  Json rows = Json::array();
  for (const auto& share : shares) {
    rows.push_back({{"name", share.name}, {"time_ps", share.time.value}, {"blocks", share.blocks}});
  }
  return rows;
}

constexpr size_t kListedKernels = 100;

Json Kernels(const result::RunResult& r) {
  Json rows = Json::array();
  for (size_t i = 0; i < std::min(kListedKernels, r.kernels.size()); ++i) {
    const result::KernelSummary& kernel = r.kernels[i];
    rows.push_back({{"name", kernel.name},
                    {"count", kernel.count},
                    {"time_ps", kernel.time.value},
                    {"flops", kernel.flops.value},
                    {"bytes", kernel.bytes.value}});
  }
  return rows;
}

Json WhatIfs(const result::RunResult& r) {
  Json rows = Json::array();
  for (const result::WhatIf& row : r.what_if) {
    rows.push_back({{"name", row.name},
                    {"options", row.options},
                    {"step_time_ps", row.step_time.value},
                    {"estimated", row.estimated}});
  }
  return rows;
}

constexpr size_t kSummaryLines = 24;  // of a terminal
constexpr size_t kFewestRows = 3;

constexpr size_t kNameColumns = 46;  // of 80, beside count, time and bytes

size_t Columns(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

// The end of a name says what a kernel does: what is too long loses its outer scopes.
std::string Shortened(std::string_view name) {
  std::string_view rest = name;
  while (Columns(rest) + (rest == name ? 0 : 2) > kNameColumns) {
    const size_t slash = rest.find('/');
    if (slash == std::string_view::npos || slash > rest.find(' ')) break;
    rest.remove_prefix(slash + 1);
  }
  return rest == name ? std::string(name) : fmt::format("…/{}", rest);
}

// The costliest kernels and collectives.
Table Costliest(const result::RunResult& r, size_t rows) {
  UnitColumn names{.column = {"costliest"}, .cells = {}};
  UnitColumn counts{.column = {"count", Align::kRight}, .cells = {}};
  std::vector<Time> times;
  std::vector<Bytes> sizes;
  for (size_t i = 0; i < std::min(rows, r.kernels.size()); ++i) {
    const result::KernelSummary& kernel = r.kernels[i];
    names.cells.push_back(Shortened(kernel.name));
    counts.cells.push_back(std::to_string(kernel.count));
    times.push_back(kernel.time);
    sizes.push_back(kernel.bytes);
  }
  Table table;
  AddColumn(table, std::move(names));
  AddColumn(table, std::move(counts));
  AddColumn(table, TimeColumn("time", times));
  AddColumn(table, BytesColumn("bytes", sizes));
  return table;
}

}  // namespace

std::string ToJson(const result::RunResult& r, int indent) {
  Json json;
  json["schema_version"] = kRunSchemaVersion;
  json["program"] = {{"path", r.program.path}, {"sha256", r.program.sha256}, {"ops", r.program.ops}};
  json["device"] = r.device;
  json["system"] = r.system;
  json["npus"] = r.npus;
  json["estimator"] = r.estimator;
  json["network_model"] = r.network_model.empty() ? Json(nullptr) : Json(r.network_model);
  json["optimise"] = r.optimise;
  json["schedule_limit"] = r.schedule_limit;
  json["split"] = r.split;
  json["step_time_s"] = r.step_time.seconds();
  json["step_time_ps"] = r.step_time.value;
  json["step_time_sigma_s"] = r.step_time_sigma ? Json(r.step_time_sigma->seconds()) : Json(nullptr);
  if (r.measured_step) {
    json["measured_step"] = {{"time_s", r.measured_step->time.seconds()},
                             {"sigma_s", r.measured_step->sigma.seconds()},
                             {"platform", r.measured_step->platform}};
  }
  json["compute_time_s"] = r.compute_time.seconds();
  json["communication_time_s"] = r.communication_time.seconds();
  json["exposed_communication_s"] = r.exposed_communication.seconds();
  json["overlap_s"] = r.overlap.seconds();
  json["idle_s"] = r.idle.seconds();
  json["compute_time_ps"] = r.compute_time.value;
  json["communication_time_ps"] = r.communication_time.value;
  json["exposed_communication_ps"] = r.exposed_communication.value;
  json["overlap_ps"] = r.overlap.value;
  json["idle_ps"] = r.idle.value;
  json["flops"] = r.flops.value;
  json["bytes_accessed"] = r.bytes_accessed.value;
  json["flops_utilisation"] = r.flops_utilisation;
  json["memory_bandwidth_utilisation"] = r.memory_bandwidth_utilisation;
  json["model_flops_utilisation"] = OrNull(r.model_flops_utilisation);
  json["hardware_flops_utilisation"] = r.hardware_flops_utilisation;
  json["throughput"] = Throughput(r);
  const bool counts_tokens = r.throughput && r.throughput->unit == "tokens";
  json["tokens_per_s_per_device"] = counts_tokens ? OrNull(r.rate_per_device()) : Json(nullptr);
  json["peak_memory_bytes"] = r.peak_memory ? Json(r.peak_memory->value) : Json(nullptr);
  json["memory_capacity_bytes"] = r.memory_capacity ? Json(r.memory_capacity->value) : Json(nullptr);
  json["fits_in_memory"] = OrNull(r.fits_in_memory);
  json["memory"] = r.memory ? Memory(*r.memory) : Json(nullptr);
  json["energy_j"] = OrNull(r.energy_j);
  json["energy_j_per_million"] = OrNull(r.energy_per_million());
  json["price_per_hour"] = r.price ? Json(r.price->per_hour) : Json(nullptr);
  json["currency"] = r.price ? Json(r.price->currency) : Json(nullptr);
  json["cost_per_million"] = OrNull(r.cost_per_million());
  json["blocks"] = {{"total", r.blocks.total},
                    {"unique", r.blocks.unique},
                    {"compute", r.blocks.compute},
                    {"communication", r.blocks.communication}};
  json["collectives"] = Collectives(r);
  json["ops"] = Ops(r);
  json["kernels"] = Kernels(r);
  json["unknown_kernels"] = UnknownKernels(r);
  json["where_time_goes"] = {{"total_ps", r.breakdown.total.value},
                             {"by_kind", Shares(r.breakdown.kinds)},
                             {"by_layer", Shares(r.breakdown.layers)},
                             {"by_bound", Shares(r.breakdown.bounds)}};
  if (r.block_times) json["block_times"] = Json::array();
  if (!r.what_if.empty()) json["what_if"] = WhatIfs(r);
  json["warnings"] = Warnings(r);
  json["reproduce"] = {
      {"command", r.reproduce.command}, {"version", r.reproduce.version}, {"input_hashes", r.reproduce.input_hashes}};
  std::string text = JsonText(json, indent) + (indent >= 0 ? "\n" : "");
  if (r.memory) InsertCurve(*r.memory, indent >= 0, text);
  if (r.block_times) text.replace(text.find("[]", text.find("\"block_times\":")), 2, ToJson(*r.block_times));
  return text;
}

std::string Summary(const result::RunResult& r, bool colour) {
  std::string out = HeadlineText(r, colour);
  out += LineText({"blocks", std::to_string(r.blocks.total),
                   fmt::format("{} distinct, {} compute, {} communication", r.blocks.unique, r.blocks.compute,
                               r.blocks.communication)});
  if (!r.what_if.empty()) out += "\n" + ToText(WhatIfTable(r));
  const auto used = static_cast<size_t>(std::count(out.begin(), out.end(), '\n')) + 2;
  return out + "\n" + ToText(Costliest(r, std::max(kFewestRows, kSummaryLines - std::min(kSummaryLines, used))));
}

Table AsTable(const result::RunResult& r) {
  const auto seconds = [](Time t) { return fmt::format("{}", t.seconds()); };
  Table table;
  table.rows.emplace_back();
  const auto add = [&](std::string name, std::string value) {
    table.columns.push_back({std::move(name)});
    table.rows[0].push_back(std::move(value));
  };
  add("program", r.program.path);
  add("device", r.device);
  add("system", r.system);
  add("npus", std::to_string(r.npus));
  add("estimator", r.estimator);
  add("network_model", r.network_model);
  add("optimise", r.optimise);
  add("step_time_s", seconds(r.step_time));
  add("compute_time_s", seconds(r.compute_time));
  add("communication_time_s", seconds(r.communication_time));
  add("exposed_communication_s", seconds(r.exposed_communication));
  add("idle_s", seconds(r.idle));
  add("flops", std::to_string(r.flops.value));
  add("bytes_accessed", std::to_string(r.bytes_accessed.value));
  const auto number = [&](std::string name, std::optional<double> value) {
    add(std::move(name), value ? fmt::format("{}", *value) : std::string());
  };
  number("step_time_sigma_s", r.step_time_sigma ? std::optional(r.step_time_sigma->seconds()) : std::nullopt);
  number("hardware_flops_utilisation", r.hardware_flops_utilisation);
  number("model_flops_utilisation", r.model_flops_utilisation);
  add("unit", r.throughput ? r.throughput->unit : "");
  number("units_per_step", r.batch());
  number("units_per_second_per_device", r.rate_per_device());
  number("units_per_second", r.rate());
  add("peak_memory_bytes", r.peak_memory ? std::to_string(r.peak_memory->value) : "");
  add("fits_in_memory", r.fits_in_memory ? (*r.fits_in_memory ? "true" : "false") : "");
  number("energy_j", r.energy_j);
  number("energy_j_per_million", r.energy_per_million());
  number("price_per_hour", r.price ? std::optional(r.price->per_hour) : std::nullopt);
  add("currency", r.price ? r.price->currency : "");
  number("cost_per_million", r.cost_per_million());
  const std::vector<result::WhatIf> best = BestWhatIfs(r);
  for (size_t i = 0; i < kHeadlineWhatIfs; ++i) {
    add(fmt::format("what_if_{}", i + 1), i < best.size() ? best[i].options : "");
    add(fmt::format("what_if_{}_step_time_s", i + 1), i < best.size() ? seconds(best[i].step_time) : "");
  }
  return table;
}

}  // namespace hespas::report
