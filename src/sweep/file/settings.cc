#include "sweep/file/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/system/file.h"
#include "base/text/suggest.h"
#include "driver/configuration/changes.h"
#include "hardware/presets.h"
#include "sweep/file/system_fields.h"

namespace hespas::sweep {
namespace {

using driver::RunOptions;

Error Bad(const std::string& name, const Json& value, const std::string& expected) {
  return MakeError(kBadSetting, fmt::format("`{}` cannot be {}", name, value.dump()), {}, expected);
}

// Who gives the value, which words it may be, and where it goes. Of numbers `least` is the smallest.
struct Row {
  std::string_view name;
  std::string RunOptions::*text = nullptr;
  bool RunOptions::*flag = nullptr;
  std::vector<std::string> RunOptions::*list = nullptr;
  void (*number)(RunOptions&, double) = nullptr;
  std::vector<std::string> words = {};
  double least = 1;
  bool whole = true;
};

const std::vector<Row>& Rows() {
  static const std::vector<Row> kRows = {
      {.name = "program", .text = &RunOptions::program},
      {.name = "device", .text = &RunOptions::device},
      {.name = "system", .text = &RunOptions::system},
      {.name = "num_npus", .number = [](RunOptions& o, double v) { o.num_npus = static_cast<uint32_t>(v); }},
      {.name = "retarget", .number = [](RunOptions& o, double v) { o.assumptions.devices = static_cast<int64_t>(v); }},
      {.name = "estimator", .text = &RunOptions::estimator},
      {.name = "fallback", .text = &RunOptions::fallback, .words = {"calibrated", "roofline"}},
      {.name = "dataflow", .text = &RunOptions::dataflow, .words = {"ws", "os"}},
      {.name = "optimise",
       .text = &RunOptions::optimise,
       .words = {"auto", "none", "xla-gpu", "xla-tpu", "xla-cpu", "xla"}},
      {.name = "split", .text = &RunOptions::split, .words = {"auto", "linear", "individual"}},
      {.name = "merge", .flag = &RunOptions::merge},
      {.name = "block_limit", .number = [](RunOptions& o, double v) { o.block_limit = static_cast<size_t>(v); }},
      {.name = "separator",
       .text = &RunOptions::separator,
       .words = {"communication", "convolution", "dot_general", "reduce", "return"}},
      {.name = "separator_policy",
       .text = &RunOptions::separator_policy,
       .words = {"ISOLATED", "END_BLOCK", "START_BLOCK"}},
      {.name = "network_backend",
       .text = &RunOptions::network_backend,
       .words = {"analytical", "analytical-aware", "none"}},
      {.name = "network_model", .text = &RunOptions::network_model, .words = {"auto", "plain", "calibrated"}},
      {.name = "overlap", .text = &RunOptions::overlap, .words = {"program", "perfect"}},
      {.name = "flash_attention", .flag = &RunOptions::flash_attention},
      {.name = "xla_flag", .list = &RunOptions::xla_flags},
      {.name = "straggler", .list = &RunOptions::stragglers},
      {.name = "rank_devices", .list = &RunOptions::rank_devices},
      {.name = "trip_count",
       .number = [](RunOptions& o, double v) { o.assumptions.trip_count = static_cast<int64_t>(v); },
       .least = 0},
      {.name = "moe_imbalance",
       .number = [](RunOptions& o, double v) { o.assumptions.moe_imbalance = v; },
       .whole = false},
  };
  return kRows;
}

Status Apply(const Row& row, const Json& value, RunOptions& options) {
  const std::string name(row.name);
  if (row.text != nullptr) {
    const bool inline_file = value.is_object() && (name == "device" || name == "system");
    if (!value.is_string() && !inline_file) return Bad(name, value, "it is a text");
    const std::string text = inline_file ? value.dump() : value.get<std::string>();
    if (!row.words.empty() && std::find(row.words.begin(), row.words.end(), text) == row.words.end()) {
      return Bad(name, value, DidYouMean(text, row.words, fmt::format("one of {}", fmt::join(row.words, ", "))));
    }
    options.*row.text = text;
  } else if (row.flag != nullptr) {
    if (!value.is_boolean()) return Bad(name, value, "it is true or false");
    options.*row.flag = value.get<bool>();
  } else if (row.list != nullptr) {
    (options.*row.list).clear();
    for (const Json& item : value.is_array() ? value : Json::array({value})) {
      if (!item.is_string()) return Bad(name, value, "it is a text or a list of texts");
      if (item != "") (options.*row.list).push_back(item.get<std::string>());
    }
  } else {
    const double number = value.is_number() ? value.get<double>() : -1;
    const bool whole = number == static_cast<double>(static_cast<int64_t>(number));
    if (!(number >= row.least) || (row.whole && !whole) || number > 4e9)
      return Bad(name, value, fmt::format("it is a {}number of at least {}", row.whole ? "whole " : "", row.least));
    row.number(options, number);
  }
  return {};
}

constexpr std::string_view kDevice = "device.";
constexpr std::string_view kSystem = "system.";

// Figures that --set takes, with one value for the whole noun.
bool IsChange(const std::string& name, const Json& value) {
  if (value.is_structured()) return false;
  const std::vector<std::string> keys = driver::ChangeKeys();
  return name.starts_with("device.calibration.") || std::find(keys.begin(), keys.end(), name) != keys.end();
}

// Sets `path` ("interconnect.bandwidth") in a file.
void SetIn(Json& file, std::string_view path, const Json& value) {
  Json* at = &file;
  for (size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
    at = &(*at)[std::string(path.substr(0, dot))];
    if (!at->is_object()) *at = Json::object();
    path.remove_prefix(dot + 1);
  }
  (*at)[std::string(path)] = value;
}

bool NeedsQuotes(const std::string& word) {
  constexpr std::string_view kPlain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=,@%+";
  return word.empty() || word.find_first_not_of(kPlain) != std::string::npos;
}

void AddWord(std::string& command, const std::string& word) {
  command += ' ';
  if (!NeedsQuotes(word)) {
    command += word;
    return;
  }
  command += '\'';
  for (const char c : word) command += c == '\'' ? "'\\''" : std::string(1, c);
  command += '\'';
}

}  // namespace

std::vector<std::string> SettingNames() {
  std::vector<std::string> names;
  for (const Row& row : Rows()) names.emplace_back(row.name);
  return names;
}

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// A preset's or the user's own description as one object.
Result<Json> SettingsReader::FileOf(bool device, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = files_.find({device, name});
  if (found != files_.end()) return found->second;
  Result<Json> file = device ? ReadDeviceFile(name) : ReadSystemFile(name);
  if (file) files_.emplace(std::pair(device, name), *file);
  return file;
}

Result<RunOptions> SettingsReader::OptionsOf(const Settings& settings) {
  RunOptions options;
  Settings of_device;
  Settings of_system;
  for (const auto& [name, value] : settings) {
    if (IsChange(name, value)) {
      options.changes.push_back(fmt::format("{}={}", name, TextOf(value)));
    } else if (name.starts_with(kDevice)) {
      of_device.emplace_back(name.substr(kDevice.size()), value);
    } else if (name.starts_with(kSystem)) {
      of_system.emplace_back(name.substr(kSystem.size()), value);
    } else {
      const auto& rows = Rows();
      const auto row = std::find_if(rows.begin(), rows.end(), [&name = name](const Row& r) { return r.name == name; });
      if (row == rows.end()) {
        std::vector<std::string> known = SettingNames();
        for (const std::string& key : driver::ChangeKeys()) known.push_back(key);
        return MakeError(kUnknownAxis, fmt::format("there is no setting `{}`", name), {},
                         DidYouMean(name, known, "figures are device.FIELD and system.FIELD"));
      }
      if (Status applied = Apply(*row, value, options); !applied) return applied.error();
    }
  }
  if (!of_device.empty()) {
    auto file = FileOf(true, options.device);
    if (!file) return file.error();
    for (const auto& [path, value] : of_device) SetIn(*file, path, value);
    options.device = file->dump();
  }
  if (!of_system.empty()) {
    auto file = FileOf(false, options.system);
    if (!file) return file.error();
    for (const auto& [field, value] : of_system) {
      if (Status set = SetSystemField(field, value, *file); !set) return set.error();
    }
    if (Status fitted = FitDimensions(*file); !fitted) return fitted.error();
    options.system = file->dump();
  }
  return options;
}

std::string CommandOf(const RunOptions& options) {
  const RunOptions usual;
  std::string command = "hespas run";
  AddWord(command, options.program);
  const auto text = [&](const char* option, const std::string& value, const std::string& standard) {
    if (value == standard) return;
    command += std::string(" ") + option;
    AddWord(command, value);
  };
  const auto number = [&](const char* option, auto value, auto standard) {
    if (value != standard) command += fmt::format(" {} {}", option, value);
  };
  text("--device", options.device, usual.device);
  text("--system", options.system, usual.system);
  number("--num-npus", options.num_npus, usual.num_npus);
  number("--retarget", options.assumptions.devices, usual.assumptions.devices);
  text("--estimator", options.estimator, usual.estimator);
  text("--fallback", options.fallback, usual.fallback);
  text("--dataflow", options.dataflow, usual.dataflow);
  text("--optimise", options.optimise, usual.optimise);
  for (const std::string& flag : options.xla_flags) AddWord(command, "--xla-flag=" + flag);
  text("--split", options.split, usual.split);
  if (options.merge) command += " --merge";
  number("--block-lim", options.block_limit, usual.block_limit);
  text("--separator", options.separator, usual.separator);
  text("--separator-policy", options.separator_policy, usual.separator_policy);
  text("--network-backend", options.network_backend, usual.network_backend);
  text("--network-model", options.network_model, usual.network_model);
  text("--overlap", options.overlap, usual.overlap);
  if (options.flash_attention) command += " --flash-attention";
  for (const std::string& straggler : options.stragglers) text("--straggler", straggler, "");
  for (const std::string& devices : options.rank_devices) text("--rank-devices", devices, "");
  number("--trip-count", options.assumptions.trip_count, usual.assumptions.trip_count);
  number("--moe-imbalance", options.assumptions.moe_imbalance, usual.assumptions.moe_imbalance);
  for (const std::string& change : options.changes) text("--set", change, "");
  return command;
}

}  // namespace hespas::sweep
