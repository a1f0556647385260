#include "hardware/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace hespas::hardware {
namespace {

using ::testing::HasSubstr;

std::optional<Device> Read(std::string_view text, Diagnostics& diagnostics) {
  return ReadDevice(text, "x.json", diagnostics);
}

TEST(ReadDevice, TakesNumbersAndTextsWithUnits) {
  Diagnostics diagnostics;
  const auto device = Read(R"({"peak_flops": 19.5e12, "per_datatype_flops": {"bf16": "989.4 TFLOP/s"},
    "memory_bandwidth": "3.35 TB/s", "memory_capacity": "80 GB", "l2_capacity": "50 MiB", "clock": "1.98 GHz",
    "interconnect": {"bandwidth": "3600 Gbit/s", "links": 18, "latency": "700 ns"}})",
                           diagnostics);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->name, "x");
  EXPECT_EQ(device->RateFor("bf16").value, 989.4e12);
  EXPECT_EQ(device->RateFor("f8E5M2").value, 19.5e12);
  EXPECT_EQ(device->memory_bandwidth.value, 3.35e12);
  EXPECT_EQ(device->memory_capacity->value, 80'000'000'000);
  EXPECT_EQ(device->l2_capacity->value, 50 << 20);
  EXPECT_EQ(*device->clock_hz, 1.98e9);
  EXPECT_EQ(device->interconnect->bandwidth.value, 450e9);
  EXPECT_EQ(device->interconnect->latency->value, 700'000);
  EXPECT_FALSE(device->tdp_w);
}

TEST(ReadDevice, ReadsThePrototypesNodes) {
  Diagnostics diagnostics;
  const auto device = Read(R"({"perf_estimator": {"method": "cocossim", "hardware": {"chips": 1,
    "roofline": {"peak_flops": 63.3e12, "memory_bandwidth": 429.2e9}}}})",
                           diagnostics);
  ASSERT_TRUE(device);
  EXPECT_EQ(device->peak_flops.value, 63.3e12);
}

TEST(ReadDevice, ReportsEveryDefectWithItsPlace) {
  Diagnostics diagnostics;
  EXPECT_FALSE(
      Read("{\n  \"peak_flop\": 1e12,\n  \"memory_bandwidth\": \"3 XB/s\",\n  \"sm_count\": 0\n}", diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 4u);
  EXPECT_EQ(diagnostics.all()[0].kind->code, "E0804");
  const Diagnostic& unit = diagnostics.all()[1];
  EXPECT_EQ(unit.kind->code, "E0005");
  EXPECT_EQ(unit.location.line, 3u);
  EXPECT_EQ(unit.location.column, 3u);
  EXPECT_EQ(diagnostics.all()[2].kind->code, "E0803");
  const Diagnostic& key = diagnostics.all()[3];
  EXPECT_EQ(key.kind->code, "E0802");
  EXPECT_EQ(key.location.line, 2u);
  EXPECT_THAT(key.help, HasSubstr("peak_flops"));
}

TEST(ReadDevice, ZeroRateIsRefused) {
  Diagnostics diagnostics;
  EXPECT_FALSE(Read(R"({"peak_flops": 1e12, "memory_bandwidth": 1e9, "per_datatype_flops": {"f32": 0}})", diagnostics));
  EXPECT_EQ(diagnostics.all().at(0).kind->code, "E0803");
}

TEST(ReadDevice, MalformedJsonNamesLineAndColumn) {
  Diagnostics diagnostics;
  EXPECT_FALSE(Read("{\"peak_flops\": 1\n \"memory_bandwidth\": 2}", diagnostics));
  EXPECT_EQ(diagnostics.all().at(0).kind->code, "E0801");
  EXPECT_EQ(diagnostics.all().at(0).location.line, 2u);
}

TEST(ReadDevice, OtherValuesThanObjectsAreRefused) {
  for (const char* text : {"[]", "3", "null", "", "{\"perf_estimator\": 3}", "{\"perf_estimator\": {}}"}) {
    Diagnostics diagnostics;
    EXPECT_FALSE(Read(text, diagnostics)) << text;
    EXPECT_TRUE(diagnostics.has_errors()) << text;
  }
}

}  // namespace
}  // namespace hespas::hardware
