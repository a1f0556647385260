#include "driver/compat/configuration.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "base/file.h"
#include "base/json_text.h"
#include "base/suggest.h"

namespace hespas::driver::compat {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kTopKeys[] = {"$schema",       "mlir_file",     "output_dir",       "clean",
                                         "disable_cache", "num_threads",   "cache_dir",        "split_strategy",
                                         "block_lim",     "separator",     "separator_policy", "separator_node_type",
                                         "merge",         "perf_estimator"};
constexpr std::string_view kEstimatorKeys[] = {"method", "hardware", "in_memory_only_cache", "disable_cache"};
constexpr std::string_view kRooflineKeys[] = {"peak_flops",
                                              "memory_bandwidth",
                                              "per_datatype_flops",
                                              "tdp_W",
                                              "hbm_power_ratio",
                                              "warn_on_unknown_type",
                                              "error_on_unknown_type",
                                              "cache_dir",
                                              "disable_cache",
                                              "in_memory_only_cache",
                                              "num_npus",
                                              "type"};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

class Reader {
 public:
  Reader(const CommandLine& command, std::string text, Json root)
      : command_(command), text_(std::move(text)), root_(std::move(root)) {}

  Result<Settings> Read(bool needs_estimator) {
    if (!root_.is_object())
      return MakeError(kBadSetting, "the configuration is not a JSON object", {.file = command_.config_path});
    if (!command_.compat) CheckKeys(root_, {}, kTopKeys);
    if (needs_estimator) ReadEstimator();
    ReadPaths();
    if (needs_estimator) ReadRun();
    ReadSplit();
    if (failure_) return *failure_;
    return std::move(settings_);
  }

 private:
  void Fail(const DiagnosticKind& kind, std::string message, std::vector<std::string> path, std::string help = {}) {
    if (failure_) return;
    Location at{.file = command_.config_path};
    if (!path.empty()) at = LocateJson(text_, command_.config_path, path);
    failure_ = MakeError(kind, std::move(message), std::move(at), std::move(help));
  }

  void CheckKeys(const Json& object, std::vector<std::string> path, std::span<const std::string_view> known) {
    const std::vector<std::string> names(known.begin(), known.end());
    for (const auto& [key, value] : object.items()) {
      if (std::find(names.begin(), names.end(), key) != names.end()) continue;
      path.push_back(key);
      Fail(kUnknownSetting, fmt::format("unknown key `{}`", key), path, DidYouMean(key, names));
      return;
    }
  }

  // Members of the right type; anything else is an error.
  std::optional<std::string> Text(const Json& object, const std::string& key, std::vector<std::string> path = {}) {
    const Json* value = Member(object, key);
    if (value == nullptr) return std::nullopt;
    path.push_back(key);
    if (!value->is_string()) Fail(kBadSetting, fmt::format("`{}` must be a text", key), path);
    return value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
  }
  std::optional<bool> Flag(const Json& object, const std::string& key, std::vector<std::string> path = {}) {
    const Json* value = Member(object, key);
    if (value == nullptr) return std::nullopt;
    path.push_back(key);
    if (!value->is_boolean()) Fail(kBadSetting, fmt::format("`{}` must be true or false", key), path);
    return value->is_boolean() ? std::optional(value->get<bool>()) : std::nullopt;
  }
  // A number, or a text that holds one (the prototype converts with int() and float()).
  std::optional<double> Number(const Json& object, const std::string& key, double least,
                               std::vector<std::string> path = {}) {
    const Json* value = Member(object, key);
    if (value == nullptr) return std::nullopt;
    path.push_back(key);
    double number = -1;
    bool good = value->is_number();
    if (good) number = value->get<double>();
    if (value->is_string()) {
      const std::string text = value->get<std::string>();
      char* end = nullptr;
      number = std::strtod(text.c_str(), &end);
      good = !text.empty() && *end == '\0';
    }
    if (good && number >= least && number <= 1e300) return number;
    Fail(kBadSetting, fmt::format("`{}` must be a number, at least {}", key, least), path);
    return std::nullopt;
  }
  static const Json* Member(const Json& object, const std::string& key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  void ReadEstimator() {
    const Json* estimator = Member(root_, "perf_estimator");
    if (estimator == nullptr || !estimator->is_object()) {
      Fail(kMissingSetting, "the configuration has no object `perf_estimator`", {});
      return;
    }
    if (!command_.compat) CheckKeys(*estimator, {"perf_estimator"}, kEstimatorKeys);
    const Json* hardware = Member(*estimator, "hardware");
    if (hardware == nullptr || !hardware->is_object()) {
      Fail(kMissingSetting, "`perf_estimator` has no object `hardware`", {"perf_estimator"});
      return;
    }
    const auto method = Text(*estimator, "method", {"perf_estimator"});
    if (!method) {
      Fail(kMissingSetting, "`perf_estimator` has no `method`", {"perf_estimator"});
      return;
    }
    if (Lower(*method) != "roofline") {
      Fail(kMethodUnavailable, fmt::format("estimator `{}` is not available here", *method),
           {"perf_estimator", "method"}, "`roofline` is built in; `hespas run --estimator` lists the others");
      return;
    }
    ReadHardware(*hardware);
  }

  void ReadHardware(const Json& hardware) {
    const std::vector<std::string> path = {"perf_estimator", "hardware"};
    CheckKeys(hardware, path, kRooflineKeys);
    const auto peak = Number(hardware, "peak_flops", 1, path);
    const auto bandwidth = Number(hardware, "memory_bandwidth", 1, path);
    for (const std::string key : {"peak_flops", "memory_bandwidth"}) {
      if (Member(hardware, key) == nullptr) {
        Fail(kMissingSetting, fmt::format("`hardware` lacks `{}`, which the roofline estimator needs", key), path);
      }
    }
    settings_.rates.peak_flops = std::trunc(peak.value_or(1));
    settings_.rates.memory_bandwidth = std::trunc(bandwidth.value_or(1));
    settings_.rates.tdp_w = Number(hardware, "tdp_W", 0, path).value_or(0);
    settings_.rates.hbm_power_ratio = Number(hardware, "hbm_power_ratio", 0, path).value_or(0);
    if (const Json* table = Member(hardware, "per_datatype_flops")) ReadTable(*table);
    const bool table = !settings_.rates.per_datatype_flops.empty();
    settings_.warn_on_unknown_type = Flag(hardware, "warn_on_unknown_type", path).value_or(table) && table;
    settings_.error_on_unknown_type = Flag(hardware, "error_on_unknown_type", path).value_or(false);
    if (settings_.error_on_unknown_type && !table) {
      Fail(kBadSetting, "`error_on_unknown_type` needs `per_datatype_flops`",
           {"perf_estimator", "hardware", "error_on_unknown_type"});
    }
    settings_.reuse = !Flag(hardware, "disable_cache", path).value_or(false);
    if (const auto npus = Number(hardware, "num_npus", 1, path))
      settings_.num_npus = static_cast<uint32_t>(std::min(*npus, 2e6));
  }

  void ReadTable(const Json& table) {
    std::vector<std::string> path = {"perf_estimator", "hardware", "per_datatype_flops"};
    if (!table.is_object()) {
      Fail(kBadSetting, "`per_datatype_flops` must be an object of rates by datatype", path);
      return;
    }
    for (const auto& [datatype, value] : table.items()) {
      // A rate of 0 would divide by zero in the prototype.
      const auto rate = Number(table, datatype, 1, path);
      if (rate) settings_.rates.per_datatype_flops.emplace_back(datatype, *rate);
    }
  }

  void ReadPaths() {
    const auto output = Text(root_, "output_dir");
    settings_.output_dir = command_.output.value_or(output.value_or(""));
    if (settings_.output_dir.empty()) Fail(kMissingSetting, "no output folder: give `output_dir` or --output", {});
    const auto mlir = Text(root_, "mlir_file");
    settings_.mlir_file = command_.mlir_file.value_or(mlir.value_or(""));
    if (settings_.mlir_file.empty()) Fail(kMissingSetting, "no program: give `mlir_file` or --mlir_file", {});
    settings_.cache_dir = Text(root_, "cache_dir").value_or(settings_.output_dir + "/cache");
  }

  // In the prototype the configuration wins over the options for `clean`; here, by default, either turns it on.
  void ReadRun() {
    const auto clean = Flag(root_, "clean");
    settings_.clean = command_.compat ? clean.value_or(command_.clean) : command_.clean || clean.value_or(false);
    if (Flag(root_, "disable_cache").value_or(false)) settings_.reuse = false;
    if (!command_.num_npus) return;
    if (*command_.num_npus < 1 || *command_.num_npus > (1 << 20)) {
      Fail(kBadSetting, fmt::format("--num_npus {} is not between 1 and 1048576", *command_.num_npus), {});
      return;
    }
    settings_.num_npus = static_cast<uint32_t>(*command_.num_npus);
  }

  void ReadSplit() {
    const auto configured = Text(root_, "split_strategy");
    settings_.split_name = command_.split.value_or(configured ? Lower(*configured) : "linear_split");
    if (settings_.split_name != "linear_split" && settings_.split_name != "individual_split") {
      Fail(kUnknownSplit,
           fmt::format("Split Strategy '{}' does not exist - choose from ['linear_split', 'individual_split']",
                       settings_.split_name),
           command_.split ? std::vector<std::string>{} : std::vector<std::string>{"split_strategy"},
           DidYouMean(settings_.split_name, std::vector<std::string>{"linear_split", "individual_split"}));
      return;
    }
    split::Options& split = settings_.split;
    split.compat = command_.compat;
    const bool linear = settings_.split_name == "linear_split";
    split.strategy = linear ? split::Strategy::kLinear : split::Strategy::kIndividual;
    if (linear && command_.merge) Fail(kBadSetting, "--merge and --no-merge need individual_split", {});
    if (!linear && command_.block_limit) Fail(kBadSetting, "--block_lim needs linear_split", {});
    split.merge = !linear && command_.merge.value_or(Flag(root_, "merge").value_or(false));
    if (linear) ReadLinear(split);
  }

  void ReadLinear(split::Options& split) {
    const double limit = command_.block_limit ? static_cast<double>(*command_.block_limit)
                                              : Number(root_, "block_lim", 1).value_or(1024);
    if (limit < 1) Fail(kBadSetting, fmt::format("--block_lim {} is not positive", limit), {});
    split.block_limit = static_cast<size_t>(std::clamp(limit, 1.0, 1e15));
    if (const auto name = Text(root_, "separator")) {
      const auto separator = split::SeparatorByName(*name);
      if (!separator) Fail(kBadSetting, fmt::format("unknown separator `{}`", *name), {"separator"});
      split.separator = separator.value_or(split.separator);
    }
    if (const auto name = Text(root_, "separator_policy")) {
      const auto policy = split::PolicyByName(*name);
      if (!policy)
        Fail(kBadSetting, fmt::format("unknown separator policy `{}`", *name), {"separator_policy"},
             "ISOLATED, END_BLOCK or START_BLOCK");
      split.policy = policy.value_or(split.policy);
    }
    if (const auto name = Text(root_, "separator_node_type")) {
      if (*name == "COMP_NODE") {
        split.separator_kind = graph::BlockKind::kCompute;
      } else if (*name != "COMM_COLL_NODE") {
        Fail(kBadSetting, fmt::format("unknown node type `{}`", *name), {"separator_node_type"},
             "COMM_COLL_NODE or COMP_NODE");
      }
    }
  }

  const CommandLine& command_;
  std::string text_;
  Json root_;
  Settings settings_;
  std::optional<Error> failure_;
};

}  // namespace

Result<Settings> ReadSettings(const CommandLine& command, bool needs_estimator) {
  auto text = ReadInput(command.config_path);
  if (!text) return text.error();
  // Once for messages with line and column, once more for the order of the keys.
  const auto checked = ParseJson(*text, command.config_path);
  if (!checked) return checked.error();
  Json root = Json::parse(*text, nullptr, false);
  return Reader(command, *std::move(text), std::move(root)).Read(needs_estimator);
}

}  // namespace hespas::driver::compat
