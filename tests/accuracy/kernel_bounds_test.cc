// Every kernel of real programs lies between two bounds: never faster than its arithmetic at the device's peak, never
// slower than 30 times its roofline but for what its terms say.
#include <gmock/gmock.h>

#include <string>

#include "estimate/arithmetic.h"
#include "estimate/calibrated/calibrated.h"
#include "estimate/composite.h"
#include "estimate/roofline/roofline.h"
#include "hardware/presets.h"
#include "ir/walk.h"
#include "read/read.h"

namespace hespas::estimate {
namespace {

constexpr double kSlack = 1e-12;  // estimates are whole picoseconds

// Launches, of kernels that wait for each other too, are no part of a roofline.
double WithoutLaunch(const graph::Estimate& estimate) {
  double seconds = estimate.time.seconds();
  for (const graph::Term& term : estimate.terms) {
    if (term.name == "launch") seconds -= term.time.seconds();
  }
  return seconds;
}

class KernelBounds : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    Diagnostics diagnostics;
    auto read = read::ReadProgram(std::string(HESPAS_SOURCE_DIR "/") + GetParam(), {}, diagnostics);
    ASSERT_TRUE(read.ok());
    module_ = *std::move(read);
    ir::WalkNested(module_, module_.main(), [&](ir::OpId op) {
      if (!IsCompositeOp(module_, op) && module_.kind(op) != ir::OpKind::kFunc) kernels_.push_back(op);
    });
    ASSERT_GT(kernels_.size(), 20U);
  }

  void Check(const std::string& name) const {
    Diagnostics diagnostics;
    const auto device = *hardware::LoadDevice(name, diagnostics);
    const auto machine = calibrated::MakeMachine(device);
    const calibrated::Calibrated model(device, *calibrated::DefaultParameters());
    const Roofline roofline(device);
    // A GPU's file with one rate for all types (the studies MI300X3D: 2,600 TFLOP/s) gives f32 16 times what MI300X
    // has. Such a roofline is out of reach: operands come through L2 at most at 61 bytes a clock and multiprocessor.
    const bool bounded_above = !device.per_datatype_flops.empty() || device.family != "gpu";
    for (const ir::OpId op : kernels_) {
      Notes notes;
      const graph::Estimate estimate = model.EstimateOp(module_, op, notes);
      const double bound = roofline.EstimateOp(module_, op, notes).time.seconds();
      EXPECT_GE(estimate.time.seconds() + kSlack, SecondsOn(machine, ArithmeticOf(module_, op))) << name << Text(op);
      if (!bounded_above) continue;
      EXPECT_LE(WithoutLaunch(estimate), 30 * bound + kLeast) << name << Text(op);
    }
  }

  std::string Text(ir::OpId op) const {
    return " " + std::string(module_.name(op)) + " #" + std::to_string(op.index());
  }

  static constexpr double kLeast = 5e-6;  // waves, tiles and pipelines of the smallest kernels

  ir::Module module_;
  std::vector<ir::OpId> kernels_;
};

TEST_P(KernelBounds, HoldOnEveryDevice) {
  for (const std::string& name : hardware::PresetNames(hardware::PresetKind::kDevice)) {
    Check(name);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, KernelBounds,
                         testing::Values("tests/data/twins/gptoss.A100_SXM_40GB.hlo.gz",
                                         "tests/data/twins/mixtral.A100_SXM_40GB.hlo.gz",
                                         "data/workloads/llama3-100m-4dev-opt.mlir.zst",
                                         "data/workloads/resnet18_train_step_4_devices_1024_batch-opt.mlir.zst",
                                         "data/workloads/llama3-1b-8dev.mlir.zst"));

}  // namespace
}  // namespace hespas::estimate
