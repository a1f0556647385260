// The rule of node power against published logs, and of clocks under a power cap.
#include "goodput/power/node_power.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "hardware/presets.h"

namespace hespas::goodput {
namespace {

Settings Defaults() {
  hardware::SetDataFolder(std::string(HESPAS_SOURCE_DIR) + "/data");
  auto settings = Settings::Default();
  EXPECT_TRUE(settings.ok());
  return *std::move(settings);
}

// The peak of a run is a node whose devices are at their TDP, where a single node ran compute-bound work.
TEST(NodePower, MeetsPublishedPeaks) {
  const Settings settings = Defaults();
  const std::string file = std::string(HESPAS_SOURCE_DIR) + "/data/measured/node_power.csv";
  const auto csv = ParseCsv(*ReadRaw(file), file);
  ASSERT_TRUE(csv.ok());
  const auto cell = [&](const auto& row, const char* column) { return row[*csv->Column(column)]; };
  int rows = 0;
  for (const auto& row : csv->rows) {
    if (cell(row, "benchmark") != "llama2_70b_lora" && cell(row, "benchmark") != "unet3d") continue;
    if (cell(row, "nodes") == "9") continue;  // 72 devices share a batch of 56
    const double direct = cell(row, "side") == "DC" ? settings[Setting::kSupplyEfficiency] : 1;
    const double published = *CsvNumber(cell(row, "node_power_peak_w"));
    EXPECT_NEAR(NodePower(settings, 700) * direct / published, 1, 0.1) << cell(row, "system") << cell(row, "benchmark");
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

TEST(NodePower, EachPartAddsUp) {
  Settings settings = Defaults();
  const double before = NodePower(settings, 500);
  EXPECT_NEAR(NodePower(settings, 600) - before, 8 * 100 / 0.9 / 0.96, 1e-6);
  ASSERT_TRUE(settings.Set("nic-power", "35 W").ok());
  EXPECT_NEAR(NodePower(settings, 500) - before, 8 * 10 / 0.9 / 0.96, 1e-6);
}

constexpr DeviceLoad kLoad{.watts = 600, .idle_w = 70, .tdp_w = 700, .arithmetic = 0.8};

TEST(PowerCap, FollowsTheCubeOfTheClock) {
  const auto capped = UnderCap(kLoad, 400, 0.6);
  ASSERT_TRUE(capped.ok());
  EXPECT_NEAR(capped->watts, 400, 1e-6);
  EXPECT_NEAR(capped->clock, std::cbrt(330.0 / 530), 1e-9);
  EXPECT_NEAR(capped->time, 1 + 0.8 * (1 / capped->clock - 1), 1e-12);
}

TEST(PowerCap, BelowTheVoltageFloorPowerIsLinear) {
  const auto capped = UnderCap(kLoad, 120, 0.6);
  ASSERT_TRUE(capped.ok());
  EXPECT_NEAR(capped->clock, 50.0 / 530 / 0.36, 1e-9);
}

TEST(PowerCap, ChangesNothingAboveWhatIsDrawn) {
  EXPECT_EQ(UnderCap(kLoad, 650, 0.6)->time, 1);
  for (const double cap : {0.0, 70.0, 701.0, std::nan("")}) {
    const auto capped = UnderCap(kLoad, cap, 0.6);
    ASSERT_FALSE(capped.ok()) << cap;
    EXPECT_EQ(capped.error().kind->code, kBadPowerCap.code);
  }
  EXPECT_FALSE(UnderCap({.watts = 1}, 100, 0.6).ok());
  EXPECT_FALSE(UnderCap(kLoad, 71, 0.6).ok());  // not even a tenth of the clock
}

}  // namespace
}  // namespace hespas::goodput
