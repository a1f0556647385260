#include "driver/compat/configuration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "base/schema_version.h"
#include "base/system/file.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/lower.h"
#include "base/text/suggest.h"
#include "driver/configuration/tool_keys.h"
#include "driver/stages/device.h"
#include "hardware/presets.h"
#include "report/text/table.h"

namespace hespas::driver::compat {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kTopKeys[] = {
    "$schema",       kSchemaVersionKey,  "mlir_file",           "output_dir",     "clean",
    "disable_cache", "num_threads",      "cache_dir",           "split_strategy", "block_lim",
    "separator",     "separator_policy", "separator_node_type", "merge",          "perf_estimator",
    "device"};
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

constexpr std::string_view kTable = "per_datatype_flops.";

void SetRate(Rates& rates, const std::string& datatype, double rate) {
  auto& table = rates.per_datatype_flops;
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const auto& entry) { return entry.first == datatype; });
  if (found != table.end()) {
    found->second = rate;
  } else {
    table.emplace_back(datatype, rate);
  }
}

Rates RatesOf(const hardware::Device& device) {
  Rates rates{.peak_flops = device.peak_flops.value,
              .memory_bandwidth = device.memory_bandwidth.value,
              .per_datatype_flops = {},
              .tdp_w = device.tdp_w.value_or(0),
              .hbm_power_ratio = device.hbm_power_ratio.value_or(0)};
  for (const auto& [datatype, rate] : device.per_datatype_flops)
    rates.per_datatype_flops.emplace_back(datatype, rate.value);
  return rates;
}

class Reader {
 public:
  Reader(const CommandLine& command, std::string text, OrderedJson root)
      : command_(command), text_(std::move(text)), root_(std::move(root)) {}

  Result<Settings> Read(bool needs_estimator) {
    if (!root_.is_object())
      return MakeError(kBadSetting, "the configuration is not a JSON object", {.file = command_.config_path});
    if (!command_.compat) CheckKeys(root_, {}, kTopKeys);
    auto fault = command_.compat ? std::nullopt : SchemaVersionFault(root_, 1);
    if (fault) Fail(kJsonBadValue, *std::move(fault), {kSchemaVersionKey});
    if (needs_estimator) ReadEstimator();
    ReadPaths();
    if (needs_estimator) ReadRun();
    ReadSplit();
    if (needs_estimator) FinishDevice();
    if (needs_estimator) FinishTool();
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

  void CheckKeys(const OrderedJson& object, std::vector<std::string> path, std::span<const std::string_view> known) {
    const std::vector<std::string> names(known.begin(), known.end());
    for (const auto& [key, value] : object.items()) {
      if (std::find(names.begin(), names.end(), key) != names.end()) continue;
      path.push_back(key);
      Fail(kUnknownSetting, fmt::format("unknown key `{}`", key), path, DidYouMean(key, names));
      return;
    }
  }

  // Members of the right type; anything else is an error.
  std::optional<std::string> Text(const OrderedJson& object, const std::string& key,
                                  std::vector<std::string> path = {}) {
    const OrderedJson* value = Member(object, key);
    if (value == nullptr) return std::nullopt;
    path.push_back(key);
    if (!value->is_string()) Fail(kBadSetting, fmt::format("`{}` must be a text", key), path);
    return value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
  }
  std::optional<bool> Flag(const OrderedJson& object, const std::string& key, std::vector<std::string> path = {}) {
    const OrderedJson* value = Member(object, key);
    if (value == nullptr) return std::nullopt;
    path.push_back(key);
    if (!value->is_boolean()) Fail(kBadSetting, fmt::format("`{}` must be true or false", key), path);
    return value->is_boolean() ? std::optional(value->get<bool>()) : std::nullopt;
  }
  // A number, or a text that holds one (the prototype converts with int() and float()).
  std::optional<double> Number(const OrderedJson& object, const std::string& key, double least,
                               std::vector<std::string> path = {}) {
    const OrderedJson* value = Member(object, key);
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
  static const OrderedJson* Member(const OrderedJson& object, const std::string& key) {
    const auto found = object.find(key);
    return found == object.end() || found->is_null() ? nullptr : &*found;
  }

  // The value that wins, remembered with its origin: the environment and options over the configuration over the
  // default. Under --compat the prototype's own rules decide before this is called.
  template <class Value>
  Value Choose(const std::string& name, const std::optional<Value>& given, const std::optional<Value>& configured,
               Value otherwise) {
    const Value value = given ? *given : configured.value_or(otherwise);
    Row(name, fmt::format("{}", value), given ? GivenOrigin(name) : configured ? ConfigurationOrigin() : "default");
    return value;
  }
  std::string GivenOrigin(const std::string& name) const {
    return command_.from_environment.contains(name) ? "environment" : "option";
  }
  std::string ConfigurationOrigin() const { return "configuration " + command_.config_path; }
  void Row(std::string name, std::string value, std::string origin) {
    settings_.rows.push_back({std::move(name), std::move(value), std::move(origin)});
  }

  void ReadEstimator() {
    const OrderedJson* estimator = Member(root_, "perf_estimator");
    const auto device = Text(root_, "device");
    if (command_.device || device) LoadDevice(Choose<std::string>("device", command_.device, device, ""));
    if (estimator == nullptr || !estimator->is_object()) {
      if (command_.config_path.empty() || settings_.device.origin.size() > 0) return ReadMethod(OrderedJson::object());
      return Fail(kMissingSetting, "the configuration has no object `perf_estimator`", {});
    }
    if (!command_.compat) CheckKeys(*estimator, {"perf_estimator"}, kEstimatorKeys);
    const OrderedJson* hardware = Member(*estimator, "hardware");
    if ((hardware == nullptr && settings_.device.origin.empty()) || (hardware != nullptr && !hardware->is_object()))
      return Fail(kMissingSetting, "`perf_estimator` has no object `hardware`", {"perf_estimator"});
    ReadMethod(*estimator);
    if (Flag(*estimator, "disable_cache", {"perf_estimator"}).value_or(false) && !command_.compat)
      settings_.reuse = false;
    if (Flag(*estimator, "in_memory_only_cache", {"perf_estimator"}).value_or(false) && !command_.compat)
      settings_.keep = false;
    if (hardware != nullptr) ReadHardware(*hardware);
  }

  void LoadDevice(const std::string& name) {
    const auto edition = command_.compat ? hardware::PresetEdition::kPrototype : hardware::PresetEdition::kCurrent;
    Diagnostics diagnostics;
    auto device = hardware::LoadDevice(name, diagnostics, edition);
    if (!device) {
      if (!failure_) failure_ = diagnostics.all().front();
      return;
    }
    settings_.device = *std::move(device);
    settings_.rates = RatesOf(settings_.device);
  }

  void ReadMethod(const OrderedJson& estimator) {
    const auto configured = Text(estimator, "method", {"perf_estimator"});
    if (!configured && !estimator.empty() && !command_.estimator && settings_.device.origin.empty())
      return Fail(kMissingSetting, "`perf_estimator` has no `method`", {"perf_estimator"});
    settings_.method = Lower(Choose<std::string>("method", command_.estimator, configured, "roofline"));
    std::vector<std::string> names;
    for (const estimate::EstimatorEntry& entry : estimate::Estimators()) names.emplace_back(entry.name);
    if (command_.compat) names = {"roofline"};
    if (std::find(names.begin(), names.end(), settings_.method) != names.end()) {
      // What measures describes no device; its fallback needs one.
      if (estimate::Measures(settings_.method) && settings_.device.origin.empty()) LoadDevice(DeviceOptions().name);
      return;
    }
    Fail(kMethodUnavailable, fmt::format("estimator `{}` is not available here", settings_.method),
         configured ? std::vector<std::string>{"perf_estimator", "method"} : std::vector<std::string>{},
         DidYouMean(settings_.method, names, fmt::format("there are {}", fmt::join(names, ", "))));
  }

  // The figures of methods that build on the roofline are in an object of their own.
  void ReadHardware(const OrderedJson& hardware) {
    std::vector<std::string> path = {"perf_estimator", "hardware"};
    const OrderedJson* nested = Member(hardware, "roofline");
    ReadTool(hardware, path);
    if (nested != nullptr && nested->is_object()) {
      std::vector<std::string_view> known = {"roofline", "type", "cache_dir", "disable_cache", "in_memory_only_cache",
                                             "num_npus"};
      for (const ToolKey& key : ToolKeysOf(settings_.method)) known.push_back(key.key);
      CheckKeys(hardware, path, known);
      path.push_back("roofline");
      CheckKeys(*nested, path, kRooflineKeys);
      ReadRates(*nested, path);
    } else {
      std::vector<std::string_view> known(std::begin(kRooflineKeys), std::end(kRooflineKeys));
      if (estimate::Measures(settings_.method)) {
        for (const ToolKey& key : ToolKeysOf(settings_.method)) known.push_back(key.key);
      }
      CheckKeys(hardware, path, known);
      ReadRates(hardware, path);
    }
    path = {"perf_estimator", "hardware"};
    if (Flag(hardware, "disable_cache", path).value_or(false)) settings_.reuse = false;
    if (Flag(hardware, "in_memory_only_cache", path).value_or(false)) settings_.keep = false;
    if (const auto npus = Number(hardware, "num_npus", 1, path))
      settings_.num_npus = static_cast<uint32_t>(std::min(*npus, 2e6));
  }

  void ReadTool(const OrderedJson& hardware, std::vector<std::string> path) {
    for (const ToolKey& key : ToolKeysOf(settings_.method)) {
      const std::string name(key.key);
      const OrderedJson* value = Member(hardware, name);
      if (value == nullptr || key.option.empty()) continue;
      path.push_back(name);
      const auto settings = SettingsOf(key, nlohmann::json(*value));
      bool good = settings.has_value();
      std::string text;
      for (const auto& [option, setting] : settings.value_or(ToolSettings())) {
        good = SetTool(option, setting, settings_.estimator) && good;
        text += (text.empty() ? "" : " ") + setting;
      }
      if (!good)
        Fail(kBadSetting,
             settings ? fmt::format("`{}` cannot be `{}`", name, text)
                      : fmt::format("`{}` has a value of another type", name),
             path);
      path.pop_back();
      Row(name, text, ConfigurationOrigin());
    }
  }

  // Options over the configuration.
  void FinishTool() {
    for (const auto& [name, value] : command_.tool) {
      for (const ToolKey& key : ToolKeysOf(settings_.method)) {
        if (key.key != name) continue;
        std::string text = value;
        if (key.scale != 0) text = fmt::format("{}", std::strtod(value.c_str(), nullptr) * key.scale);
        if (!SetTool(key.option, text, settings_.estimator))
          Fail(kBadSetting, fmt::format("`{}` cannot be `{}`", name, value), {});
        Row(name, text, "option");
      }
    }
  }

  void ReadRates(const OrderedJson& hardware, const std::vector<std::string>& path) {
    const bool described = !settings_.device.origin.empty();
    for (const std::string key : {"peak_flops", "memory_bandwidth"}) {
      if (!described && Member(hardware, key) == nullptr) {
        Fail(kMissingSetting, fmt::format("`hardware` lacks `{}`, which the roofline estimator needs", key), path);
      }
    }
    Rates& rates = settings_.rates;
    Figure("peak_flops", Number(hardware, "peak_flops", 1, path), true, rates.peak_flops);
    Figure("memory_bandwidth", Number(hardware, "memory_bandwidth", 1, path), true, rates.memory_bandwidth);
    Figure("tdp", Number(hardware, "tdp_W", 0, path), false, rates.tdp_w);
    Figure("hbm_power_ratio", Number(hardware, "hbm_power_ratio", 0, path), false, rates.hbm_power_ratio);
    if (const OrderedJson* table = Member(hardware, "per_datatype_flops")) ReadTable(*table, path);
    const bool table = !rates.per_datatype_flops.empty();
    settings_.warn_on_unknown_type = Flag(hardware, "warn_on_unknown_type", path).value_or(table) && table;
    settings_.error_on_unknown_type = Flag(hardware, "error_on_unknown_type", path).value_or(false);
    if (settings_.error_on_unknown_type && !table) {
      std::vector<std::string> at = path;
      at.push_back("error_on_unknown_type");
      Fail(kBadSetting, "`error_on_unknown_type` needs `per_datatype_flops`", at);
    }
  }

  // The prototype converts some figures with int().
  void Figure(const std::string& name, std::optional<double> value, bool whole, double& to) {
    if (!value) return;
    to = whole ? std::trunc(*value) : *value;
    figures_.push_back({name, to, ConfigurationOrigin()});
  }

  void ReadTable(const OrderedJson& table, std::vector<std::string> path) {
    path.push_back("per_datatype_flops");
    if (!table.is_object()) {
      Fail(kBadSetting, "`per_datatype_flops` must be an object of rates by datatype", path);
      return;
    }
    for (const auto& [datatype, value] : table.items()) {
      // The prototype accepts 0, and divides by it where an op has that type.
      const auto rate = Number(table, datatype, command_.compat ? 0 : 1, path);
      if (!rate) continue;
      SetRate(settings_.rates, datatype, *rate);
      figures_.push_back({"per_datatype_flops." + datatype, *rate, ConfigurationOrigin()});
    }
  }

  // The figures of the configuration and then those of the environment and the options, onto the device.
  void FinishDevice() {
    figures_.insert(figures_.end(), command_.figures.begin(), command_.figures.end());
    Rates& rates = settings_.rates;
    for (const hardware::DeviceFigure& figure : command_.figures) {
      if (figure.name == "peak_flops") rates.peak_flops = figure.value;
      if (figure.name == "memory_bandwidth") rates.memory_bandwidth = figure.value;
      if (figure.name == "tdp") rates.tdp_w = figure.value;
      if (figure.name == "hbm_power_ratio") rates.hbm_power_ratio = figure.value;
      if (figure.name.starts_with(kTable)) SetRate(rates, figure.name.substr(kTable.size()), figure.value);
    }
    hardware::Device& device = settings_.device;
    if (device.name.empty()) device.name = "configuration";
    hardware::ApplyFigures(figures_, device);
    if (device.peak_flops.value < 1 || device.memory_bandwidth.value < 1)
      Fail(kMissingSetting, "no peak rate or no memory bandwidth", {},
           "give a configuration, a device, or --peak-flops and --memory-bandwidth");
    AddFigureRows();
  }

  void AddFigureRows() {
    const hardware::Device& device = settings_.device;
    const auto add = [&](const std::string& name, double value) {
      const bool given = std::ranges::any_of(figures_, [&](const auto& figure) { return figure.name == name; });
      Row(name, fmt::format("{:g}", value),
          given ? std::string(device.SourceOf(name)) : "device file " + device.origin);
    };
    add("peak_flops", device.peak_flops.value);
    for (const auto& [datatype, rate] : device.per_datatype_flops) add(std::string(kTable) + datatype, rate.value);
    add("memory_bandwidth", device.memory_bandwidth.value);
    if (device.tdp_w) add("tdp", *device.tdp_w);
    if (device.hbm_power_ratio) add("hbm_power_ratio", *device.hbm_power_ratio);
  }

  void ReadPaths() {
    settings_.output_dir = Choose<std::string>("output", command_.output, Text(root_, "output_dir"), "");
    settings_.mlir_file = Choose<std::string>("mlir_file", command_.mlir_file, Text(root_, "mlir_file"), "");
    settings_.cache_dir =
        Choose<std::string>("cache_dir", {}, Text(root_, "cache_dir"), settings_.output_dir + "/cache");
    if (command_.print_config) return;
    if (settings_.output_dir.empty()) Fail(kMissingSetting, "no output folder: give `output_dir` or --output", {});
    if (settings_.mlir_file.empty()) Fail(kMissingSetting, "no program: give `mlir_file` or --mlir_file", {});
  }

  // In the prototype the configuration wins over the options for `clean` and `num_threads`.
  void ReadRun() {
    const auto clean = Flag(root_, "clean");
    settings_.clean = command_.compat ? Choose<bool>("clean", clean ? std::nullopt : command_.clean, clean, false)
                                      : Choose<bool>("clean", command_.clean, clean, false);
    const auto threads = Number(root_, "num_threads", -1);
    Choose<int64_t>("threads", command_.threads, threads ? std::optional(static_cast<int64_t>(*threads)) : std::nullopt,
                    -1);
    if (Flag(root_, "disable_cache").value_or(false)) settings_.reuse = false;
    const std::optional<int64_t> configured = settings_.num_npus;
    const int64_t npus = Choose<int64_t>("num_npus", command_.num_npus, configured, 0);
    if (!command_.num_npus) return;
    if (npus < 1 || npus > (1 << 20))
      return Fail(kBadSetting, fmt::format("--num_npus {} is not between 1 and 1048576", npus), {});
    settings_.num_npus = static_cast<uint32_t>(npus);
  }

  void ReadSplit() {
    auto configured = Text(root_, "split_strategy");
    if (configured) *configured = Lower(*configured);
    settings_.split_name = Choose<std::string>("split_fn", command_.split, configured, "linear_split");
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
    const bool merge = Choose<bool>("merge", command_.merge, Flag(root_, "merge"), false);
    split.merge = !linear && merge;
    if (linear) ReadLinear(split);
  }

  // The prototype looks for separators that were given under misspelt keys, and never finds them (spec
  // python-prototype, P21).
  std::optional<std::string> Given(const std::optional<std::string>& separator) const {
    return command_.compat ? std::nullopt : separator;
  }

  void ReadLinear(split::Options& split) {
    const auto configured = Number(root_, "block_lim", 1);
    const auto limit = Choose<int64_t>(
        "block_lim", command_.block_limit,
        configured ? std::optional(static_cast<int64_t>(std::min(*configured, 1e15))) : std::nullopt, 1024);
    if (limit < 1) Fail(kBadSetting, fmt::format("--block_lim {} is not positive", limit), {});
    split.block_limit = static_cast<size_t>(std::max<int64_t>(limit, 1));
    const std::string name =
        Choose<std::string>("separator", Given(command_.separator), Text(root_, "separator"), "is_communication_op");
    const auto separator = split::SeparatorByName(name);
    if (!separator) Fail(kBadSetting, fmt::format("unknown separator `{}`", name), {"separator"});
    split.separator = separator.value_or(split.separator);
    const std::string policy = Choose<std::string>("separator_policy", Given(command_.separator_policy),
                                                   Text(root_, "separator_policy"), "ISOLATED");
    const auto known = split::PolicyByName(policy);
    if (!known)
      Fail(kBadSetting, fmt::format("unknown separator policy `{}`", policy), {"separator_policy"},
           "ISOLATED, END_BLOCK or START_BLOCK");
    split.policy = known.value_or(split.policy);
    const std::string kind = Choose<std::string>("separator_node_type", Given(command_.separator_node_type),
                                                 Text(root_, "separator_node_type"), "COMM_COLL_NODE");
    if (kind == "COMP_NODE") {
      split.separator_kind = graph::BlockKind::kCompute;
    } else if (kind != "COMM_COLL_NODE") {
      Fail(kBadSetting, fmt::format("unknown node type `{}`", kind), {"separator_node_type"},
           "COMM_COLL_NODE or COMP_NODE");
    }
  }

  const CommandLine& command_;
  std::string text_;
  OrderedJson root_;
  Settings settings_;
  hardware::DeviceFigures figures_;  // of the configuration
  std::optional<Error> failure_;
};

}  // namespace

Result<Settings> ReadSettings(const CommandLine& command, bool needs_estimator) {
  if (command.config_path.empty()) return Reader(command, "{}", OrderedJson::object()).Read(needs_estimator);
  auto text = ReadInput(command.config_path);
  if (!text) return text.error();
  // Once for messages with line and column, once more for the order of the keys.
  const auto checked = ParseJson(*text, command.config_path);
  if (!checked) return checked.error();
  OrderedJson root = ReadOrderedJson(*text);
  return Reader(command, *std::move(text), std::move(root)).Read(needs_estimator);
}

std::string SettingsText(const Settings& settings) {
  report::Table table{.columns = {{"setting"}, {"value"}, {"from"}}, .rows = {}};
  for (const SettingRow& row : settings.rows)
    table.rows.push_back({row.name, row.value.empty() ? "-" : row.value, row.origin});
  return report::ToText(table);
}

}  // namespace hespas::driver::compat
