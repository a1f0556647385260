// XLA's own programs are read for what they are, and ours are no worse: no kernel is costed far beyond its roofline.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "driver/stages/optimise.h"
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

// Dumps of LLaMA, Mixtral and GPT-OSS with autotuning, of a TPU's compiler, and the prototype's programs.
TEST(Roofline, NoKernelOfADumpTakesThirtyTimesAsLong) {
  const std::pair<const char*, const char*> dumps[] = {
      {"tests/data/optimise/llama3-100m-4dev.gpu_a100_sxm_40.hlo.gz", "A100_SXM_40GB"},
      {"tests/data/optimise/llama3-100m-8dev.tpuv3.hlo.gz", "TPUv3"},
      {"tests/data/twins/mixtral.A100_SXM_40GB.hlo.gz", "A100_SXM_40GB"},
      {"tests/data/twins/gptoss.A100_SXM_40GB.hlo.gz", "A100_SXM_40GB"},
      {"data/workloads/llama3-100m-4dev-opt.mlir.zst", "A100_SXM_40GB"},
      {"data/workloads/llama3-500m-4dev-opt.mlir.zst", "H100_80GB"},
  };
  for (const auto& [file, device] : dumps) {
    ExpectNearRoofline(ReadFile(fs::path(HESPAS_SOURCE_DIR) / file), device, file);
  }
}

// Matmuls as cuBLAS calls and as Triton kernels, on both of the twins' devices.
TEST(Roofline, NoKernelOfOursTakesThirtyTimesAsLong) {
  const std::vector<fs::path> programs = Files(".mlir.zst");
  ASSERT_GE(programs.size(), 33u);
  Diagnostics diagnostics;
  for (const char* name : {"A100_SXM_40GB", "H100_80GB"}) {
    const auto device = hardware::LoadDevice(name, diagnostics);
    ASSERT_TRUE(device);
    for (const std::vector<std::string>& flags : {std::vector<std::string>{}, {"--xla_gpu_autotune_level=0"}}) {
      for (const fs::path& file : programs) {
        const driver::OptimiseOptions options{.mode = driver::OptimiseMode::kXlaGpu, .xla_flags = flags};
        ir::Module module = ReadFile(file);
        const auto optimised = driver::OptimiseModule(module, options, *device, diagnostics);
        ASSERT_TRUE(optimised) << file;
        ExpectNearRoofline(*optimised, name, file.filename());
      }
    }
  }
}

}  // namespace
}  // namespace hespas
