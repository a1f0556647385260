#include "driver/configuration/run_configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/text/json_text.h"
#include "base/text/lower.h"
#include "driver/configuration/tool_keys.h"

namespace hespas::driver {
namespace {

struct KeyRow {
  std::string_view key;
  std::string_view option;
};

// Keys whose values appear on the command line unchanged.
constexpr KeyRow kPlainKeys[] = {
    {"mlir_file", "PROGRAM"},
    {"output_dir", "--output"},
    {"clean", "--clean"},
    {"num_threads", "--threads"},
    {"block_lim", "--block-lim"},
    {"separator", "--separator"},
    {"separator_policy", "--separator-policy"},
    {"separator_node_type", "--separator-node-type"},
    {"merge", "--merge"},
    {"device", "--device"},
    {"system", "--system"},
    {"num_npus", "--num-npus"},
    {"optimise", "--optimise"},
    {"network_backend", "--network-backend"},
    {"network_model", "--network-model"},
    {"cache", "--cache"},
    {"compat", "--compat"},
    {"strict", "--strict"},
};

class Reader {
 public:
  Reader(const std::string& path, std::string_view text, const nlohmann::json& root, Diagnostics& diagnostics)
      : path_(path), text_(text), source_{text, path, &diagnostics}, root_(source_, root) {}

  RunConfiguration Read() {
    root_.Has("$schema");
    root_.Integer("schema_version", 1, 1);
    for (const KeyRow& row : kPlainKeys) Plain(row);
    // "linear_split" is the prototype's word for "linear".
    if (auto split = root_.Text("split_strategy")) {
      *split = Lower(*split);
      Offer("--split", split->ends_with("_split") ? split->substr(0, split->size() - 6) : *split, {"split_strategy"});
    }
    if (auto folder = root_.Text("cache_dir")) Offer("--cache", *folder + "/estimates.sqlite", {"cache_dir"});
    Reuse(root_, {});
    if (auto estimator = root_.Object("perf_estimator")) ReadEstimator(*estimator);
    root_.Finish();
    return std::move(out_);
  }

 private:
  void Offer(std::string option, std::string value, const std::vector<std::string>& path) {
    out_.options.push_back({std::move(option), std::move(value), LocateJson(text_, path_, path)});
  }

  void Plain(const KeyRow& row) {
    const std::string key(row.key);
    const nlohmann::json* value = root_.Raw(key);
    if (value == nullptr || value->is_null()) return;
    if (value->is_structured()) {
      root_.Report(kJsonBadValue, key, fmt::format("`{}` must be a single value", key));
      return;
    }
    Offer(std::string(row.option), value->is_string() ? value->get<std::string>() : value->dump(), {key});
  }

  void Reuse(JsonObject& object, std::vector<std::string> path) {
    path.push_back("in_memory_only_cache");
    if (object.Flag("in_memory_only_cache").value_or(false)) Offer("--cache", "memory", path);
    path.back() = "disable_cache";
    if (object.Flag("disable_cache").value_or(false)) Offer("--cache", "none", path);
  }

  void ReadEstimator(JsonObject& estimator) {
    const auto method = estimator.Text("method");
    if (method) Offer("--estimator", Lower(*method), {"perf_estimator", "method"});
    Reuse(estimator, {"perf_estimator"});
    auto hardware = estimator.Object("hardware");
    estimator.Finish();
    if (!hardware) return;
    auto nested = hardware->Has("roofline") ? hardware->Object("roofline") : std::nullopt;
    ReadFigures(nested ? *nested : *hardware);
    if (nested) nested->Finish();
    Reuse(*hardware, {"perf_estimator", "hardware"});
    for (const char* ignored : {"type", "cache_dir"}) hardware->Has(ignored);
    for (const ToolKey& key : ToolKeysOf(method ? Lower(*method) : "")) ReadTool(key, *hardware);
    if (const auto npus = hardware->Integer("num_npus", 1, 1 << 20))
      Offer("--num-npus", std::to_string(*npus), {"perf_estimator", "hardware", "num_npus"});
    hardware->Finish();
  }

  void ReadTool(const ToolKey& key, JsonObject& hardware) {
    const std::string name(key.key);
    const nlohmann::json* value = hardware.Raw(name);
    if (value == nullptr) return;
    const auto settings = SettingsOf(key, *value);
    if (!settings) return hardware.Report(kJsonBadValue, name, fmt::format("`{}` has a value of another type", name));
    for (const auto& [option, text] : *settings) Offer(option, text, {"perf_estimator", "hardware", name});
  }

  void ReadFigures(JsonObject& figures) {
    for (const char* ignored : {"type", "cache_dir", "warn_on_unknown_type", "error_on_unknown_type"})
      figures.Has(ignored);
    Figure(figures, "peak_flops", "peak_flops", Unit::kFlopsPerSecond);
    Figure(figures, "memory_bandwidth", "memory_bandwidth", Unit::kBytesPerSecond);
    out_.describes_device = out_.figures.size() == 2;
    Figure(figures, "tdp_W", "tdp", Unit::kWatts);
    Figure(figures, "hbm_power_ratio", "hbm_power_ratio", Unit::kNumber);
    auto table = figures.Object("per_datatype_flops");
    if (!table) return;
    for (const std::string& datatype : table->Keys())
      Figure(*table, datatype, "per_datatype_flops." + datatype, Unit::kFlopsPerSecond);
  }

  void Figure(JsonObject& object, const std::string& key, std::string name, Unit unit) {
    if (const auto value = object.Quantity(key, unit))
      out_.figures.push_back({std::move(name), *value, "configuration " + path_});
  }

  const std::string& path_;
  std::string_view text_;
  JsonSource source_;
  JsonObject root_;
  RunConfiguration out_;
};

}  // namespace

std::optional<RunConfiguration> ReadRunConfiguration(const std::string& path, Diagnostics& diagnostics) {
  const auto text = ReadInput(path);
  const auto parsed = text ? ParseJson(*text, path) : Result<nlohmann::json>(text.error());
  if (!parsed) {
    diagnostics.Report(parsed.error());
    return std::nullopt;
  }
  const size_t before = diagnostics.error_count();
  RunConfiguration configuration = Reader(path, *text, *parsed, diagnostics).Read();
  if (diagnostics.error_count() > before) return std::nullopt;
  return configuration;
}

}  // namespace hespas::driver
