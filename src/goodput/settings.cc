#include "goodput/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "base/text/suggest.h"
#include "hardware/model_file.h"

namespace hespas::goodput {
namespace {

constexpr double kLarge = 1e15;
constexpr double kYear = 365.0 * 86400;

}  // namespace

const std::array<SettingInfo, static_cast<size_t>(Setting::kCount)> kSettings{{
    {Setting::kWeibullShape, "weibull-shape", Unit::kNumber, 0.1, 10, false,
     "of the times between failures; 1: exponential"},
    {Setting::kFailureSigma, "failure-sigma", Unit::kNumber, 0, 2, false,
     "uncertainty of the failure rate (of its logarithm)"},
    {Setting::kDeepFailures, "deep-failures", Unit::kNumber, 0, 1, false,
     "fraction of failures that lose the checkpoints in memory"},
    {Setting::kDetectionTime, "detection-time", Unit::kSeconds, 0, kYear, false,
     "until a failure is noticed and understood"},
    {Setting::kRestartTime, "restart-time", Unit::kSeconds, 0, kYear, false,
     "from there until processes and communicators are up"},
    {Setting::kCompileTime, "compile-time", Unit::kSeconds, 0, kYear, false,
     "of the program, at the start and each restart"},
    {Setting::kStartTime, "start-time", Unit::kSeconds, 0, kYear, false, "of the first start"},
    {Setting::kReplaceTime, "replace-time", Unit::kSeconds, 0, kYear, false, "more, where a spare node takes over"},
    {Setting::kRepairTime, "repair-time", Unit::kSeconds, 0, kYear, true, "mean time until a failed node is back"},
    {Setting::kRejoinTime, "rejoin-time", Unit::kSeconds, 0, kYear, false,
     "pause of an elastic job when a node comes back"},
    {Setting::kStorageBandwidth, "storage-bandwidth", Unit::kBytesPerSecond, 0, kLarge, true,
     "to checkpoint storage, of each device"},
    {Setting::kCopyBandwidth, "copy-bandwidth", Unit::kBytesPerSecond, 0, kLarge, true,
     "of each device to host memory"},
    {Setting::kReplicaBandwidth, "replica-bandwidth", Unit::kBytesPerSecond, 0, kLarge, true,
     "of each device to the host that keeps a copy"},
    {Setting::kCheckpointOverhead, "checkpoint-overhead", Unit::kSeconds, 0, kYear, false,
     "pause of each checkpoint beside the transfer"},
    {Setting::kPersistInterval, "persist-interval", Unit::kSeconds, 0, kYear, true,
     "with tiers: between checkpoints that go to storage"},
    {Setting::kStragglerSpread, "straggler-spread", Unit::kNumber, 0, 1, false,
     "relative standard deviation of a node's step time"},
    {Setting::kSlowRate, "slow-rate", Unit::kNumber, 0, 1e6, false, "episodes of a slow node, for each node and year"},
    {Setting::kSlowFactor, "slow-factor", Unit::kNumber, 1, 1e3, false,
     "step time during such an episode, over the usual"},
    {Setting::kSlowTime, "slow-time", Unit::kSeconds, 0, kYear, false, "length of such an episode"},
    {Setting::kDataStall, "data-stall", Unit::kNumber, 0, 100, false,
     "waiting for data, as a fraction of the step time"},
    {Setting::kEvaluationInterval, "evaluation-interval", Unit::kSeconds, 0, kYear, false,
     "training time between evaluations; 0: none"},
    {Setting::kEvaluationTime, "evaluation-time", Unit::kSeconds, 0, kYear, false, "pause for an evaluation"},
    {Setting::kDevicesPerNode, "devices-per-node", Unit::kNumber, 1, 1e6, false, "that fail and are replaced together"},
    {Setting::kPue, "pue", Unit::kNumber, 1, 10, false, "power usage effectiveness of the data centre"},
    {Setting::kGrid, "grid", Unit::kNumber, 0, 1e4, false, "carbon intensity of the electricity, g CO2 for each kWh"},
    {Setting::kElectricityPrice, "electricity-price", Unit::kNumber, 0, 1e6, true,
     "of a kWh, where the devices are one's own"},
    {Setting::kPowerCap, "power-cap", Unit::kWatts, 0, kLarge, true,
     "of each device; its clock falls until it keeps it"},
    {Setting::kCpuPower, "cpu-power", Unit::kWatts, 0, kLarge, false, "TDP of each of a node's two processors"},
    {Setting::kCpuLoad, "cpu-load", Unit::kNumber, 0, 1, false, "fraction of it that they draw"},
    {Setting::kMemoryPower, "memory-power", Unit::kWatts, 0, kLarge, false, "of a node's host memory"},
    {Setting::kNicPower, "nic-power", Unit::kWatts, 0, kLarge, false, "of each device's network port"},
    {Setting::kSwitchPower, "switch-power", Unit::kWatts, 0, kLarge, false,
     "of each device's part of the switches inside the node"},
    {Setting::kOtherPower, "other-power", Unit::kWatts, 0, kLarge, false, "drives, boards, management of a node"},
    {Setting::kFanFraction, "fan-fraction", Unit::kNumber, 0, 0.9, false, "of a node's power behind its supplies"},
    {Setting::kSupplyEfficiency, "supply-efficiency", Unit::kNumber, 0.1, 1, false, "of a node's power supplies"},
    {Setting::kVoltageFloor, "voltage-floor", Unit::kNumber, 0, 1, false,
     "fraction of the clock below which the voltage stays"},
    {Setting::kIdleFraction, "idle-fraction", Unit::kNumber, 0, 1, false,
     "of the range from idle power to TDP while the job pauses"},
}};

const SettingInfo& InfoOf(Setting setting) { return kSettings[static_cast<size_t>(setting)]; }

double Study::rate() const {
  double sum = 0;
  for (const Component& component : components) sum += component.rate;
  return sum;
}

Result<double> ParseSetting(std::string_view name, std::string_view text, Unit unit, double least, bool above) {
  const auto value = ParseQuantity(text, unit);
  if (!value)
    return MakeError(kBadSetting, fmt::format("--{}: {}", name, value.error().message), {}, value.error().help);
  if (*value < least || (above && *value == least))
    return MakeError(kBadSetting, fmt::format("--{} is `{}`", name, text), {},
                     fmt::format("it is {} {}", above ? "above" : "at least", least));
  return *value;
}

Status Settings::Set(std::string_view name, std::string_view text) {
  const auto* const info =
      std::find_if(kSettings.begin(), kSettings.end(), [&](const SettingInfo& i) { return i.name == name; });
  if (info == kSettings.end()) {
    std::vector<std::string> names;
    names.reserve(std::size(kSettings));
    for (const SettingInfo& each : kSettings) names.emplace_back(each.name);
    return MakeError(kBadSetting, fmt::format("there is no setting `{}`", name), {}, DidYouMean(name, names));
  }
  const auto value = ParseSetting(name, text, info->unit, info->least, info->above);
  if (!value) return value.error();
  if (*value > info->most)
    return MakeError(kBadSetting, fmt::format("--{} is `{}`", name, text), {},
                     fmt::format("it is at most {}", info->most));
  Replace(info->setting, *value, "given");
  values_[static_cast<size_t>(info->setting)].kind = "given";
  return {};
}

void Settings::Replace(Setting setting, double value, std::string source) {
  values_[static_cast<size_t>(setting)] = {.value = value, .kind = "device", .source = std::move(source)};
}

Result<Study> Settings::StudyCalled(const std::string& name) const {
  std::vector<std::string> names;
  for (const Study& study : studies_) {
    if (study.name == name) return study;
    names.push_back(study.name);
  }
  return MakeError(kBadSetting, fmt::format("there is no study `{}` of failures", name), {},
                   DidYouMean(name, names, fmt::format("it is one of {}", fmt::join(names, ", "))));
}

Result<Settings> Settings::Default() {
  const auto shipped = hardware::ReadModelFile("goodput.json");
  if (!shipped) return shipped.error();
  return Read(shipped->text, shipped->path);
}

Result<Settings> Settings::Read(std::string_view text, const std::string& file) {
  const auto json = ParseJson(text, file);
  if (!json) return json.error();
  const auto bad = [&](std::string message) { return MakeError(kBadDefaults, std::move(message), {.file = file}); };
  Settings out;
  size_t found = 0;
  try {
    for (const auto& row : json->at("settings")) {
      const auto name = row.at("name").get<std::string>();
      const auto* const info =
          std::find_if(kSettings.begin(), kSettings.end(), [&](const SettingInfo& i) { return i.name == name; });
      if (info == kSettings.end()) return bad(fmt::format("there is no setting `{}`", name));
      const auto& value = row.at("value");
      const auto number =
          value.is_string() ? ParseQuantity(value.get<std::string>(), info->unit) : Result<double>(value.get<double>());
      if (!number) return number.error();
      out.values_[static_cast<size_t>(info->setting)] = {*number, row.at("kind").get<std::string>(),
                                                         row.at("source").get<std::string>()};
      ++found;
    }
    for (const auto& row : json->at("studies")) {
      Study study{
          .name = row.at("name").get<std::string>(), .source = row.at("source").get<std::string>(), .components = {}};
      const auto hours = row.at("device_hours").get<double>();
      for (const auto& component : row.at("components"))
        study.components.push_back({component.at("name").get<std::string>(),
                                    component.at("count").get<double>() / hours, component.at("hardware").get<bool>()});
      if (!(study.rate() > 0) || !std::isfinite(study.rate()))
        return bad(fmt::format("study `{}` has no failure rate", study.name));
      out.studies_.push_back(std::move(study));
    }
  } catch (const nlohmann::json::exception& error) {
    return bad(error.what());
  }
  if (found != kSettings.size()) return bad(fmt::format("{} of {} settings", found, kSettings.size()));
  return out;
}

}  // namespace hespas::goodput
