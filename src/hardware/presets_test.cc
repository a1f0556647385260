#include "hardware/presets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "hardware/capability.h"

namespace hespas::hardware {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

std::string Complaints(const Diagnostics& diagnostics) {
  std::string text;
  for (const Diagnostic& d : diagnostics.all()) text += Render(d);
  return text;
}

Device Load(const std::string& name, PresetEdition edition = PresetEdition::kCurrent) {
  Diagnostics diagnostics;
  const auto device = LoadDevice(name, diagnostics, edition);
  EXPECT_TRUE(device) << Complaints(diagnostics);
  return device.value_or(Device{});
}

// Names of Hopper's devices begin with H and GH; its architecture is one.
TEST(Presets, AGenerationIsToldByItsArchitecture) {
  std::vector<std::string> hopper;
  for (const std::string& name : PresetNames(PresetKind::kDevice)) {
    if (ComputeCapability(Load(name)) / 10 == 9) hopper.push_back(name);
  }
  EXPECT_THAT(hopper, IsSupersetOf({"H100_80GB", "H200_141GB", "H20_96GB", "GH200_96GB", "GH200_144GB"}));
  EXPECT_THAT(hopper, Not(Contains(AnyOf("A100_SXM_80GB", "B200_180GB", "MI300X", "TPUv6e"))));
}

TEST(Presets, DevicesAreFoundWithTheirMemory) {
  const auto found = FindPreset(PresetKind::kDevice, "MI325X_256GB");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->stem(), "MI325X");
  EXPECT_FALSE(FindPreset(PresetKind::kDevice, "MI325X_192GB"));
}

TEST(Presets, EveryDeviceLoadsAndNamesItsSources) {
  const std::vector<std::string> names = PresetNames(PresetKind::kDevice);
  EXPECT_THAT(names, IsSupersetOf({"A100_SXM_40GB",     "B200_180GB",  "H100_80GB",      "H200_141GB",  "TPUv3",
                                   "V100_32GB",         "P100_16GB",   "P4_8GB",         "T4_16GB",     "L4_24GB",
                                   "GB200_192GB",       "MI100_32GB",  "MI210_64GB",     "MI250_128GB", "MI300X",
                                   "MI355X_288GB",      "TPUv4",       "TPUv5e",         "TPUv5p",      "TPUv6e",
                                   "B300_288GB",        "GB300_288GB", "L40S_48GB",      "H20_96GB",    "MI325X",
                                   "RTX_PRO_6000_96GB", "TPU7x",       "Trainium2_96GB", "Gaudi3_128GB"}));
  for (const std::string& name : names) {
    const Device device = Load(name);
    EXPECT_EQ(device.name, name);
    EXPECT_GT(device.peak_flops.value, 0) << name;
    EXPECT_NE(device.SourceOf("peak_flops"), "") << name;
  }
}

TEST(Presets, PrototypeEditionKeepsItsFigures) {
  for (const std::string& name : PresetNames(PresetKind::kDevice, PresetEdition::kPrototype)) {
    Load(name, PresetEdition::kPrototype);
  }
  EXPECT_EQ(Load("B200_180GB", PresetEdition::kPrototype).RateFor("bf16").value, 4500e12);
  EXPECT_EQ(Load("B200_180GB").RateFor("bf16").value, 2250e12);
  EXPECT_EQ(Load("A100_SXM_40GB", PresetEdition::kPrototype).RateFor("f64").value, 19.5e12);
  EXPECT_EQ(Load("A100_SXM_40GB").RateFor("f64").value, 9.7e12);
  EXPECT_EQ(Load("A100_SXM_40GB").MatrixRateFor("f64").value, 19.5e12);
  EXPECT_EQ(Load("A40_48GB").RateFor("ui8").value, 299.3e12);
  EXPECT_TRUE(Load("B200_180GB").Knows("i32"));
  EXPECT_FALSE(Load("B200_180GB", PresetEdition::kPrototype).Knows("i32"));
}

TEST(Presets, NamesAreFoundWhateverTheirCase) { EXPECT_EQ(Load("h100_80gb").name, "H100_80GB"); }

TEST(Presets, TheBeginningOfANameIsEnoughWhereItIsOneDevice) {
  EXPECT_EQ(Load("h100").name, "H100_80GB");
  EXPECT_EQ(Load("MI300X").name, "MI300X");
  const auto several = FindPreset(PresetKind::kDevice, "A100");
  ASSERT_FALSE(several);
  EXPECT_THAT(several.error().help, HasSubstr("A100_PCIe_40GB, A100_PCIe_80GB, A100_SXM_40GB, A100_SXM_80GB"));
  EXPECT_FALSE(FindPreset(PresetKind::kDevice, "A1"));
  EXPECT_FALSE(FindPreset(PresetKind::kSystem, "H100_80GB"));
}

TEST(Presets, UnknownNameGetsASuggestion) {
  const auto found = FindPreset(PresetKind::kDevice, "H100_80G");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind->code, "E0806");
  EXPECT_THAT(found.error().help, HasSubstr("H100_80GB"));
}

TEST(Presets, SystemsAreListed) {
  const std::vector<std::string> names = PresetNames(PresetKind::kSystem);
  EXPECT_THAT(names, IsSupersetOf({"A100_SXM_40GB_4GPU", "TPUv3_4_2", "GB200_NVL72", "MI355X_8", "L4_24GB_4GPU"}));
}

}  // namespace
}  // namespace hespas::hardware
