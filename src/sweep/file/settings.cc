#include "sweep/file/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "base/system/file.h"
#include "base/text/json.h"
#include "base/text/suggest.h"
#include "driver/configuration/changes.h"
#include "hardware/presets.h"
#include "sweep/file/system_fields.h"

namespace hespas::sweep {
namespace {

using driver::RunOptions;

Error Bad(const std::string& name, const Json& value, const std::string& expected) {
  return MakeError(kBadSetting, fmt::format("`{}` cannot be {}", name, JsonText(value)), {}, expected);
}

// Who gives the value, which words it may be, and where it goes. Of numbers `least` is the smallest.
struct Row {
  std::string_view name;
  std::string& (*text)(RunOptions&) = nullptr;
  void (*word)(RunOptions&, const std::string&) = nullptr;
  bool& (*flag)(RunOptions&) = nullptr;
  std::vector<std::string>& (*list)(RunOptions&) = nullptr;
  void (*number)(RunOptions&, double) = nullptr;
  std::vector<std::string> words = {};
  double least = 1;
  bool whole = true;
};

// Sets the option to the value that one of its words stands for; Apply takes no other text.
template <auto member>
void SetWord(RunOptions& options, const std::string& text) {
  auto& value = member(options);
  value = *driver::ValueOf<std::remove_reference_t<decltype(value)>>(text);
}

// All words of an option but those that sweeps do not take.
template <class Value>
std::vector<std::string> WordsWithout(std::initializer_list<std::string_view> left_out = {}) {
  std::vector<std::string> words = driver::TextsOf<Value>();
  for (const std::string_view word : left_out) std::erase(words, word);
  return words;
}

std::vector<Row> TextRows() {
  return {
      {.name = "program", .text = [](RunOptions& o) -> std::string& { return o.program.path; }},
      {.name = "device", .text = [](RunOptions& o) -> std::string& { return o.device.name; }},
      {.name = "system", .text = [](RunOptions& o) -> std::string& { return o.system.name; }},
      {.name = "num_npus", .number = [](RunOptions& o, double v) { o.system.num_npus = static_cast<uint32_t>(v); }},
      {.name = "retarget",
       .number = [](RunOptions& o, double v) { o.program.assumptions.devices = static_cast<int64_t>(v); }},
      {.name = "estimator", .text = [](RunOptions& o) -> std::string& { return o.estimate.estimator; }},
      {.name = "fallback",
       .text = [](RunOptions& o) -> std::string& { return o.estimate.settings.fallback; },
       .words = {"calibrated", "roofline"}},
  };
}

std::vector<Row> WordRows() {
  using estimate::native::Dataflow;
  return {
      {.name = "dataflow",
       .word = SetWord<[](RunOptions& o) -> Dataflow& { return o.estimate.settings.dataflow; }>,
       .words = WordsWithout<Dataflow>()},
      {.name = "optimise",
       .word = SetWord<[](RunOptions& o) -> driver::OptimiseMode& { return o.optimise.mode; }>,
       .words = WordsWithout<driver::OptimiseMode>()},
      {.name = "split",
       .word = SetWord<[](RunOptions& o) -> driver::SplitStrategy& { return o.split.strategy; }>,
       .words = WordsWithout<driver::SplitStrategy>({"fusion"})},
      {.name = "merge", .flag = [](RunOptions& o) -> bool& { return o.split.merge; }},
      {.name = "block_limit", .number = [](RunOptions& o, double v) { o.split.block_limit = static_cast<size_t>(v); }},
      {.name = "separator",
       .word = SetWord<[](RunOptions& o) -> split::Separator& { return o.split.separator; }>,
       .words = WordsWithout<split::Separator>()},
      {.name = "separator_policy",
       .word = SetWord<[](RunOptions& o) -> split::SeparatorPolicy& { return o.split.policy; }>,
       .words = WordsWithout<split::SeparatorPolicy>()},
      {.name = "network_backend",
       .word = SetWord<[](RunOptions& o) -> driver::NetworkBackend& { return o.network.backend; }>,
       .words = WordsWithout<driver::NetworkBackend>({"simgrid", "sst"})},
      {.name = "network_model",
       .word = SetWord<[](RunOptions& o) -> driver::NetworkModel& { return o.network.model; }>,
       .words = WordsWithout<driver::NetworkModel>()},
      {.name = "collective_streams",
       .word = SetWord<[](RunOptions& o) -> network::CollectiveStreams& { return o.network.concurrency.streams; }>,
       .words = WordsWithout<network::CollectiveStreams>()},
      {.name = "overlap",
       .word = SetWord<[](RunOptions& o) -> driver::Overlap& { return o.network.overlap; }>,
       .words = WordsWithout<driver::Overlap>()},
  };
}

std::vector<Row> OtherRows() {
  using Texts = std::vector<std::string>;
  return {
      {.name = "flash_attention", .flag = [](RunOptions& o) -> bool& { return o.estimate.flash_attention; }},
      {.name = "schedule_limit", .flag = [](RunOptions& o) -> bool& { return o.optimise.schedule_limit; }},
      {.name = "xla_flag", .list = [](RunOptions& o) -> Texts& { return o.optimise.xla_flags; }},
      {.name = "straggler", .list = [](RunOptions& o) -> Texts& { return o.network.stragglers; }},
      {.name = "slow_link", .list = [](RunOptions& o) -> Texts& { return o.network.links.slow; }},
      {.name = "fail_link", .list = [](RunOptions& o) -> Texts& { return o.network.links.failed; }},
      {.name = "rank_devices", .list = [](RunOptions& o) -> Texts& { return o.parts.rank_devices; }},
      {.name = "collective_sms",
       .number = [](RunOptions& o, double v) { o.network.concurrency.sms = static_cast<int64_t>(v); },
       .least = 0},
      {.name = "collective_memory",
       .number = [](RunOptions& o, double v) { o.network.concurrency.memory_passes = v; },
       .least = 0,
       .whole = false},
      {.name = "trip_count",
       .number = [](RunOptions& o, double v) { o.program.assumptions.trip_count = static_cast<int64_t>(v); },
       .least = 0},
      {.name = "moe_imbalance",
       .number = [](RunOptions& o, double v) { o.program.assumptions.moe_imbalance = v; },
       .whole = false},
  };
}

// In the order in which messages list them.
const std::vector<Row>& Rows() {
  static const std::vector<Row> kRows = [] {
    std::vector<Row> all = TextRows();
    for (std::vector<Row> more : {WordRows(), OtherRows()}) std::ranges::move(more, std::back_inserter(all));
    return all;
  }();
  return kRows;
}

Status ApplyText(const Row& row, const Json& value, RunOptions& options) {
  const std::string name(row.name);
  const bool inline_file = value.is_object() && (name == "device" || name == "system");
  if (!value.is_string() && !inline_file) return Bad(name, value, "it is a text");
  const std::string text = inline_file ? JsonText(value) : value.get<std::string>();
  if (!row.words.empty() && std::find(row.words.begin(), row.words.end(), text) == row.words.end()) {
    return Bad(name, value, DidYouMean(text, row.words, fmt::format("one of {}", fmt::join(row.words, ", "))));
  }
  if (row.word != nullptr) {
    row.word(options, text);
  } else {
    row.text(options) = text;
  }
  return {};
}

Status Apply(const Row& row, const Json& value, RunOptions& options) {
  const std::string name(row.name);
  if (row.text != nullptr || row.word != nullptr) return ApplyText(row, value, options);
  if (row.flag != nullptr) {
    if (!value.is_boolean()) return Bad(name, value, "it is true or false");
    row.flag(options) = value.get<bool>();
  } else if (row.list != nullptr) {
    std::vector<std::string>& list = row.list(options);
    list.clear();
    for (const Json& item : value.is_array() ? value : Json::array({value})) {
      if (!item.is_string()) return Bad(name, value, "it is a text or a list of texts");
      if (item != "") list.push_back(item.get<std::string>());
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

std::string TextOf(const Json& value) { return value.is_string() ? value.get<std::string>() : JsonText(value); }

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
    auto file = FileOf(true, options.device.name);
    if (!file) return file.error();
    for (const auto& [path, value] : of_device) SetIn(*file, path, value);
    options.device.name = file->dump();
  }
  if (!of_system.empty()) {
    auto file = FileOf(false, options.system.name);
    if (!file) return file.error();
    for (const auto& [field, value] : of_system) {
      if (Status set = SetSystemField(field, value, *file); !set) return set.error();
    }
    if (Status fitted = FitDimensions(*file); !fitted) return fitted.error();
    options.system.name = file->dump();
  }
  return options;
}

std::string CommandOf(const RunOptions& options) {
  const RunOptions usual;
  std::string command = "hespas run";
  AddWord(command, options.program.path);
  const auto text = [&](const char* option, const std::string& value, const std::string& standard) {
    if (value == standard) return;
    command += std::string(" ") + option;
    AddWord(command, value);
  };
  const auto word = [&](const char* option, auto value, auto standard) {
    text(option, std::string(driver::TextOf(value)), std::string(driver::TextOf(standard)));
  };
  const auto number = [&](const char* option, auto value, auto standard) {
    if (value != standard) command += fmt::format(" {} {}", option, value);
  };
  text("--device", options.device.name, usual.device.name);
  text("--system", options.system.name, usual.system.name);
  number("--num-npus", options.system.num_npus, usual.system.num_npus);
  number("--retarget", options.program.assumptions.devices, usual.program.assumptions.devices);
  text("--estimator", options.estimate.estimator, usual.estimate.estimator);
  text("--fallback", options.estimate.settings.fallback, usual.estimate.settings.fallback);
  word("--dataflow", options.estimate.settings.dataflow, usual.estimate.settings.dataflow);
  word("--optimise", options.optimise.mode, usual.optimise.mode);
  for (const std::string& flag : options.optimise.xla_flags) AddWord(command, "--xla-flag=" + flag);
  if (options.optimise.schedule_limit) command += " --schedule-limit";
  word("--split", options.split.strategy, usual.split.strategy);
  if (options.split.merge) command += " --merge";
  number("--block-lim", options.split.block_limit, usual.split.block_limit);
  word("--separator", options.split.separator, usual.split.separator);
  word("--separator-policy", options.split.policy, usual.split.policy);
  word("--network-backend", options.network.backend, usual.network.backend);
  word("--network-model", options.network.model, usual.network.model);
  word("--overlap", options.network.overlap, usual.network.overlap);
  if (options.estimate.flash_attention) command += " --flash-attention";
  for (const std::string& straggler : options.network.stragglers) text("--straggler", straggler, "");
  for (const std::string& link : options.network.links.slow) text("--slow-link", link, "");
  for (const std::string& link : options.network.links.failed) text("--fail-link", link, "");
  for (const std::string& devices : options.parts.rank_devices) text("--rank-devices", devices, "");
  const network::Concurrency& taken = options.network.concurrency;
  number("--collective-sms", taken.sms, usual.network.concurrency.sms);
  number("--collective-memory", taken.memory_passes, usual.network.concurrency.memory_passes);
  word("--collective-streams", taken.streams, usual.network.concurrency.streams);
  number("--trip-count", options.program.assumptions.trip_count, usual.program.assumptions.trip_count);
  number("--moe-imbalance", options.program.assumptions.moe_imbalance, usual.program.assumptions.moe_imbalance);
  for (const std::string& change : options.changes) text("--set", change, "");
  return command;
}

}  // namespace hespas::sweep
