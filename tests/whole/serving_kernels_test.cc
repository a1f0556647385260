// Prices of a serving step's kernels, against the field model's own.
#include <gtest/gtest.h>

#include <algorithm>

#include "driver/serving/attention_time.h"
#include "driver/serving/kernel_prices.h"
#include "estimate/field/experts/experts.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

namespace field = estimate::field;

hardware::Device Preset(const char* name) {
  Diagnostics diagnostics;
  auto device = hardware::LoadDevice(name, diagnostics);
  EXPECT_TRUE(device) << name;
  return *device;
}

const field::Constants& Shipped() {
  EXPECT_TRUE(field::DefaultConstants());
  return *field::DefaultConstants();
}

serve::AttentionCall Decode(double before, double window) {
  const double seen = window > 0 ? std::min(before, window) : before;
  return {.requests = 4,
          .rows = 4,
          .context = 4 * seen,
          .pairs = 4 * seen,
          .before = before,
          .window = window,
          .heads = 8,
          .kv_heads = 1,
          .head_size = 128,
          .value_size = 128,
          .cache_width = 256};
}

// A sequence is split by all of its keys, of which it reads those in the window.
TEST(ServingKernels, DecodesSplitTheKeysBeforeTheWindowToo) {
  const field::Chip chip = field::MakeChip(Preset("H100_80GB"));
  const auto us = [&](double before, double window) {
    return AttentionTime(Decode(before, window), true, chip, Shipped()).us;
  };
  const double merge = Shipped().generation.wide_merge_clocks / chip.clock;
  EXPECT_NEAR(us(4096, 128) - us(128, 128), merge, 1e-9);
  EXPECT_DOUBLE_EQ(us(128, 128), us(128, 0));
  EXPECT_LT(us(4096, 128), us(4096, 0));
}

serve::StepCost Rows(const char* format, const hardware::Device& device) {
  const serve::WeightFormat weights = *serve::WeightFormatOf(format);
  Diagnostics diagnostics;
  const auto model = serve::LoadModel("qwen3-235b-a22b", HESPAS_SOURCE_DIR "/data/serving/models.json", diagnostics);
  const KernelPrices prices(device, *estimate::calibrated::DefaultParameters(), Shipped(),
                            *network::DefaultNetworkConstants(), nullptr, serve::FactsOf(weights));
  for (const serve::StepKernel& kernel : serve::StepKernels(*model, {.tensor = 8}, {.weights = weights}).Layers(8192))
    if (kernel.kind == serve::KernelKind::kExpertRows) return prices.CostOf(kernel);
  ADD_FAILURE() << "no experts";
  return {};
}

// Hopper's matrix instructions take no scales: kernels for rows with scales of blocks come on top.
TEST(ServingKernels, RowsOfQuantisedExpertsTakeFurtherPasses) {
  const hardware::Device device = Preset("H100_80GB");
  EXPECT_GT(Rows("fp8", device).seconds, Rows("bf16", device).seconds);
  EXPECT_GT(Rows("fp8-block", device).seconds, Rows("fp8", device).seconds);
  EXPECT_EQ(Rows("int4", device).seconds, Rows("bf16", device).seconds);  // weights alone are narrow
}

}  // namespace
}  // namespace hespas::driver
