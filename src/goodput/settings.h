// What a run is like beside its step: one table of settings, each an option of the command and an argument in Python.
//
// - data/models/goodput.json holds the defaults with their sources, and the published failure rates.
// - A value outside its range is an error that names the setting.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text/unit_text.h"

namespace hespas::goodput {

inline constexpr DiagnosticKind kBadSetting{
    "E0873",
    "A setting of `hespas goodput` is not a number of its unit, or out of range. Times take s, min, h and d; rates, "
    "bandwidths and prices are above 0; fractions lie between 0 and 1.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kBadDefaults{
    "E0874", "data/models/goodput.json lacks a default of `hespas goodput`, or has one that is out of range."};

enum class Setting : uint8_t {
  kWeibullShape,
  kFailureSigma,
  kDeepFailures,
  kDetectionTime,
  kRestartTime,
  kCompileTime,
  kStartTime,
  kReplaceTime,
  kRepairTime,
  kRejoinTime,
  kStorageBandwidth,
  kCopyBandwidth,
  kReplicaBandwidth,
  kCheckpointOverhead,
  kPersistInterval,
  kStragglerSpread,
  kSlowRate,
  kSlowFactor,
  kSlowTime,
  kDataStall,
  kEvaluationInterval,
  kEvaluationTime,
  kDevicesPerNode,
  kPue,
  kGrid,
  kElectricityPrice,
  kPowerCap,
  kCpuPower,
  kCpuLoad,
  kMemoryPower,
  kNicPower,
  kSwitchPower,
  kOtherPower,
  kFanFraction,
  kSupplyEfficiency,
  kVoltageFloor,
  kIdleFraction,
  kCount,
};

struct SettingInfo {
  Setting setting;
  std::string_view name;  // "detection-time"
  Unit unit;
  double least;
  double most;
  bool above;  // `least` itself is refused
  std::string_view help;
};
extern const std::array<SettingInfo, static_cast<size_t>(Setting::kCount)> kSettings;
const SettingInfo& InfoOf(Setting setting);

struct Component {
  std::string name;
  double rate = 0;  // of a device, an hour
  bool hardware = true;
};

struct Study {
  std::string name;
  std::string source;
  std::vector<Component> components;
  double rate() const;
};

struct SettingValue {
  double value = 0;
  std::string kind;  // "published", "assumption", "unknown"; "given" by the user; "device" by the device file
  std::string source;
};

class Settings {
 public:
  // The shipped defaults.
  static Result<Settings> Default();
  static Result<Settings> Read(std::string_view text, const std::string& file);

  double operator[](Setting setting) const { return values_[static_cast<size_t>(setting)].value; }
  const SettingValue& At(Setting setting) const { return values_[static_cast<size_t>(setting)]; }
  bool Given(Setting setting) const { return At(setting).kind == "given"; }
  // By its name, with its unit.
  Status Set(std::string_view name, std::string_view text);
  void Replace(Setting setting, double value, std::string source);

  Result<Study> StudyCalled(const std::string& name) const;

 private:
  std::array<SettingValue, static_cast<size_t>(Setting::kCount)> values_;
  std::vector<Study> studies_;
};

// A quantity of the command line or of Python: finite, in range.
Result<double> ParseSetting(std::string_view name, std::string_view text, Unit unit, double least, bool above);

}  // namespace hespas::goodput
