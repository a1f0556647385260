// The rule of node power against published logs, and of clocks under a power cap.
#include "goodput/power/node_power.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/system/file.h"
#include "base/text/csv_text.h"
#include "goodput/step.h"
#include "hardware/presets.h"

namespace hespas::goodput {
namespace {

Settings Defaults() {
  hardware::SetDataFolder(std::string(HESPAS_SOURCE_DIR) + "/data");
  auto settings = Settings::Default();
  EXPECT_TRUE(settings.ok());
  return *std::move(settings);
}

struct Peak {
  std::string benchmark;
  int nodes;
  double watts;
  double at_supplies;  // of the side that was measured: 1 before the supplies
};

std::vector<Peak> PublishedPeaks(const Settings& settings) {
  const std::string file = std::string(HESPAS_SOURCE_DIR) + "/data/measured/node_power.csv";
  const auto csv = ParseCsv(*ReadRaw(file), file);
  std::vector<Peak> out;
  for (const auto& row : csv->rows) {
    const auto cell = [&](const char* column) { return std::string(row[*csv->Column(column)]); };
    out.push_back({.benchmark = cell("benchmark"),
                   .nodes = static_cast<int>(*CsvNumber(cell("nodes"))),
                   .watts = *CsvNumber(cell("node_power_peak_w")),
                   .at_supplies = cell("side") == "DC" ? settings[Setting::kSupplyEfficiency] : 1});
  }
  return out;
}

// The peak of a run is a node whose devices are at their TDP, where a single node ran compute-bound work.
TEST(NodePower, MeetsPublishedPeaks) {
  const Settings settings = Defaults();
  int rows = 0;
  for (const Peak& peak : PublishedPeaks(settings)) {
    if (peak.benchmark != "llama2_70b_lora" && peak.benchmark != "unet3d") continue;
    if (peak.nodes == 9) continue;  // 72 devices share a batch of 56
    EXPECT_NEAR(NodePower(settings, 700) * peak.at_supplies / peak.watts, 1, 0.1) << peak.benchmark;
    ++rows;
  }
  EXPECT_EQ(rows, 5);
}

// A program that no unit of the device limits alone stays below the TDP; its own power tells the peak.
TEST(NodePower, MeetsThePeakOfBertByItsProgram) {
  const Settings settings = Defaults();
  driver::RunOptions options{.program = {.path = HESPAS_SOURCE_DIR "/data/workloads/bert-large-8dev.mlir.zst"},
                             .device = {.name = "H100_80GB"}};
  options.estimate.flash_attention = true;  // the runs used fused attention
  Diagnostics diagnostics;
  const auto step = StepOf(options, diagnostics);
  ASSERT_TRUE(step);
  EXPECT_LT(step->load.watts, 690);
  int rows = 0;
  for (const Peak& peak : PublishedPeaks(settings)) {
    if (peak.benchmark != "bert") continue;
    EXPECT_NEAR(NodePower(settings, step->load.watts) * peak.at_supplies / peak.watts, 1, 0.1);
    ++rows;
  }
  EXPECT_EQ(rows, 2);
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
