#include "goodput/settings.h"

#include <gtest/gtest.h>

#include "goodput/estimate.h"
#include "hardware/presets.h"

namespace hespas::goodput {
namespace {

Settings Defaults() {
  hardware::SetDataFolder(std::string(HESPAS_SOURCE_DIR) + "/data");
  return *Settings::Default();
}

TEST(Settings, EveryDefaultHasItsSourceAndLiesInItsRange) {
  const Settings settings = Defaults();
  for (const SettingInfo& info : kSettings) {
    EXPECT_EQ(&InfoOf(info.setting), &info);
    const SettingValue& value = settings.At(info.setting);
    EXPECT_FALSE(value.source.empty()) << info.name;
    if (value.kind == "unknown") continue;  // left out
    EXPECT_TRUE(value.kind == "published" || value.kind == "assumption") << info.name;
    EXPECT_TRUE(info.above ? value.value > info.least : value.value >= info.least) << info.name;
    EXPECT_LE(value.value, info.most) << info.name;
  }
}

TEST(Settings, TakesUnitsAndRefusesNonsense) {
  Settings settings = Defaults();
  ASSERT_TRUE(settings.Set("repair-time", "3 d").ok());
  EXPECT_EQ(settings[Setting::kRepairTime], 3 * 86400);
  EXPECT_TRUE(settings.Given(Setting::kRepairTime));
  for (const auto& [name, text] : {std::pair{"repair-time", "0"},
                                   {"repair-time", "-1 h"},
                                   {"repair-time", "inf"},
                                   {"repair-time", "nan"},
                                   {"repair-time", "3 parsecs"},
                                   {"pue", "0.9"},
                                   {"data-stall", "-0.1"},
                                   {"weibull-shape", "0"},
                                   {"deep-failures", "1.01"},
                                   {"repare-time", "1 h"},
                                   {"grid", ""}}) {
    const Status set = settings.Set(name, text);
    ASSERT_FALSE(set.ok()) << name << text;
    EXPECT_EQ(set.error().kind->code, kBadSetting.code);
    EXPECT_FALSE(set.error().help.empty()) << name << text;
  }
}

TEST(Settings, StudiesGiveRates) {
  const Settings settings = Defaults();
  EXPECT_NEAR(1 / settings.StudyCalled("llama3")->rate(), 50'677, 1);  // hours of a device between failures
  EXPECT_NEAR(settings.StudyCalled("rsc1")->rate() * 192'000, 6.5, 1e-9);
  EXPECT_FALSE(settings.StudyCalled("lama3").ok());
  EXPECT_EQ(Settings::Read("{}", "x.json").error().kind->code, kBadDefaults.code);
}

TEST(Stragglers, TheLargestOfManyNormalDraws) {
  EXPECT_NEAR(LargestNormal(1), 0, 1e-9);
  EXPECT_NEAR(LargestNormal(2), 0.5642, 1e-3);    // 1 / sqrt(pi)
  EXPECT_NEAR(LargestNormal(100), 2.5076, 1e-3);  // Harter, Biometrika 48 (1961)
}

}  // namespace
}  // namespace hespas::goodput
