// XLA's own programs are read for what they are, and ours are no worse: no kernel is costed far beyond its roofline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "estimate/registry.h"
#include "hardware/presets.h"
#include "programs.h"
#include "read/read.h"

namespace hespas {
namespace {

namespace fs = std::filesystem;

constexpr double kMost = 30;             // times the roofline
constexpr double kLaunchSeconds = 4e-6;  // a kernel's launch and its first wave of thread blocks, whatever it does

std::vector<fs::path> Files(const char* ending) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(HESPAS_SOURCE_DIR "/data/xla-twins")) {
    if (entry.path().string().ends_with(ending)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// NAME.DEVICE.hlo.zst
std::string DeviceOf(const fs::path& file) { return file.stem().stem().extension().string().substr(1); }

void ExpectNearRoofline(const ir::Module& module, const std::string& device_name, const std::string& file) {
  Diagnostics diagnostics;
  const auto device = hardware::LoadDevice(device_name, diagnostics);
  ASSERT_TRUE(device) << file;
  const auto calibrated = estimate::MakeEstimator("calibrated", *device, {});
  const auto roofline = estimate::MakeEstimator("roofline", *device, {});
  ASSERT_TRUE(calibrated && roofline);
  estimate::Notes notes;
  for (const driver::KernelSummary& kernel : driver::Summarise(module).kernels) {
    const double time = (*calibrated)->EstimateOp(module, kernel.op, notes).time.seconds();
    const double bound = (*roofline)->EstimateOp(module, kernel.op, notes).time.seconds();
    EXPECT_LE(time, kMost * bound + kLaunchSeconds)
        << file << " op " << kernel.op.index() << " " << module.name(kernel.op) << ", " << kernel.bytes << " bytes";
  }
}

ir::Module ReadFile(const fs::path& file) {
  Diagnostics diagnostics;
  auto module = read::ReadProgram(file.string(), {}, diagnostics);
  if (!module) ADD_FAILURE() << file;
  return module ? std::move(*module) : ir::Module();
}

TEST(Roofline, NoKernelOfXlaTakesThirtyTimesAsLong) {
  const std::vector<fs::path> twins = Files(".hlo.zst");
  ASSERT_GE(twins.size(), 49u);
  for (const fs::path& file : twins) ExpectNearRoofline(ReadFile(file), DeviceOf(file), file.filename());
}

TEST(Roofline, NoKernelOfOursTakesThirtyTimesAsLong) {
  const std::vector<fs::path> programs = Files(".mlir.zst");
  ASSERT_GE(programs.size(), 33u);
  for (const fs::path& file : programs) {
    ExpectNearRoofline(Optimised(ReadFile(file)), "A100_SXM_40GB", file.filename());
  }
}

}  // namespace
}  // namespace hespas
