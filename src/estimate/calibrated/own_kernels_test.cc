#include "estimate/calibrated/own_kernels.h"

#include <gtest/gtest.h>

#include "base/block_floats.h"
#include "hardware/presets.h"

namespace hespas::estimate::calibrated {
namespace {

hardware::Device Device(const char* name) {
  Diagnostics diagnostics;
  return *hardware::LoadDevice(name, diagnostics);
}

LeafFacts FactsOf(std::string_view format) {
  LeafFacts facts;
  facts.scaled_dot = {.flops = 1, .m = 64, .n = 4096, .k = 4096, .format = format, .weight_bytes = kNvFp4Bytes};
  return facts;
}

TEST(OwnKernels, DotsWithScalesAreOfTheFieldModelWhereADeviceOfCudaKnowsFourBits) {
  for (const char* format : {"nvfp4", "mxfp8"}) {
    EXPECT_TRUE(PricedByField(Device("B200_180GB"), FactsOf(format))) << format;
    EXPECT_FALSE(PricedByField(Device("H100_80GB"), FactsOf(format))) << format;
    EXPECT_FALSE(PricedByField(Device("MI355X_288GB"), FactsOf(format))) << format;
  }
  EXPECT_FALSE(PricedByField(Device("B200_180GB"), FactsOf("")));
  EXPECT_FALSE(FieldUs(Device("B200_180GB"), LeafFacts()));
}

TEST(OwnKernels, ABatchOfDotsTakesLonger) {
  LeafFacts batch = FactsOf("nvfp4");
  batch.scaled_dot->batch = 64;
  EXPECT_GT(*FieldUs(Device("B200_180GB"), batch), 2 * *FieldUs(Device("B200_180GB"), FactsOf("nvfp4")));
}

}  // namespace
}  // namespace hespas::estimate::calibrated
