// Links: driver
// Whole runs of any program, without a network: an answer or an error, and no utilisation above 100 % on any device.
#include <memory>
#include <string>

#include "driver/pipeline/run.h"

namespace hespas {
namespace {

constexpr const char* kDevices[] = {"A100_SXM_40GB", "H100_80GB", "MI300X", "TPUv5e", "P4_8GB", "EPYC_core"};
constexpr double kRounding = 1e-9;
constexpr double kPicosecond = 1e-12;

bool IsAtMostAWhole(double utilisation, const result::RunResult& result) {
  const double step = result.step_time.seconds();
  // Each kernel's time is whole picoseconds.
  const double slack = kRounding * step + kPicosecond * static_cast<double>(result.blocks.total);
  return utilisation >= 0 && utilisation * step <= step + slack;
}

bool IsHonest(const result::RunResult& result) {
  return IsAtMostAWhole(result.flops_utilisation, result) &&
         IsAtMostAWhole(result.memory_bandwidth_utilisation, result) &&
         IsAtMostAWhole(result.hardware_flops_utilisation, result) &&
         result.model_flops_utilisation.value_or(0) <= result.hardware_flops_utilisation * (1 + kRounding);
}

int RunOnDevices(const uint8_t* data, size_t size) {
  const auto content = std::make_shared<const std::string>(reinterpret_cast<const char*>(data), size);
  for (const char* device : kDevices) {
    driver::RunOptions options;
    options.program = {.path = "program", .content = content, .assumptions = {}, .bind = {}, .partition = false};
    options.device.name = device;
    options.network.backend = driver::NetworkBackend::kNone;
    Diagnostics diagnostics;
    const auto result = driver::Run(options, diagnostics);
    if (result.has_value() == diagnostics.has_errors() || (result && !IsHonest(*result))) __builtin_trap();
  }
  return 0;
}

}  // namespace
}  // namespace hespas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return hespas::RunOnDevices(data, size); }
