// XLA's own programs are read for what they are: no kernel is costed far beyond its roofline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "../read_program.h"
#include "driver/inspect/kernel_summary.h"
#include "estimate/registry.h"
#include "hardware/presets.h"
#include "read/read.h"

namespace hespas {
namespace {

namespace fs = std::filesystem;

constexpr double kMost = 30;             // times the roofline
constexpr double kLaunchSeconds = 4e-6;  // a kernel's launch and its first wave of thread blocks, whatever it does
constexpr const char* kEnding = ".hlo.zst";

std::vector<fs::path> Twins() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(HESPAS_SOURCE_DIR "/data/xla-twins")) {
    if (entry.path().string().ends_with(kEnding)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// NAME.DEVICE.hlo.zst
std::string DeviceOf(const fs::path& file) { return file.stem().stem().extension().string().substr(1); }

TEST(Roofline, NoKernelOfXlaTakesThirtyTimesAsLong) {
  const std::vector<fs::path> twins = Twins();
  ASSERT_GE(twins.size(), 49u);
  for (const fs::path& file : twins) {
    Diagnostics diagnostics;
    const auto module = read::ReadProgram(file.string(), {}, diagnostics);
    const auto device = hardware::LoadDevice(DeviceOf(file), diagnostics);
    ASSERT_TRUE(module && device) << file;
    const auto calibrated = estimate::MakeEstimator("calibrated", *device, {});
    const auto roofline = estimate::MakeEstimator("roofline", *device, {});
    ASSERT_TRUE(calibrated && roofline);
    estimate::Notes notes;
    for (const driver::KernelSummary& kernel : driver::Summarise(*module).kernels) {
      const double time = (*calibrated)->EstimateOp(*module, kernel.op, notes).time.seconds();
      const double bound = (*roofline)->EstimateOp(*module, kernel.op, notes).time.seconds();
      EXPECT_LE(time, kMost * bound + kLaunchSeconds) << file.filename() << " op " << kernel.op.index() << " "
                                                      << module->name(kernel.op) << ", " << kernel.bytes << " bytes";
    }
  }
}

}  // namespace
}  // namespace hespas
